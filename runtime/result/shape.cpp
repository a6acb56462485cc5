// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gexp::result {
namespace {

std::vector<std::string> sweep_names(const compiler::Stage& stage) {
  std::vector<std::string> names;
  for (const auto& sweep : stage.sweeps) names.insert(names.end(), sweep.names.begin(), sweep.names.end());
  return names;
}

records::Table::Timing timing_of(const compiler::Stage& stage) {
  using To = records::Table::Timing;
  return stage.timing == compiler::Timing::Each ? To::Each : stage.timing == compiler::Timing::Total ? To::Total : stage.timing == compiler::Timing::Values ? To::Values : To::Wall;
}

}  // namespace

Result<> check_shape(const compiler::Program& program, const RunResult& result, const std::string& path) {
  const auto damaged = [&](const std::string& what) { return failure("E0904", fmt::format("{} is damaged: {}", path, what)); };
  if (result.experiment != program.experiment) return damaged(fmt::format("it is called `{}`, and its spec `{}`", result.experiment, program.experiment));
  std::set<std::string> seen;
  for (const auto& measured : result.stages) {
    if (!seen.insert(measured.name).second) return damaged(fmt::format("it has two stages `{}`", measured.name));
    const auto stage = std::find_if(program.stages.begin(), program.stages.end(), [&](const auto& each) { return each.name == measured.name; });
    if (stage == program.stages.end()) return damaged(fmt::format("its spec has no stage `{}`", measured.name));
    const auto& table = measured.table;
    if (table.points.empty()) continue;  // a stage that was not reached has neither
    if (table.columns != sweep_names(*stage)) return damaged(fmt::format("stage `{}` has other sweeps than its spec", measured.name));
    if (table.timed != stage->timed_name || table.timing != timing_of(*stage)) return damaged(fmt::format("stage `{}` has another record than its spec", measured.name));
  }
  return Ok{};
}

}  // namespace gexp::result
