// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/program.h"
#include "lang/ast.h"
#include "lang/base/diagnostic.h"
#include "lang/use.h"

namespace gexp::compiler {

/// A program with the graph of what is computed from what. Passes rewrite both together.
struct Ir {
  Program program;
  ir::Graph graph;
  bool points_given = false;  ///< parameters were set, or the file was measured: points that it lacks are no mistake of its author
};

/// `--set N=V` texts by name, values already parsed as expressions of the language.
using Settings = std::map<std::string, lang::ExprPtr>;

/// Checked tree to IR. Requires a file for which `check` found no error; reports settings of
/// unknown parameters or of another type (E0409) and values outside their domain (E0414). `details`: the graph's nodes have
/// text for a reader.
Ir lower(const lang::File& file, const Source& source, const lang::Uses& uses, const Settings& settings, Diagnostics& diagnostics,
         bool details);

/// The params, lets, patterns and requires alone. A setting of `limit` is the one of `prefix` + "limit".
Program lower_values(const lang::File& file, const Source& source, const lang::Uses& uses, const Settings& settings, const std::string& prefix,
                     Diagnostics& diagnostics);

/// What a used file offers, evaluated in a scope of its own, and its parameters. Requires a file without mistakes; divisions by
/// zero, domains and preconditions (E04xx) are shown in it.
struct UsedValues {
  Fields values;
  std::vector<Parameter> parameters;
};
UsedValues evaluate_used(const lang::Used& used, const Settings& settings, const std::string& prefix, Diagnostics& diagnostics);

/// One expression to a formula; `element_bytes` is what `1elem` means (0: the file has no single element size).
FormulaPtr lower_expression(const lang::Expr& expression, int element_bytes);

}  // namespace gexp::compiler
