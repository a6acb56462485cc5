// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lang/base/budget.h"
#include "compiler/lower/lower_stage.h"
#include "compiler/passes/passes.h"
#include "compiler/plan/plan.h"

namespace gexp::compiler::passes {

namespace {

/// Whether a stage's values depend on facts of a device that is not chosen yet.
bool reads_device(const Program& program, const Stage& stage) {
  if (program.device.known()) return false;
  std::set<std::string> late{"device"};
  const auto is_late = [&](const FormulaPtr& formula) {
    const auto names = free_names(*formula);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return late.contains(name); });
  };
  for (const auto* bindings : {&program.lets, &stage.bindings}) {
    for (const auto& binding : *bindings) {
      if (is_late(binding.formula)) late.insert(binding.name);
    }
  }
  const auto formulas = stage_formulas(stage);
  const bool lengths = std::any_of(program.memories.begin(), program.memories.end(), [&](const Memory& memory) { return is_late(memory.length); });
  return lengths || std::any_of(formulas.begin(), formulas.end(), [&](const FormulaPtr* formula) { return is_late(*formula); });
}

}  // namespace

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
    const Budget::Work budget(kCompileUnits / 2);
    auto shapes = stage_shapes(ir.program, stage, *scope);
    if (Budget::Work::exhausted()) {  // whatever else it then says need not be true
      auto problem = Budget::exceeded(stage.span);
      diagnostics.warning(problem.code, problem.span, fmt::format("stage `{}` is too much work to be planned before it runs", stage.name),
                          "a mistake in its points is told when it runs; shorter patterns and fewer different kernels can be planned");
      continue;
    }
    if (!shapes) {
      // What reads a finding or the device is known only when the stage runs.
      if (stage.after.empty() && !reads_device(ir.program, stage)) diagnostics.add(shapes.error());
      continue;
    }
    for (const auto& shape : *shapes) {
      const auto [kernel, fresh] = kernels.try_emplace(shape, 0);
      if (fresh) {
        std::string holes;
        for (const auto& [name, value] : shape.holes) {
          if (value.empty() || value.find('\n') != std::string::npos) continue;  // whole pieces of a body: `emit --cuda` shows them
          holes += fmt::format("{}{}={}", holes.empty() ? "" : " ", name, value);
        }
        kernel->second = ir.graph.add({ir::NodeKind::Kernel, shape.file(), kernels.size() - 1, holes});
      }
      ir.graph.depends(kernel->second, id);
    }
  }
}

}  // namespace gexp::compiler::passes
