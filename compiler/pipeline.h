// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compile_budget.h"
#include "compiler/program.h"
#include "lang/base/diagnostic.h"
#include "lang/use.h"

namespace gexp::compiler {

struct Options {
  /// `--set NAME=VALUE`: the value in the language's own form ("64KiB"). `m.NAME` is a parameter of a used file.
  std::vector<std::pair<std::string, std::string>> settings;
  /// Name of a pass after which to stop for `emit --ir --dump-after`; empty: all.
  std::string dump_after;
  /// Finds what `use` names; none: no file is found.
  lang::Loader load = nullptr;
  /// What the compile may cost; E0444 says that it was too little.
  std::int64_t budget = kCompileUnits;
};

/// Text to program: parse, read what it uses, check, lower, passes. Nothing when there are errors; warnings may come with a program.
std::optional<Program> compile(const Source& source, const Options& options, Diagnostics& diagnostics);

}  // namespace gexp::compiler
