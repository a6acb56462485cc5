// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>

#include "compiler/program.h"

namespace gexp::compiler {

/// What a stage would take if its refined sweeps were swept whole, in steps of the width that they are refined to.
struct FullSweep {
  double points = 0;      ///< those that a `skip` leaves out not counted
  double accesses = 0;    ///< timed ones of all threads and repetitions
  bool about = false;     ///< some points stood for all, or a sweep depends on another
  bool at_least = false;  ///< a stopping rule may have asked for more repetitions than the least
};

bool is_refined(const Stage& stage);

/// `scope` holds params, lets and earlier findings; `furthest` the largest value measured of each sweep that `until` may have ended. Nothing
/// where a count is not known from the plan.
std::optional<FullSweep> full_sweep(const Program& program, const Stage& stage, const Scope& scope, const std::map<std::string, double>& furthest);

/// Timed accesses of all threads in one run of a point, whose sweeps are in `at`.
std::optional<double> timed_accesses(const Program& program, const Stage& stage, const Names& at);

}  // namespace gexp::compiler
