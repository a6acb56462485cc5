// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/lower/ops.h"
#include "compiler/memory/memory_space.h"
#include "compiler/plan/cost.h"
#include "compiler/plan/plan.h"
#include "lang/base/budget.h"

namespace gexp::compiler {
namespace {

constexpr double kMostSkipsTried = 10'000;
constexpr int kSkipsSampled = 1'000;  // of more points
constexpr int kSamples = 33;           // points whose accesses are counted
constexpr std::int64_t kEstimateUnits = 4 * kCompileUnits;
constexpr double kTooLong = 2;  // times the budget, by an estimate that is about right
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// What a stage's points are made from; not what is asked of their records.
std::vector<FormulaPtr> formulas_of_points(const Stage& stage) {
  std::vector<FormulaPtr> all;
  for (const auto& sweep : stage.sweeps) all.insert(all.end(), {sweep.from, sweep.to, sweep.by, sweep.list, sweep.refine_to});
  for (const auto& binding : stage.bindings) all.push_back(binding.formula);
  for (const auto& skip : stage.skips) all.push_back(skip.condition);
  const auto& launch = stage.launch;
  all.insert(all.end(), {launch.grid, launch.block, launch.cluster, launch.smem, launch.persm, launch.carveout, launch.bank, launch.sm, launch.sms, launch.limit, launch.registers});
  if (stage.transform) all.insert(all.end(), {stage.transform->line, stage.transform->monitor});
  for_each_op(stage, [&](const Op& op) { all.insert(all.end(), {op.count, op.width, op.at, op.fetch, op.rank, op.into_at, op.rows, op.pitch, op.named, op.chain, op.ilp, op.condition, op.from, op.to, op.signals, op.bound}); });
  return all;
}

/// Sweeps whose points depend on a finding: its value is not guessed, not even where `??` has one.
std::vector<FormulaPtr> formulas_of_sweeps(const Stage& stage) {
  std::vector<FormulaPtr> formulas;
  for (const auto& sweep : stage.sweeps) formulas.insert(formulas.end(), {sweep.from, sweep.to, sweep.by, sweep.list});
  return formulas;
}

class Estimator {
 public:
  Estimator(const Program& program, const SpeedEstimate& pace, Names scope, const KnownStages& known)
      : program_(program), pace_(pace), scope_(std::move(scope)), known_(known) {
    for (const auto& stage : program.stages) scope_.set(stage.name, Value(Fields{}));  // every other finding is unknown
    for (const auto& [name, findings] : known.findings) scope_.set(name, findings);
  }

  Result<StageEstimate> stage(const Stage& stage) {
    StageEstimate made;
    made.needs = needed(formulas_of_points(stage));
    if (auto problem = points(stage, made)) return std::move(*problem);
    std::vector<PointCost> costs;
    if (made.points) {
      auto sampled = sample(stage, *made.points);
      if (!sampled) return sampled.error();
      costs = std::move(*sampled);
    }
    const bool kept = known_.findings.contains(stage.name);
    if (kept) made.kernels = 0;
    else kernels(stage, made);
    made.seconds = {0, kept ? 0 : kInfinite};
    if (costs.empty()) return made;
    made.accesses = Interval{costs[0].accesses(), costs[0].accesses()};
    for (const auto& cost : costs) {
      made.accesses->least = std::min(made.accesses->least, cost.accesses());
      made.accesses->most = std::max(made.accesses->most, cost.accesses());
    }
    if (!kept) time(stage, costs, made);
    return made;
  }

 private:
  /// The findings that formulas read and nobody knows yet.
  [[nodiscard]] std::vector<std::string> needed(const std::vector<FormulaPtr>& formulas) const {
    auto names = findings_read(program_, formulas);
    std::erase_if(names, [&](const std::string& name) {
      const auto dot = name.find('.');
      const auto stage = known_.findings.find(name.substr(0, dot));
      const auto* fields = stage == known_.findings.end() ? nullptr : stage->second.get<Fields>();
      if (!fields || dot == std::string::npos) return fields != nullptr;
      const auto found = fields->find(name.substr(dot + 1));
      return found != fields->end() && found->second.known();
    });
    return names;
  }

