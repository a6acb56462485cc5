// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/again.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/plan/plan.h"
#include "lang/base/budget.h"
#include "runtime/measure/device_pool.h"
#include "runtime/result/point_table.h"

namespace gexp::measure {

Result<> measure_again(const compiler::Program& program, device::Backend& backend, Kernels& kernels,
                       const result::StageResult& stage, const records::Point& point, double launch_limit,
                       const std::function<void(const device::Backend&)>& look) {
  const auto planned =
      std::find_if(program.stages.begin(), program.stages.end(), [&](const auto& s) { return s.name == stage.name; });
  GEXP_CHECK(planned != program.stages.end() && !planned->leader);
  const auto scope = result::scope_of(program, stage);
  if (!scope) return scope.error();
  compiler::Coordinates at;
  for (const auto& column : stage.table.columns) at.emplace_back(column, point.at.at(column));
  bool skipped = false;
  const auto plan = compiler::plan_point(program, *planned, at, *scope, skipped);
  if (!plan) return plan.error();
  const auto device = backend.another(batch_number(*planned, at, 0));
  GEXP_CHECK(device);
  const GiveUp give_up = [] { return !Budget::go_on(); };
  PointRunner bench(program, *scope, *device, kernels, give_up);
  records::Point again;
  again.beside.resize(plan->beside.size());
  if (auto done = bench.repeat(*plan, again, [&] { return launch_limit; }); !done) return done;
  if (!again.outcome.done()) return failure("E0803", fmt::format("the launch did not end well: {}", again.outcome.what));
  if (planned->keep == compiler::Keep::Raw && !point.runs.empty() && !again.runs.empty() &&
      point.runs.front().ticks != again.runs.front().ticks)
    return failure("E0803", "the launch did something else than in the run");
  look(*device);
  return Ok{};
}

}  // namespace gexp::measure
