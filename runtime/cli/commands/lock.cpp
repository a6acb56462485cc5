// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "lang/base/sha256.h"
#include "lang/parse.h"
#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cli/output.h"
#include "runtime/cli/use.h"

// `gexp lock`: the hash of every file that a spec uses, written into its `use` statements. Nothing else of it changes.
namespace gexp::cli {
namespace {

struct Edit {
  Span span;  ///< what is replaced; empty: inserted before span.begin
  std::string text;
};

/// What is to change, in the order of the text; mistakes are diagnostics.
std::vector<Edit> edits(const lang::File& file, const Source& source, Diagnostics& diagnostics) {
  std::vector<Edit> all;
  for (const auto& statement : file.statements) {
    const auto* use = std::get_if<lang::Use>(&statement.node);
    if (!use) continue;
    if (auto why = lang::refused_path(use->path.text)) {
      diagnostics.error("E0120", use->path.span, fmt::format("`{}` cannot be used: {}", use->path.text, *why));
      continue;
    }
    auto found = load_used(use->path.text, source.path());
    if (!found) {
      auto problem = found.error();
      problem.span = use->path.span;
      diagnostics.add(std::move(problem));
      continue;
    }
    const auto hash = sha256_hex(found->text);
    if (!use->sha256.span.empty() && use->sha256.text == hash) continue;
    const auto clause = fmt::format("sha256 \"{}\"", hash);
    if (use->sha256.span.empty()) all.push_back({{use->as.span.end, use->as.span.end}, " " + clause});
    else all.push_back({use->sha256.span, clause});
  }
  return all;
}

std::string applied(std::string text, const std::vector<Edit>& all) {
  for (auto edit = all.rbegin(); edit != all.rend(); ++edit) text.replace(edit->span.begin, edit->span.end - edit->span.begin, edit->text);
  return text;
}

/// A link stays a link, and the file keeps its permissions.
Result<> rewrite(const std::string& path, const std::string& text) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto real = fs::canonical(path, error);
  if (error) return failure("E0710", fmt::format("cannot write {}: {}", path, error.message()));
  const auto permissions = fs::status(real, error).permissions();
  auto written = write_file(real.string(), text);
  if (written && !error) fs::permissions(real, permissions, error);
  return written;
}

int lock_file(const std::string& path, bool check) {
  auto text = read_file(path);
  if (!text) {
    print(text.error(), nullptr);
    return kSpec;
  }
  const Source source(path, std::move(*text));
  Diagnostics diagnostics;
  const auto file = lang::parse(source, diagnostics);
  std::vector<Edit> all;
  if (!diagnostics.has_errors()) all = edits(file, source, diagnostics);
  for (const auto& diagnostic : diagnostics.sorted()) print(diagnostic, &source);
  if (diagnostics.has_errors()) return kSpec;
  if (all.empty()) {
    print_out("{}: locked\n", path);
    return kDone;
  }
  if (check) {
    print_out("{}: {} of its `use` statements {} not hold the hash of the file; `gexp lock {}` writes it\n", path, all.size(), all.size() == 1 ? "does" : "do", path);
    return kNotHeld;
  }
  if (auto written = rewrite(path, applied(source.text(), all)); !written) {
    print(written.error(), nullptr);
    return kEnvironment;
  }
  print_out("{}: {} hash{} written\n", path, all.size(), all.size() == 1 ? "" : "es");
  return kDone;
}

int lock_files(const std::vector<std::string>& files, bool check) {
  int exit = kDone;
  for (const auto& file : files) exit = std::max(exit, lock_file(file, check));
  return exit;
}

class Lock final : public Command {
 public:
  void declare(Options& options) override {
    options.add("files", &files_, "the .gexp files").must_be_given().offers(Offers::Files);
    options.add("--check", &check_only_, "change nothing; exit 1 when one is missing or another");
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return check_only_ ? std::vector<std::string>{} : files_; }
  int run() override { return lock_files(files_, check_only_); }

 private:
  std::vector<std::string> files_;
  bool check_only_ = false;
};

}  // namespace

std::unique_ptr<Command> new_lock() { return std::make_unique<Lock>(); }

}  // namespace gexp::cli
