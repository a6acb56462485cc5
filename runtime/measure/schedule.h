// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "compiler/plan/expand.h"
#include "lang/base/result.h"

namespace gexp::measure {

/// Points that are known before any of them is measured: they can be measured in any order, or at once.
struct Batch {
  std::vector<compiler::Coordinates> points;
  std::vector<bool> known;  ///< by point: measured in an earlier round, and not to be measured again
  /// False: the sweep may end at one of them, and those after it are then not wanted.
  bool all_wanted = true;
  /// To be called when a point (by index, in their order) is measured and its records can be read; says whether the next one is
  /// wanted. What was measured of those that are not must leave no trace.
  std::function<Result<bool>(std::size_t)> measured;
};

/// What the scheduler asks of whoever measures.
struct PointMeasurer {
  /// False: stop everything (interrupted, out of time). Points that a `skip` leaves out count as measured.
  std::function<Result<bool>(const Batch&)> points;
  /// A condition or a value at a measured point (`until`, `refine … on`); unknown where the point was skipped.
  std::function<Result<Value>(const compiler::Formula&, const compiler::Coordinates&)> value;
  /// Repeats what was measured as often as the stage asks, so that its values are what they will stay. False: stop everything.
  std::function<Result<bool>()> converge;
};

/// Visits a stage's points: sweeps outermost first, `until` ends a sweep early, then `refine` bisects the gaps across which
/// its condition changes, or its value by more than 2 %, or those around its highest value, down to its width. What records decided is decided anew once they are settled,
/// until no new point is wanted: a sweep that ended, or was not refined, by what few repetitions seemed to show goes on. False when a
/// point said stop. Which points are visited, and in which order, follows from their records alone.
Result<bool> visit_points(const compiler::Stage& stage, const compiler::Scope& scope, const PointMeasurer& measure);

}  // namespace gexp::measure
