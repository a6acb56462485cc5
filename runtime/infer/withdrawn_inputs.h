// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>

#include "compiler/program.h"
#include "runtime/infer/finding.h"

/// Findings that go with what they rest on.
namespace gexp::infer {

/// Withdraws what was read off at a place that a finding named, where that finding was `found_before` and is not any more: what stands
/// there is not what the file asked for. Other analyses have evidence of their own.
void check_readings(const compiler::Program& program, const std::set<std::string>& found_before, Findings& findings);

}  // namespace gexp::infer
