// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "lang/base/sha256.h"
#include "lang/kernel_file.h"
#include "lang/parse.h"
#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cli/output.h"
#include "runtime/cli/shared_options.h"
#include "runtime/cli/use.h"

// `gexp lock`: the hash of every file that a spec uses or launches, written into the statements that name it. Nothing else of it changes.
namespace gexp::cli {
namespace {

struct Edit {
  Span span;  ///< what is replaced; empty: inserted before span.begin
  std::string text;
};

/// A statement that names a file.
struct Named {
  const lang::Word& path;
  const lang::Word& sha256;  ///< empty: its clause is to stand at `missing_at`
  std::uint32_t missing_at;
  std::optional<std::string> refused;  ///< why its path is none
};

/// The change that gives a statement the hash of its file; a mistake is a diagnostic.
void add_edit(const Named& named, const Source& source, Diagnostics& diagnostics, std::vector<Edit>& all) {
  if (named.refused) {
    diagnostics.error("E0120", named.path.span, fmt::format("`{}` cannot be used: {}", named.path.text, *named.refused));
    return;
  }
  auto found = load_used(named.path.text, source.path());
  if (!found) {
    auto problem = found.error();
    problem.span = named.path.span;
    diagnostics.add(std::move(problem));
    return;
  }
  const auto hash = sha256_hex(found->text);
  const bool missing = named.sha256.span.empty();
  if (!missing && named.sha256.text == hash) return;
  const auto clause = fmt::format("sha256 \"{}\"", hash);
  all.push_back({missing ? Span{named.missing_at, named.missing_at} : named.sha256.span, (missing ? " " : "") + clause});
}

/// What is to change, in the order of the text; mistakes are diagnostics.
std::vector<Edit> edits(const lang::File& file, const Source& source, Diagnostics& diagnostics) {
  std::vector<Edit> all;
  for (const auto& statement : file.statements) {
    const auto* use = std::get_if<lang::Use>(&statement.node);
    if (use) add_edit({use->path, use->sha256, use->as.span.end, lang::refused_use(use->path.text)}, source, diagnostics, all);
  }
  lang::for_each_kernel(file, [&](const lang::Op& op) {
    const auto& kernel = op.kernel;
    auto refused = lang::refused_kernel_path(kernel.path.text, source.path(), kernel_allowed);
    add_edit({kernel.path, kernel.sha256, kernel.path.span.end, std::move(refused)}, source, diagnostics, all);
  });
  std::sort(all.begin(), all.end(), [](const Edit& a, const Edit& b) { return a.span.begin < b.span.begin; });
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
    print_out("{}: {} of its statements {} not hold the hash of the file; `gexp lock {}` writes it\n", path, all.size(),
              all.size() == 1 ? "does" : "do", path);
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
    add_allow(options, allow_);
    options.add("--check", &check_only_, "change nothing; exit 1 when one is missing or another");
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return check_only_ ? std::vector<std::string>{} : files_; }
  int run() override {
    allow_kernels(allow_);
    return lock_files(files_, check_only_);
  }

 private:
  std::vector<std::string> files_, allow_;
  bool check_only_ = false;
};

}  // namespace

std::unique_ptr<Command> new_lock() { return std::make_unique<Lock>(); }

}  // namespace gexp::cli
