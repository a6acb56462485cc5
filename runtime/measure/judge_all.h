// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/program.h"
#include "runtime/result/result.h"

namespace gexp::measure {

/// Judges the expectations of a file and of its stages anew, by what was found.
void judge_all(const compiler::Program& program, const compiler::Names& scope, result::RunResult& result);

}  // namespace gexp::measure
