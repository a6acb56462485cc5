// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/infer/classes.h"
#include "runtime/records/table.h"

/// Hits of one address take as long in each footprint that fits. Where they do not, another level answers, a few cycles slower, or sooner,
/// that was taken for the same one.
namespace gexp::infer {

struct UnlikeHits {
  double last = 0;   ///< the largest footprint in which they take as long as in smaller ones
  double above = 0;  ///< the next in which they surely do not
  double ticks = 0;  ///< how much longer, at most; below 0 where they come sooner
};

/// `walks`: footprint in bytes, and its point, with a walk of one thread; only what `range` calls no miss is looked at, and only addresses
/// of the smallest one: where they lie is the same in all. nullopt: they take as long everywhere, or differ by less than a tick.
std::optional<UnlikeHits> unlike_hits(const std::vector<std::pair<double, const records::Point*>>& walks, const MissRange& range);

/// A visit to the sector that was visited just before is answered by the fastest level there is. Where a footprint is said to fit into that
/// level, its first visits take as long; where they take longer, all of it lies in a level behind, and the fastest one is smaller.
struct FasterLevel {
  double ticks = 0;  ///< by how much it answers sooner, at the same sectors
  double visits = 0;  ///< that were compared
};

/// Visits to a sector just visited, of the same launches, by the same path: they tell the fastest level. Gathered once, when first asked for.
class SecondVisits {
 public:
  /// The tables outlive this.
  explicit SecondVisits(std::vector<const records::Table*> tables) : tables_(std::move(tables)) {}
  /// By sector, how many took so many ticks.
  using BySector = std::unordered_map<std::int64_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>>;
  [[nodiscard]] const BySector& by_sector() const;
  [[nodiscard]] const std::vector<const records::Table*>& tables() const { return tables_; }

 private:
  std::vector<const records::Table*> tables_;
  mutable std::optional<BySector> gathered_;
};

/// `hits`: points of walks of one thread, of which what `range` calls no miss is looked at. nullopt where they take as long as `second`, or
/// none is comparable.
std::optional<FasterLevel> faster_level(const std::vector<const records::Point*>& hits, const MissRange& range, const SecondVisits& second);

}  // namespace gexp::infer
