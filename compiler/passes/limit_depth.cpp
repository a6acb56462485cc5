// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/formula/thread_range.h"
#include "compiler/passes/passes.h"

namespace gexp::compiler::passes {
namespace {

constexpr std::size_t kMaxDepth = 1000;  // operations; the parser allows an expression as many

using Depths = std::map<std::string, std::size_t>;  // of names that stand for formulas

/// Operations on the longest way down, through the names that stand for formulas.
std::size_t depth_of(const Formula& formula, const Depths& named) {
  if (formula.kind == Formula::Kind::Name) {
    const auto found = named.find(formula.text);
    return found == named.end() ? 1 : found->second + 1;
  }
  std::size_t inner = 0;
  const auto look = [&](const FormulaPtr& part) {
    if (part) inner = std::max(inner, depth_of(*part, named));
  };
  for (const auto& operand : formula.operands) look(operand);
  for (const auto& argument : formula.arguments) look(argument.value), look(argument.over), look(argument.where);
  for (const auto& loop : formula.loops) look(loop.from), look(loop.to), look(loop.step);
  return inner + 1;
}

/// Whether the binding, which is worked out wherever its name is read, is not too deep; it is then among `named`.
bool takes(const Binding& binding, Depths& named, Diagnostics& diagnostics) {
  const auto depth = depth_of(*binding.formula, named);
  if (depth > kMaxDepth) {
    diagnostics.error("E0101", binding.formula->span, fmt::format("`{}` is more than {} operations deep, those of the names that it reads included", binding.name, kMaxDepth),
                      "a shorter chain of values, each made of the one before, tells as much");
    return false;
  }
  named[binding.name] = depth;
  return true;
}

}  // namespace

void limit_depth(Ir& ir, const Source&, Diagnostics& diagnostics) {
  ThreadLets file_lets;
  Depths file_depths;
  const auto by_thread = [&](const std::vector<Binding>& bindings, ThreadLets& lets, Depths& named) {
    return std::all_of(bindings.begin(), bindings.end(), [&](const Binding& binding) {
      if (!varies(*binding.formula, lets)) return true;
      lets.add(binding.name, binding.formula);
      return takes(binding, named, diagnostics);
    });
  };
  if (!by_thread(ir.program.lets, file_lets, file_depths)) return;
  for (const auto& stage : ir.program.stages) {
    auto lets = file_lets;
    auto named = file_depths;
    if (!by_thread(stage.bindings, lets, named)) return;
    Depths derived;
    if (!std::all_of(stage.derives.begin(), stage.derives.end(), [&](const Binding& derive) { return takes(derive, derived, diagnostics); })) return;
  }
}

}  // namespace gexp::compiler::passes
