// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/ops.h"
#include "compiler/plan/points.h"
#include "runtime/measure/file_kernel.h"

// A kernel that does not compile, or is given the wrong arguments, is a mistake of the file. It is told before other stages are measured.
namespace gexp::measure {
namespace {

constexpr int kMostTried = 1000;  // points that are skipped

std::optional<Diagnostic> check_kernel(const compiler::Shape& shape, const compiler::KernelPlan& plan, Kernels& kernels,
                                       const GiveUp& give_up) {
  if (!shape.of_file()) return std::nullopt;
  const auto kernel = kernels.get(shape, give_up);
  if (!*kernel) return give_up() ? std::nullopt : std::optional(kernel->error());  // a run that is over says so itself
  const auto& parameters = (*kernel)->parameters;
  if (auto problem = misfit(plan, parameters, shape)) return problem;
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    if (plan.arguments[i].kind != compiler::ArgumentKind::Value) continue;
    if (auto value = value_argument(plan.arguments[i], parameters[i]); !value) return value.error();
  }
  return std::nullopt;
}

bool launches_files(const compiler::Stage& stage) {
  bool any = false;
  compiler::for_each_op(stage, [&](const compiler::Op& op) { any = any || op.kernel; });
  return any;
}

}  // namespace

std::optional<Diagnostic> check_file_kernels(const compiler::Program& program, const compiler::Scope& scope, Kernels& kernels,
                                             const GiveUp& give_up) {
  std::optional<Diagnostic> problem;
  for (const auto& stage : program.stages) {
    if (!stage.after.empty() || !launches_files(stage) || problem) continue;
    int tried = 0;
    (void)compiler::each_point(stage, scope, [&](const compiler::Names& names) {
      compiler::Coordinates at;
      for (const auto& sweep : stage.sweeps) {
        for (const auto& name : sweep.names) at.emplace_back(name, *names.lookup(name));
      }
      if (++tried > kMostTried) return false;
      bool skipped = false;
      const auto plan = compiler::plan_point(program, stage, at, scope, skipped);
      if (skipped) return true;
      if (!plan) return false;  // told when it is measured
      for (const auto& before : plan->before) problem = problem ? problem : check_kernel(before.shape, before.kernel, kernels, give_up);
      problem = problem ? problem : check_kernel(plan->shape, plan->kernel, kernels, give_up);
      return false;
    });
  }
  return problem;
}

}  // namespace gexp::measure
