// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/program.h"
#include "runtime/result/result.h"

namespace gexp::report {

/// A result for a person at a terminal: the device (SIMULATED where it is), every finding with its confidence and support,
/// the expectations, how the run ended.
std::string text(const compiler::Program& program, const result::RunResult& result, bool colour);

/// The device that a result is of, on a line; in colour SIMULATED where it is.
std::string device_line(const result::RunResult& result, bool colour);

/// A line a finding, then what was not held.
std::string brief(const compiler::Program& program, const result::RunResult& result, bool colour);

/// Where the time of runs went, a line a stage. `seconds`: of all of it.
std::string time_table(const std::vector<const result::RunResult*>& results, double seconds);

}  // namespace gexp::report
