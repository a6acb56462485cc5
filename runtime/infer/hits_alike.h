// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "runtime/infer/classes.h"
#include "runtime/records/table.h"

/// Hits of one address take as long in each footprint that fits. Where they do not, another level answers, a few cycles slower, that was
/// taken for the same one.
namespace gexp::infer {

struct SlowerHits {
  double last = 0;   ///< the largest footprint in which they take as long as in smaller ones
  double above = 0;  ///< the next in which they surely take longer
  double ticks = 0;  ///< by how much, at most
};

/// `walks`: footprint in bytes, and its point, with a walk of one thread; only what `range` calls no miss is looked at, and only addresses
/// of the smallest one: where they lie is the same in all. nullopt: they take as long everywhere, or differ by less than a tick.
std::optional<SlowerHits> slower_hits(const std::vector<std::pair<double, const records::Point*>>& walks, const MissRange& range);

/// A visit to the sector that was visited just before is answered by the fastest level there is. Where a footprint is said to fit into that
/// level, its first visits take as long; where they take longer, all of it lies in a level behind, and the fastest one is smaller.
struct FasterLevel {
  double ticks = 0;  ///< by how much it answers sooner, at the same sectors
  double visits = 0;  ///< that were compared
};

/// `hits`: points of walks of one thread, of which what `range` calls no miss is looked at. `tables`: of the same launches, by the same path;
/// their visits to a sector just visited tell the fastest level. nullopt where they take as long, or none is comparable.
std::optional<FasterLevel> faster_level(const std::vector<const records::Point*>& hits, const MissRange& range, const std::vector<const records::Table*>& tables);

}  // namespace gexp::infer
