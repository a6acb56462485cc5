// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/kept.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/formula/formula_key.h"
#include "compiler/plan/plan.h"
#include "lang/base/sha256.h"
#include "runtime/device/facts.h"
#include "runtime/measure/answers.h"

namespace gexp::measure {
namespace {

std::string inputs_key(const compiler::Program& program, const compiler::Stage& stage, const compiler::Scope& scope) {
  Sha256 all;
  for (const auto& read : stage.reads) {
    const auto& from = program.stages[read.stage].name;
    const auto* value = read.finding.empty() ? scope.lookup(from) : answer_in(scope, from, read.finding);
    all.add_field(compiler::value_key(value ? *value : Value()));
  }
  return all.hex();
}

/// The device itself, not the number that it has today. Of a simulated one, its model is all there is.
std::string device_key(const device::DeviceInfo& device) {
  Sha256 all;
  all.add_field(device.kind).add_field(device.name).add_field(device.model_sha256);
  all.add_field(device.uuid.empty() && device.model_sha256.empty() ? device.id : device.uuid).add_field(device.driver);
  all.add_field(fmt::format("{} {} {} {}", device.sm_clock_hz, device.memory_clock_hz, device.ecc, device.mig));
  all.add_field(compiler::value_key(device::device_facts(device)));
  return all.hex();
}

}  // namespace

StageKey stage_key(const compiler::Program& program, const compiler::Stage& stage, const compiler::Scope& scope,
                   const result::RunResult& head, const std::string& toolchain) {
  Sha256 made_by;
  made_by.add_field(head.gexp_version).add_field(head.nvrtc).add_field(toolchain);
  return {stage.key, inputs_key(program, stage, scope), std::to_string(head.seed), device_key(head.device),
          made_by.hex()};
}

bool is_whole(const result::StageResult& stage, bool simulated, bool others) {
  if (stage.status != result::StageResult::Status::Done) return false;
  // A model has always the same memory free, and its clocks stand still.
  if (!simulated && (others || stage.no_room > 0 || !stage.clocks.empty())) return false;
  return std::all_of(stage.table.points.begin(), stage.table.points.end(),
                     [](const records::Point& point) { return point.outcome.done() && !point.runs.empty(); });
}

Result<> restore_points(const compiler::Program& program, const compiler::Stage& stage, const compiler::Scope& scope,
                        records::Table& table) {
  for (auto& point : table.points) {
    compiler::Coordinates at;
    for (const auto& column : table.columns) at.emplace_back(column, point.at.at(column));
    bool skipped = false;
    auto plan = compiler::plan_point(program, stage, at, scope, skipped);
    if (!plan) return plan.error();
    if (stage.keep == compiler::Keep::Raw) point.walk = plan->timed;
    point.warm_walk = plan->warm;
    point.warm_steps = plan->warm_steps;
    point.steps = plan->steps;
    point.moved = compiler::moved_bytes(*plan);
    for (const auto& [name, value] : plan->lets) point.at.try_emplace(name, value);
    // A tick is of a step: the records of a stranger's file may hold more than its spec measures.
    const bool traced = plan->timed && stage.timing == compiler::Timing::Each && stage.keep == compiler::Keep::Raw;
    for (const auto& run : point.runs) {
      if (traced && run.ticks.size() > static_cast<std::size_t>(plan->steps))
        return failure("E0904", fmt::format("stage `{}` has a run of {} records where its spec measures {}", stage.name,
                                            run.ticks.size(), plan->steps));
    }
  }
  return Ok{};
}

std::optional<KeptStage> keep_stage(const compiler::Program& program, const compiler::Stage& stage,
                                    const compiler::Scope& scope, const KeptStages& kept, const StageKey& key) {
  auto found = kept.find(key);
  if (!found) return std::nullopt;
  found->stage.counters.clear();  // of launches that this run did not make
  auto& table = found->stage.table;
  table.timed = stage.timed_name;  // neither this nor a let is part of the key where only findings read it
  for (auto& point : table.points) {
    std::erase_if(point.at, [&](const auto& item) {
      return std::find(table.columns.begin(), table.columns.end(), item.first) == table.columns.end();
    });
  }
  if (!restore_points(program, stage, scope, table)) return std::nullopt;
  return found;
}

}  // namespace gexp::measure
