// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/program.h"
#include "lang/ast.h"
#include "lang/base/diagnostic.h"

namespace gexp::compiler {

/// A program with the graph of what is computed from what. Passes rewrite both together.
struct Ir {
  Program program;
  ir::Graph graph;
};

/// `--set N=V` texts by name, values already parsed as expressions of the language.
using Settings = std::map<std::string, lang::ExprPtr>;

/// Checked tree to IR. Requires a file for which `check` found no error; reports what the language allows but nothing can run
/// yet (E0502), settings of unknown parameters (E0409) and values outside their domain (E0414).
Ir lower(const lang::File& file, const Source& source, const Settings& settings, Diagnostics& diagnostics);

/// One expression to a formula; `element_bytes` is what `1elem` means (0: the file has no single element size).
FormulaPtr lower_expression(const lang::Expr& expression, int element_bytes);

}  // namespace gexp::compiler
