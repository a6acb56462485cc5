// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compiler/program.h"
#include "runtime/infer/finding.h"
#include "runtime/infer/prepared_records.h"

namespace gexp::infer {

/// Holds the findings of a file against each other and against everything that it walked. What they do not predict becomes undetermined,
/// with the reason. `scope`: params, lets and what the stages found.
void reconcile(const compiler::Program& program, const MeasuredStages& measured, const compiler::Scope& scope, std::vector<Finding>& findings);

}  // namespace gexp::infer
