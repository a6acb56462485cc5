// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "compiler/program.h"
#include "runtime/infer/prepared_records.h"

namespace gexp::infer {

/// By point of a stage: whether the `where` of a question's data keeps it; nullopt where it asks for parts of a point's records. `scope`:
/// the names of the stage.
std::optional<std::vector<bool>> kept_points(const compiler::Question& question, const MeasuredStages::Measured& own,
                                             const compiler::Scope& scope);

}  // namespace gexp::infer
