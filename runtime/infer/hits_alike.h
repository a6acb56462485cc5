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

}  // namespace gexp::infer
