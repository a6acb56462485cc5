// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/full_sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/plan/cost.h"
#include "compiler/plan/expand.h"
#include "compiler/plan/points.h"

// The full sweep is a stage like the refined one, whose sweeps go from their first value to their last in steps of the width; what
// its points cost is what the plan says of them.
namespace gexp::compiler {
namespace {

constexpr double kMostCounted = 2'048;   // points that are counted one by one
constexpr double kSampled = 1'000;       // of more of them
constexpr double kFewest = 16;           // of points whose patterns take long to count
constexpr double kMostMade = 1e5;        // steps of patterns that are made to be counted

FormulaPtr constant(double number, Dimension dimension) {
  auto made = std::make_shared<Formula>();
  made->kind = Formula::Kind::Constant;
  made->constant = Value(number, dimension);
  return made;
}

/// Sets a sweep's ends to its least and largest value, no further than was measured. False where these depend on other sweeps.
bool set_ends(Sweep& sweep, const Scope& scope, double furthest) {
  const auto values = sweep_values(sweep, scope);
  if (!values || values->empty()) return false;
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  Dimension dimension;
  for (const auto& value : *values) {
    const auto* n = value.get<Number>();
    if (!n) return false;
    dimension = n->dimension;
    least = std::min(least, n->number), largest = std::max(largest, n->number);
  }
  sweep.from = constant(least, dimension), sweep.to = constant(std::min(largest, std::max(least, furthest)), dimension);
  return true;
}

/// How many points can be counted in a moment: fewer where patterns have to be made to know their length.
double affordable(const Program& program, const Stage& stage, const Scope& scope) {
  double made = 0;
  if (const auto some = sample_points(stage, scope, 3)) {
    for (const auto& names : *some) {
      const auto cost = point_cost(program, stage, names);
      made = std::max(made, cost ? cost->made : 0);
    }
  }
  return made > 0 ? std::max(kFewest, std::floor(kMostMade / made)) : kMostCounted;
}

}  // namespace

bool is_refined(const Stage& stage) {
  return std::any_of(stage.sweeps.begin(), stage.sweeps.end(), [](const Sweep& sweep) { return sweep.refine_to != nullptr; });
}

std::optional<double> timed_accesses(const Program& program, const Stage& stage, const Names& at) {
  const auto cost = point_cost(program, stage, at);
  return cost ? std::optional(cost->timed) : std::nullopt;
}

std::optional<FullSweep> full_sweep(const Program& program, const Stage& stage, const Scope& scope, const std::map<std::string, double>& furthest) {
  FullSweep full;
  full.at_least = stage.repeat.until != nullptr;
  Stage whole = stage;
  for (auto& sweep : whole.sweeps) {
    if (!sweep.refine_to && !sweep.until) continue;
    const auto ended = sweep.until ? furthest.find(sweep.names[0]) : furthest.end();
    // A sweep that is not refined keeps its step; how far `until` would have let it go elsewhere is not known.
    Sweep ends = sweep;
    const bool fixed = sweep.names.size() == 1 && set_ends(ends, scope, ended == furthest.end() ? std::numeric_limits<double>::infinity() : ended->second);
    full.about = full.about || !fixed || (sweep.until && !sweep.refine_to);
    if (sweep.refine_to) {
      if (sweep.kind == Sweep::Kind::List && !fixed) return std::nullopt;
      if (fixed) sweep.from = ends.from, sweep.to = ends.to;
      sweep.kind = Sweep::Kind::Step;
      sweep.by = sweep.refine_to;
    } else if (fixed && sweep.kind == Sweep::Kind::Step) {
      sweep.to = ends.to;
    }
    sweep.refine_to = sweep.refine_on = sweep.until = nullptr;
  }
  const auto count = count_points(whole, scope);
  if (!count || count->base < 1) return std::nullopt;
  double tried = 0, measured = 0, accesses = 0;
  bool known = true;
  const auto look = [&](const Names& names) {
    ++tried;
    const auto skipped = stage.skips.empty() ? std::optional(false) : point_skipped(whole, names);
    if (skipped && *skipped) return true;
    const auto timed = timed_accesses(program, whole, names);
    known = known && skipped && timed;
    ++measured;
    accesses += timed.value_or(0);
    return known;
  };
  const double most = affordable(program, whole, scope);
  const bool all_of_them = count->base <= std::min(most, kMostCounted);
  if (all_of_them) {
    if (auto all = each_point(whole, scope, look); !all) return std::nullopt;
  } else {
    full.about = true;
    const auto some = sample_points(whole, scope, static_cast<int>(std::min(most, kSampled)));
    if (!some) return std::nullopt;
    std::all_of(some->begin(), some->end(), look);
  }
  if (!known || tried == 0) return std::nullopt;
  const double each_stands_for = all_of_them ? 1 : count->base / tried;
  full.points = std::round(measured * each_stands_for);
  full.accesses = accesses * each_stands_for * static_cast<double>(stage.repeat.at_least);
  return full;
}

}  // namespace gexp::compiler
