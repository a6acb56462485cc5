// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "compiler/plan.h"
#include "compiler/passes/passes.h"

namespace gexp::compiler::passes {

// Stages whose chases differ only in sweep values, or not at all, share a kernel: one compile, one instruction stream.
void collect_kernels(Ir& ir, const Source&, Diagnostics& diagnostics) {
  auto scope = file_scope(ir.program);
  if (!scope) {
    diagnostics.add(scope.error());
    return;
  }
  std::map<Shape, ir::NodeId> kernels;
  const auto nodes = ir.graph.size();
  for (ir::NodeId id = 0; id < nodes; ++id) {
    const auto node = ir.graph.node(id);
    if (node.kind != ir::NodeKind::Stage) continue;
    const auto& stage = ir.program.stages[node.index];
    auto shapes = stage_shapes(ir.program, stage, *scope);
    if (!shapes) {
      if (shapes.error().code == "E0502" || stage.after.empty()) diagnostics.add(shapes.error());
      continue;  // it reads a finding: known only when the stage runs
    }
    for (const auto& shape : *shapes) {
      const auto [kernel, fresh] = kernels.try_emplace(shape, 0);
      if (fresh) {
        std::string holes;
        for (const auto& [name, value] : shape.holes) {
          if (value.empty() || value.find('\n') != std::string::npos) continue;  // whole pieces of a body: `emit --cuda` shows them
          holes += fmt::format("{}{}={}", holes.empty() ? "" : " ", name, value);
        }
        kernel->second = ir.graph.add({ir::NodeKind::Kernel, shape.file, kernels.size() - 1, holes});
      }
      ir.graph.depends(kernel->second, id);
    }
  }
}

}  // namespace gexp::compiler::passes
