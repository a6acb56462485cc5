// SPDX-License-Identifier: Apache-2.0
// What is made of a point, for the stages of its launch and for the log.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/lower/ops.h"
#include "runtime/measure/outcomes.h"
#include "runtime/measure/point_log.h"
#include "runtime/measure/stage_run.h"
#include "runtime/result/point_table.h"

namespace gexp::measure {

using compiler::Coordinates;

std::string StageRun::lines_of(const std::string& fault) const {
  std::vector<std::string> lines;
  const auto add = [&](bool named) {
    const auto look = [&](const compiler::Op& op) {
      const bool ends_by_data = named && op.kind == compiler::Op::Kind::Loop && op.condition;  // a `loop while`, which a hang names
      const bool holds_others = !op.body.empty() && !op.kernel && !ends_by_data;
      const auto& of = op.flag.empty() ? op.memory : op.flag;
      if (holds_others || (named && fault.find(fmt::format("`{}{}", lang::word(op.kind), of.empty() ? "" : " " + of)) == std::string::npos)) return;
      auto line = fmt::format("{}:{}", run_.source.path(), run_.source.position(op.span.begin).line);
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
    };
    compiler::for_each_op(stage_, look);
    for (const auto index : stage_.beside) compiler::for_each_op(run_.program.stages[index], look);
  };
  add(true);  // a simulated device tells which operation ran
  if (lines.empty()) add(false);
  return lines.empty() ? "" : fmt::format(" ({})", fmt::join(lines, " or "));
}

void StageRun::begin_point(const compiler::Stage& stage, const compiler::PointPlan& plan, records::Point& point) const {
  for (const auto& [name, value] : plan.at) point.at[name] = value;
  for (const auto& [name, value] : plan.lets) point.at[name] = value;
  if (stage.keep == compiler::Keep::Raw) point.walk = plan.timed;  // else the accesses have no order
  point.warm_walk = plan.warm;
  point.warm_steps = plan.warm_steps;
  point.steps = plan.steps;
  point.moved = compiler::moved_bytes(plan);
}

void StageRun::share(records::Point& point, std::optional<std::size_t> number) {
  for (std::size_t i = 0; i < beside_.size(); ++i) {
    auto& points = beside_[i]->table.points;
    auto& own = point.beside[i];
    own.outcome = point.outcome;
    if (number) points[*number] = std::move(own);
    else points.push_back(std::move(own));
  }
  point.beside.clear();
}

/// What was kept of a run that goes on takes the place of measuring: its rounds, as they were.
bool StageRun::recall(const Coordinates& at, records::Point& point, Measured& measured) {
  auto* log = run_.options.log;
  if (!beside_.empty()) return false;  // a launch's stages are measured together, or not at all
  const auto round = log ? log->known(stage_.name, at, point.runs.size()) : nullptr;
  if (!round) return false;
  point.runs.insert(point.runs.end(), round->point.runs.begin(), round->point.runs.end());
  point.overhead = round->point.overhead, point.overhead_error = round->point.overhead_error;
  measured.kernels.insert(measured.kernels.end(), round->kernels.begin(), round->kernels.end());
  return true;
}

bool StageRun::is_expected(device::Outcome::Status end) const {
  return asks_about(stage_, scope_, run_.device, end) ||
         std::any_of(stage_.beside.begin(), stage_.beside.end(), [&](std::size_t index) { return asks_about(run_.program.stages[index], scope_, run_.device, end); });
}

void StageRun::log_round(const Coordinates& at, std::size_t first, const records::Point& point, const Measured& measured) const {
  Round round{at, first, point, measured.kernels, point.outcome.done() && measured.stopped == result::RunResult::End::Complete && !measured.problem && measured.no_room.empty()};
  round.point.runs.erase(round.point.runs.begin(), round.point.runs.begin() + static_cast<std::ptrdiff_t>(first));
  round.point.beside.clear();
  run_.options.log->keep(stage_.name, round);
  for (std::size_t i = 0; i < point.beside.size(); ++i) {
    Round other{at, first, point.beside[i], {}, round.whole};
    other.point.outcome = point.outcome;
    run_.options.log->keep(beside(i).name, other);
  }
}

/// `record … histogram|summary`: what is not kept is gone before anything reads it, so that a result file answers alike.
void StageRun::keep(records::Run& run, compiler::Keep how) const {
  if (how == compiler::Keep::Raw || run.ticks.empty()) return;
  std::sort(run.ticks.begin(), run.ticks.end());
  run.windows = {0};
  if (how == compiler::Keep::Summary) run.ticks = {run.ticks[run.ticks.size() / 2]};
}

void StageRun::count(const records::Point& point, const device::Counters& counts) {
  if (!counts.empty()) device::add_counts(counted_[records::coordinates_text(result_.table, point)], counts);
}

void StageRun::keep_counts() {
  for (const auto& point : result_.table.points) {
    const auto counted = counted_.find(records::coordinates_text(result_.table, point));
    if (counted != counted_.end())
      result_.counters.push_back({result::coordinates(result_.table, point), std::move(counted->second)});
  }
}

void StageRun::forget(const Coordinates& at) const {
  run_.options.log->forget(stage_.name, at);
  for (std::size_t i = 0; i < beside_.size(); ++i) run_.options.log->forget(beside(i).name, at);
}

/// What was measured first stands, and is in the log again.
void StageRun::put_back(const Coordinates& at, std::size_t number) const {
  forget(at);
  auto point = result_.table.points[number];
  for (const auto* other : beside_) point.beside.push_back(other->table.points[number]);
  log_round(at, 0, point, {});
}

}  // namespace gexp::measure
