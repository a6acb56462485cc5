// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "compiler/expand.h"
#include "lang/base/result.h"

namespace gexp::runtime {

/// What the scheduler asks of whoever measures.
struct Measure {
  /// Measures one point; false: stop everything (interrupted, out of time). Points that a `skip` leaves out count as measured.
  std::function<Result<bool>(const compiler::Coordinates&)> point;
  /// A condition or a value at a measured point (`until`, `refine … on`); unknown where the point was skipped.
  std::function<Result<Value>(const compiler::Formula&, const compiler::Coordinates&)> value;
};

/// Visits a stage's points: sweeps outermost first, `until` ends a sweep early, then `refine` bisects the gaps across which
/// its condition changes, or its value by more than 2 %, down to its width. False when a point said stop.
Result<bool> visit_points(const compiler::Stage& stage, const compiler::Scope& scope, const Measure& measure);

}  // namespace gexp::runtime
