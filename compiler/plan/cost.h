// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "compiler/formula/formula.h"
#include "compiler/program.h"

/// What one run of a point asks of a device, without making its patterns or links.
namespace gexp::compiler {

/// What so many threads do, each of them.
struct Work {
  double threads = 1;
  double steps = 0;         ///< chases' accesses, each after the one before
  double loads = 0;         ///< other accesses, which may overlap
  double instructions = 0;  ///< arithmetic
};

struct PointCost {
  double threads = 1;       ///< of the timed launch
  std::vector<Work> parts;  ///< over all launches: a long trace is taken in windows; inside a `branch` fewer threads work
  double launches = 1;      ///< those of warm-ups included
  double operations = 0;    ///< in the text of its largest kernel
  double timed = 0;         ///< accesses of all threads that are timed, each once
  double made = 0;          ///< steps of patterns that had to be made to be counted
  [[nodiscard]] double accesses() const {
    double all = 0;
    for (const auto& part : parts) all += part.threads * (part.steps + part.loads);
    return all;
  }
};

/// `names` holds a point's sweeps. Nothing where a count is not known before the run, as it reads a finding.
std::optional<PointCost> point_cost(const Program& program, const Stage& stage, const Names& names);

/// Whether a `skip` leaves the point out; nothing where that is not known.
std::optional<bool> point_skipped(const Stage& stage, const Names& names);

}  // namespace gexp::compiler
