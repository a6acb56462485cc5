// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program.h"
#include "lang/base/diagnostic.h"

namespace gexp::compiler {

struct Options {
  /// `--set NAME=VALUE`: the value in the language's own form ("64KiB").
  std::vector<std::pair<std::string, std::string>> settings;
  /// Name of a pass after which to stop for `emit --ir --dump-after`; empty: all.
  std::string dump_after;
};

/// Text to program: parse, check, lower, passes. Nothing when there are errors; warnings may come with a program.
std::optional<Program> compile(const Source& source, const Options& options, Diagnostics& diagnostics);

}  // namespace gexp::compiler
