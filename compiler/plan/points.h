// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/plan/expand.h"

/// How many points a stage has, without planning any of them.
namespace gexp::compiler {

inline constexpr double kMaxPoints = 1'000'000;  ///< of one stage: bounds what a stranger's file can ask for

struct PointCount {
  double least = 0;    ///< `until` may end a sweep after its first value, `refine` may find nothing to look into
  double most = 0;     ///< no `until` holds, `refine` looks into as much as it can
  double base = 0;     ///< the product of the sweeps, without refinement
  bool about = false;  ///< inner sweeps depend on outer ones with too many values: some stand for all
};

/// Points of a stage, those that a `skip` leaves out counted. `scope` holds params, lets and earlier findings. E04xx of its sweeps.
Result<PointCount> count_points(const Stage& stage, const Scope& scope);

/// E0440 where a stage has more than kMaxPoints for certain.
Result<> accept_points(const Stage& stage, const PointCount& count);

/// Calls `visit` with every point of the sweeps (refinement left out) until it says false.
Result<> each_point(const Stage& stage, const Scope& scope, const std::function<bool(const Names&)>& visit);

/// About `wanted` points, evenly along the sweeps, the first and the last among them.
Result<std::vector<Names>> sample_points(const Stage& stage, const Scope& scope, int wanted);

/// Findings of other stages that formulas read, as "stage.name", in their order and each once.
std::vector<std::string> findings_read(const Program& program, const std::vector<FormulaPtr>& formulas);

}  // namespace gexp::compiler
