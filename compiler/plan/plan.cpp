// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/formula/thread_range.h"
#include "compiler/lower/ops.h"
#include "compiler/plan/access.h"
#include "compiler/plan/point_planner.h"

namespace gexp::compiler {

Diagnostic PointPlanner::error(std::string code, Span span, std::string message, std::string hint) {
  Diagnostic diagnostic = failure(std::move(code), std::move(message), std::move(hint));
  diagnostic.span = span;
  return diagnostic;
}

Result<std::int64_t> PointPlanner::whole(const FormulaPtr& formula, const Scope& scope, std::int64_t low, std::int64_t high, const char* what) {
  auto value = evaluate(*formula, scope);
  if (!value) return value.error();
  const auto* n = value->get<Number>();
  if (!n || !std::isfinite(n->number)) return error("E0401", formula->span, fmt::format("a number is wanted here, not {}", show(*value)));
  if (n->number != std::floor(n->number) || n->number < static_cast<double>(low) || n->number > static_cast<double>(high)) {
    return error("E0418", formula->span, fmt::format("{} is {}: a whole number from {} to {} is wanted", what, n->number, low, high),
                 n->number != std::floor(n->number) ? "`div` divides without a rest, floor(x) and ceil(x) round" : "");
  }
  return static_cast<std::int64_t>(n->number);
}

const Memory* PointPlanner::find_memory(const std::string& name) const {
  for (const auto& memory : program_.memories) {
    if (memory.name == name) return &memory;
  }
  return nullptr;
}

PointPlanner::PointPlanner(const Program& program, const Stage& stage, const Coordinates& at, const Scope& outer)
    : program_(program), stage_(stage), outer_(outer), names_(&outer) {
  plan_.at = at;
  plan_.timing = stage.timing;
  for (const auto& flush : stage.flushes) plan_.flushes.push_back(flush.level);
  for (const auto& [name, value] : at) names_.set(name, value);
}

Result<PointPlan> PointPlanner::run(bool& skipped) {
  using Step = std::optional<Diagnostic> (PointPlanner::*)();
  if (auto problem = bind()) return std::move(*problem);
  auto skip = skips();
  if (!skip) return skip.error();
  if ((skipped = *skip)) return std::move(plan_);
  for (const Step step : {&PointPlanner::require, &PointPlanner::launch, &PointPlanner::count_unique, &PointPlanner::chases, &PointPlanner::launches_before, &PointPlanner::shape}) {
    if (auto problem = (this->*step)()) return std::move(*problem);
  }
  return std::move(plan_);
}

std::optional<Shape> PointPlanner::early_shape() {
  if (!stage_.warm_launches.empty() || shares_launch(stage_)) return std::nullopt;
  for (const auto& binding : stage_.bindings) {
    if (binding.kind != Binding::Kind::Let || varies(*binding.formula, ThreadLets())) continue;
    if (auto value = evaluate(*binding.formula, names_)) names_.set(binding.name, std::move(*value));
  }
  const auto* timed = only_chase(stage_.timed);
  if (!timed || launch()) return std::nullopt;
  auto width = access_width(*timed, *find_memory(timed->memory), names_);
  return width ? chase_template(program_, stage_, plan_.grid, plan_.block, *width) : std::nullopt;
}

std::optional<Diagnostic> PointPlanner::bind() {
  for (const auto& let : program_.lets) {
    if (varies(*let.formula, lets_)) lets_.add(let.name, let.formula);
  }
  for (const auto& binding : stage_.bindings) {
    if (auto problem = count(*binding.formula)) return problem;
    if (varies(*binding.formula, lets_)) {
      if (binding.kind == Binding::Kind::Let) lets_.add(binding.name, binding.formula);
      continue;
    }
    auto value = evaluate(*binding.formula, names_);
    if (!value) return value.error();
    plan_.lets[binding.name] = *value;
    names_.set(binding.name, std::move(*value));
  }
  return std::nullopt;
}

Result<bool> PointPlanner::skips() {
  for (const auto& skip : stage_.skips) {
    auto holds = evaluate(*skip.condition, names_);
    if (!holds) return holds.error();
    if (const auto* flag = holds->get<bool>(); flag && *flag) return true;
  }
  return false;
}

std::optional<Diagnostic> PointPlanner::require() {
  for (const auto& each : stage_.requires_) {
    auto holds = evaluate(*each.condition, names_);
    if (!holds) return holds.error();
    if (const auto* flag = holds->get<bool>(); flag && !*flag) {
      return error("E0419", each.condition->span, each.otherwise.empty() ? fmt::format("{} does not hold", show(*each.condition)) : each.otherwise);
    }
  }
  return std::nullopt;
}

std::optional<Diagnostic> PointPlanner::shape() {
  if (const auto* own = only_kernel(stage_.timed); own && !shares_launch(stage_)) return timed_kernel(*own);
  const auto* timed = only_chase(stage_.timed);
  const bool shares = shares_launch(stage_);
  if (timed) {
    const auto& chased = chased_.back();
    if (chased.pattern->steps == 0) return error("E0426", timed->span, fmt::format("`{}` is empty here", timed->pattern), "give the pattern a span above zero");
    if (chased.steps == 0) return error("E0426", timed->count->span, "nothing is timed: the count is zero", "write `laps 1` or more");
    plan_.timed = chased.pattern;
    plan_.steps = chased.steps;
    auto width = access_width(*timed, *find_memory(timed->memory), names_);
    if (!width) return width.error();
    plan_.width = *width;
    plan_.moved = static_cast<std::uint64_t>(chased.steps) * static_cast<std::uint64_t>(plan_.width) * plan_.grid * plan_.block;
  }
  if (stage_.timed.empty() && stage_.timing != Timing::Total) return error("E0426", stage_.span, "the timed region is empty", "put an operation between its braces; only `total {}` may be empty, it times the clock reads");
  if (const auto simple = shares ? std::nullopt : chase_template(program_, stage_, plan_.grid, plan_.block, plan_.width)) {
    if (!stage_.warm.empty() && chased_.front().steps > 0) {
      plan_.warm = chased_.front().pattern;
      plan_.warm_steps = chased_.front().steps;
    }
    plan_.shape = *simple;
    plan_.shape.registers = plan_.registers;
    return std::nullopt;
  }
  if (stage_.timing == Timing::Each && plan_.grid != 1) {
    return error("E0435", stage_.launch.span, "`timed … each` records the accesses of one block", "write `grid 1`, or time the `total` of each warp");
  }
  const Body none;
  const bool wall = stage_.timing == Timing::Wall;
  const BodyPlace body{program_, stage_, names_, lets_, plan_.grid, plan_.block, plan_.cluster, wall ? none : stage_.warm, stage_.timed, stage_.timing, plan_.sms > 0};
  if (auto problem = shares ? roles(body) : own_shape(body)) return problem;
  plan_.moved = plan_.body.moved;
  if (stage_.timing == Timing::Each) plan_.steps = plan_.body.accesses;
  // Only one thread's accesses have one order, which analyses of addresses read.
  if (plan_.grid * plan_.block != 1 || !timed || stage_.timing != Timing::Each) plan_.timed = nullptr;
  else if (const auto* warm = only_chase(stage_.warm); warm && warm->memory == timed->memory) {
    plan_.warm = chased_.front().pattern;
    plan_.warm_steps = chased_.front().steps;
  }
  return std::nullopt;
}

std::optional<Diagnostic> PointPlanner::own_shape(const BodyPlace& body) {
  auto made = body_shape(body, chased_, plan_.body);
  if (!made) return made.error();
  plan_.shape = std::move(*made);
  plan_.shape.registers = plan_.registers;
  return std::nullopt;
}

double moved_bytes(const PointPlan& plan) { return plan.shape.of_file() || !plan.body.moved_known ? -1 : static_cast<double>(plan.moved); }

std::uint64_t reach_of(const PointPlan& plan, const std::string& memory) {
  std::uint64_t reach = 0;
  std::vector<const BodyPlan*> bodies{&plan.body};
  for (const auto& beside : plan.beside) reach = std::max(reach, reach_of(beside, memory));
  for (const auto& before : plan.before) bodies.push_back(&before.body);
  for (const auto* body : bodies) {
    if (const auto found = body->reach.find(memory); found != body->reach.end()) reach = std::max(reach, found->second);
  }
  for (const auto& links : plan.links) {
    if (links.memory != memory || links.offsets.empty()) continue;
    reach = std::max(reach, static_cast<std::uint64_t>(*std::max_element(links.offsets.begin(), links.offsets.end()) + links.width));
  }
  return reach;
}

Result<PointPlan> plan_point(const Program& program, const Stage& stage, const Coordinates& at, const Scope& outer, bool& skipped) {
  skipped = false;
  auto plan = PointPlanner(program, stage, at, outer).run(skipped);
  if (plan || at.empty()) return plan;
  auto problem = plan.error();
  std::string where;
  for (const auto& [name, value] : at) where += fmt::format("{}{} = {}", where.empty() ? "" : ", ", name, show(value));
  problem.notes.push_back({{}, "at the point " + where});
  return problem;
}

}  // namespace gexp::compiler