  std::optional<Diagnostic> points(const Stage& stage, StageEstimate& made) {
    if (!needed(formulas_of_sweeps(stage)).empty()) return std::nullopt;
    Stage coarse = stage;
    bool open = false;  // how far a sweep is refined depends on a finding
    for (auto& sweep : coarse.sweeps) {
      if (!sweep.refine_to || needed({sweep.refine_to}).empty()) continue;
      sweep.refine_to = nullptr;
      open = true;
    }
    auto count = count_points(coarse, scope_);
    if (!count) return count.error();
    if (auto accepted = accept_points(stage, *count); !accepted) return accepted.error();
    made.points = *count;
    if (open) made.points->most = kInfinite;
    if (stage.skips.empty()) made.skipped = 0;
    if (stage.skips.empty()) return std::nullopt;
    double tried = 0, skipped = 0;
    bool known = true;
    const auto look = [&](const Names& names) {
      const auto skip = point_skipped(stage, names);
      known = known && skip.has_value();
      ++tried;
      if (skip.value_or(false)) ++skipped;
      return known;
    };
    made.skipped_about = count->base > kMostSkipsTried;
    if (made.skipped_about) {
      auto some = sample_points(stage, scope_, kSkipsSampled);
      if (!some) return some.error();
      std::all_of(some->begin(), some->end(), look);
    } else if (auto all = each_point(stage, scope_, look); !all) {
      return all.error();
    }
    if (known) made.skipped = std::round(count->base * skipped / std::max(1.0, tried));
    return std::nullopt;
  }

  Result<std::vector<PointCost>> sample(const Stage& stage, const PointCount& count) {
    std::vector<PointCost> costs;
    const Budget::Work work(kCompileUnits / 2);
    const auto points = sample_points(stage, scope_, static_cast<int>(std::min<double>(kSamples, std::max(1.0, count.base))));
    if (Budget::Work::exhausted()) return costs;
    if (!points) return points.error();
    for (const auto& names : *points) {
      if (!stage.skips.empty() && point_skipped(stage, names).value_or(false)) continue;
      const auto cost = point_cost(program_, stage, names);
      if (!cost) return std::vector<PointCost>{};
      costs.push_back(*cost);
    }
    return costs;
  }

  void kernels(const Stage& stage, StageEstimate& made) {
    const Budget::Work work(kCompileUnits / 2);
    auto shapes = stage_shapes(program_, stage, scope_);
    if (!shapes) return;  // a text that depends on a finding
    std::size_t fresh = 0;
    for (auto& shape : *shapes) {
      if (std::find(shapes_.begin(), shapes_.end(), shape) != shapes_.end()) continue;
      shapes_.push_back(std::move(shape));
      ++fresh;
    }
    made.kernels = fresh;
  }

  /// Multiprocessors that run a point at once, as far as that is known before it is planned.
  [[nodiscard]] double beside(const Stage& stage) const {
    const auto sms = stage.launch.sms ? evaluate(*stage.launch.sms, scope_) : Result<Value>(Value());
    const auto* n = sms ? sms->get<Number>() : nullptr;
    return n ? std::max(1.0, n->number) : 1;
  }

  /// `beside`: as many of it at once.
  [[nodiscard]] double run_time(const PointCost& cost, int end, double beside) const {
    double seconds = cost.launches * pace_.launch[end];
    for (const auto& part : cost.parts) {
      if (part.threads == 0) continue;
      const double turns = std::max(1.0, part.threads * beside / pace_.at_once);
      seconds += turns * (part.steps * pace_.access[end] + part.loads * pace_.load[end] + part.instructions * pace_.instruction[end]);
    }
    return seconds;
  }

