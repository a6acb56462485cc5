// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/passes.h"
#include "compiler/plan/points.h"

namespace gexp::compiler::passes {

// What reads a finding or the device is counted when the device is chosen, or when the stage begins.
void limit_points(Ir& ir, const Source&, Diagnostics& diagnostics) {
  const auto scope = file_scope(ir.program);
  if (!scope) return;  // told by the next pass
  for (const auto& stage : ir.program.stages) {
    const auto count = count_points(stage, *scope);
    if (!count) continue;
    if (auto accepted = accept_points(stage, *count); !accepted) diagnostics.add(accepted.error());
  }
}

}  // namespace gexp::compiler::passes
