// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "compiler/program.h"
#include "runtime/result.h"

namespace gexp::report {

/// A result for a person at a terminal: the device (SIMULATED where it is), every finding with its confidence and support,
/// the expectations, how the run ended.
std::string text(const compiler::Program& program, const runtime::RunResult& result, bool colour);

}  // namespace gexp::report
