// SPDX-License-Identifier: Apache-2.0
#include "lang/format.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cli/output.h"

namespace gexp::cli {
namespace {

namespace fs = std::filesystem;

int print_formatted(bool check_only) {
  const Source source("-", std::string(std::istreambuf_iterator<char>(std::cin), {}));
  Diagnostics diagnostics;
  const auto text = lang::format(source, diagnostics);
  for (const auto& diagnostic : diagnostics.sorted()) print(diagnostic, &source);
  if (!text) return kSpec;
  if (!check_only) {
    write_out(*text);
    return kDone;
  }
  if (*text == source.text()) return kDone;
  print_out("{}\n", source.path());
  return kNotHeld;
}

int format_file(const std::string& path, bool check_only) {
  std::error_code error;
  const auto environment = [](const Diagnostic& problem) {
    print(problem, nullptr);
    return kEnvironment;
  };
  if (fs::exists(path, error) && !fs::is_regular_file(path, error) && !fs::is_directory(path, error)) {
    return environment(failure("E0711", fmt::format("{} is not a regular file", path), "`gexp fmt -` formats the standard input"));
  }
  auto read = read_spec_file(path);
  if (!read) return environment(read.error());
  const Source source(path, std::move(*read));
  Diagnostics diagnostics;
  const auto text = lang::format(source, diagnostics);
  for (const auto& diagnostic : diagnostics.sorted()) print(diagnostic, &source);
  if (!text) return kSpec;
  if (*text == source.text()) return kDone;
  if (!check_only) {
    if (access(path.c_str(), W_OK) != 0) return environment(failure("E0710", fmt::format("cannot write {}: it is read-only", path)));
    const auto target = fs::is_symlink(path, error) ? fs::canonical(path, error).string() : path;  // a link stays one
    if (auto written = write_file(target, *text); !written) return environment(written.error());
  }
  print_out("{}\n", path);
  return check_only ? kNotHeld : kDone;
}

// The exit code is the worst of the files'; codes go from good to bad.
int format(const std::vector<std::string>& files, bool check_only) {
  int exit = kDone;
  for (const auto& file : files) exit = std::max<int>(exit, file == "-" ? print_formatted(check_only) : format_file(file, check_only));
  return exit;
}

class Format final : public Command {
 public:
  void declare(Options& options) override {
    options.add("files", &files_, "the .gexp files; - formats the standard input").must_be_given().offers(Offers::Files);
    options.add("--check", &check_only_, "change nothing: name the files that would change, and exit with 1");
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return check_only_ ? std::vector<std::string>{} : files_; }
  int run() override { return format(files_, check_only_); }

 private:
  std::vector<std::string> files_;
  bool check_only_ = false;
};

}  // namespace

std::unique_ptr<Command> new_fmt() { return std::make_unique<Format>(); }

}  // namespace gexp::cli
