// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/lower/own_analyses.h"
#include "compiler/program.h"
#include "lang/ast.h"
#include "lang/base/diagnostic.h"

namespace gexp::compiler {

/// One checked stage. `scope`: params and lets of the file; `own`: its analyses. E0503: it times nothing; E0415: no number of repetitions.
Stage lower_stage(const lang::Stage& stage, Span span, const Source& source, int element_bytes, const Scope& scope, const OwnAnalyses& own, Diagnostics& diagnostics);

Expectation lower_expect(const lang::Expect& expect, Span span, const Source& source, int element_bytes);

/// Every formula that a stage needs values for before it can run.
std::vector<const FormulaPtr*> stage_formulas(const Stage& stage);
/// Adds the calls of `unique` in a formula.
void find_unique(const Formula& formula, std::vector<const Formula*>& found);
/// "sweep n; warm 1 chase; timed lat each" for a reader of the IR.
std::string stage_summary(const Stage& stage);

}  // namespace gexp::compiler
