// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/passes.h"
#include "lang/base/result.h"

namespace gexp::compiler::passes {

// A stage can only read findings of stages above it in the file (the checker says so to the user), so the file's order is
// one in which they can run, and the graph cannot have a cycle: both are checked here, since later passes rely on them.
void order_stages(Ir& ir, const Source&, Diagnostics&) {
  GEXP_CHECK(ir.graph.size() == 0 || !ir.graph.order().empty());
  for (ir::NodeId id = 0; id < ir.graph.size(); ++id) {
    const auto& node = ir.graph.node(id);
    if (node.kind != ir::NodeKind::Stage) continue;
    auto& stage = ir.program.stages[node.index];
    for (const auto input : ir.graph.inputs(id)) {
      const auto& from = ir.graph.node(input);
      if (from.kind != ir::NodeKind::Stage) continue;
      GEXP_CHECK(from.index < node.index);
      stage.after.push_back(from.index);
    }
  }
}

}  // namespace gexp::compiler::passes
