// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/base/budget.h"
#include "compiler/program.h"
#include "lang/base/diagnostic.h"
#include "lang/kernel_file.h"
#include "lang/use.h"

namespace gexp::compiler {

struct Options {
  /// `--set NAME=VALUE`: the value in the language's own form ("64KiB"). `m.NAME` is a parameter of a used file.
  std::vector<std::pair<std::string, std::string>> settings;
  /// Name of the pass after which the program's `ir` and `dot` are taken, one of pass_names(); empty: they are not.
  std::string dump_after = {};
  /// Names of the models that `expect … on` may name; none: whatever it names is taken.
  std::vector<std::string> models = {};
  /// The text is of a result: it has been measured as it is, and is not refused for points that it lacks.
  bool measured = false;
  /// Finds what `use` names; none: no file is found.
  lang::Loader load = nullptr;
  /// Which files of kernels may lie outside the file's folder; none: no file.
  lang::Outside outside = nullptr;
  /// What the compile may cost; E0444 says that it was too little.
  std::int64_t budget = kCompileUnits;
};

/// Text to program: parse, read what it uses, check, lower, passes. Nothing when there are errors; warnings may come with a program.
std::optional<Program> compile(const Source& source, const Options& options, Diagnostics& diagnostics);

/// The passes in their order: "depth", "order", …
std::vector<std::string_view> pass_names();

}  // namespace gexp::compiler
