// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/formula/formula_key.h"
#include "compiler/program.h"

namespace gexp::compiler::passes {

/// All that decides what a stage measures, as canonical text: its sweeps, skips, launch, bodies and repetitions, with
/// names resolved by `file` (parameters, lets, memories, findings). What only reads records is not in it: finds,
/// derives and lets that no measurement needs, expectations, plots, documentation.
std::string stage_text(const Stage& stage, const FormulaKeys::Meaning& file);

}  // namespace gexp::compiler::passes
