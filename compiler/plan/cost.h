// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "compiler/formula/formula.h"
#include "compiler/program.h"

/// What one run of a point asks of a device, without making its patterns or links.
namespace gexp::compiler {

struct PointCost {
  double threads = 1;
  double steps = 0;         ///< chases' accesses of one thread, each after the one before, over all launches: a long trace is taken in windows
  double loads = 0;         ///< other accesses of one thread, which may overlap, likewise
  double instructions = 0;  ///< arithmetic of one thread, likewise
  double launches = 1;
  double timed = 0;         ///< accesses of all threads that are timed, each once
  double made = 0;          ///< steps of patterns that had to be made to be counted
  [[nodiscard]] double accesses() const { return (steps + loads) * threads; }
};

/// `names` holds a point's sweeps. Nothing where a count is not known before the run, as it reads a finding.
std::optional<PointCost> point_cost(const Program& program, const Stage& stage, const Names& names);

/// Whether a `skip` leaves the point out; nothing where that is not known.
std::optional<bool> point_skipped(const Stage& stage, const Names& names);

}  // namespace gexp::compiler