  void time(const Stage& stage, const std::vector<PointCost>& costs, StageEstimate& made) const {
    const double beside = this->beside(stage);
    double lowest = kInfinite, highest = 0, sum[2] = {0, 0};
    for (const auto& cost : costs) {
      lowest = std::min(lowest, run_time(cost, 0, beside)), highest = std::max(highest, run_time(cost, 1, beside));
      for (const int end : {0, 1}) sum[end] += run_time(cost, end, beside) / static_cast<double>(costs.size());
    }
    const auto& points = *made.points;
    // All points of the sweeps: their mean. Fewer (`until`): the shortest; what refining adds: the longest.
    const double skipped = made.skipped.value_or(0), unsure = made.skipped ? 0 : points.base;
    const double least = std::max(0.0, points.least - skipped - unsure), base = std::max(0.0, points.base - skipped);
    const double added = points.most > points.base ? (points.most - points.base) * highest : 0;
    double operations = 0;
    for (const auto& cost : costs) operations = std::max(operations, cost.operations);
    const auto compile = [&](int end) { return static_cast<double>(made.kernels.value_or(0)) * (pace_.compile[end] + operations * pace_.operation[end]); };
    made.seconds.least = compile(0) + std::ceil(static_cast<double>(stage.repeat.at_least) / beside) * least * (points.least < points.base ? lowest : sum[0]);
    made.seconds.most = compile(1) + std::ceil(static_cast<double>(stage.repeat.at_most) / beside) * (base * sum[1] + added);
  }

  const Program& program_;
  const SpeedEstimate& pace_;
  Names scope_;
  const KnownStages& known_;
  std::vector<Shape> shapes_;
};

std::optional<double> budget(const FormulaPtr& formula, const Scope& scope) {
  const auto value = formula ? evaluate(*formula, scope) : Result<Value>(Value());
  const auto* n = value ? value->get<Number>() : nullptr;
  return n ? std::optional(n->number) : std::nullopt;
}

}  // namespace

Result<Estimate> estimate(const Program& program, const SpeedEstimate& pace, const KnownStages& known) {
  const Budget::Work work(kEstimateUnits);
  auto scope = file_scope(program);
  if (!scope) return scope.error();
  Estimate all;
  all.budget_memory = budget(program.budget_memory, *scope);
  all.budget_seconds = budget(program.budget_time, *scope);
  for (const auto& memory : program.memories) {
    auto bytes = memory_bytes(memory, *scope);
    if (!bytes) return bytes.error();
    if (memory.space->takes_device_memory()) all.memory += static_cast<double>(*bytes);
    if (memory.space->home == MemorySpace::Home::Host) all.host_memory += static_cast<double>(*bytes);
    if (memory.space->home == MemorySpace::Home::Managed) all.managed_memory += static_cast<double>(*bytes);
    if (memory.space->home == MemorySpace::Home::Peer) all.peer_memory += static_cast<double>(*bytes);
  }
  Estimator estimator(program, pace, std::move(*scope), known);
  for (const auto& stage : program.stages) {
    auto made = estimator.stage(stage);
    if (!made) return made.error();
    all.kernels += made->kernels.value_or(0);
    all.seconds.least += made->seconds.least;
    all.seconds.most += made->seconds.most;
    all.stages.push_back(std::move(*made));
  }
  return all;
}

Result<> accept_time(const Program& program, const Estimate& estimate) {
  if (!estimate.budget_seconds || estimate.seconds.least <= kTooLong * *estimate.budget_seconds) return Ok{};
  auto problem = failure("E0443", fmt::format("this takes at least {:.0f} s by estimate, the budget is {}", estimate.seconds.least, show(*estimate.budget_seconds, kSeconds)),
                         "raise the budget, measure less, or run it with --time-limit");
  problem.span = program.budget_time->span;
  return problem;
}

}  // namespace gexp::compiler
