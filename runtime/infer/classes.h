// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/infer/table.h"

namespace gexp::infer {

/// One mode of a stage's latencies: hits of one level, misses to the next, …
struct LatencyClass {
  std::uint32_t low = 0, high = 0;  ///< ticks, both included; classes do not overlap
  double centre = 0;                ///< median tick, the empty region not subtracted
  std::uint64_t support = 0;        ///< accesses
};

/// The latency classes of all ticks of a table pooled, fastest first. Stray outliers form no class.
struct Classes {
  std::vector<LatencyClass> list;
  /// By class: the share of all accesses that interference (DRAM refresh, an interrupt) makes look slower than it, at any point and address.
  std::vector<double> strays;
  /// Index of the class that a tick belongs to: the one whose range is nearest.
  [[nodiscard]] std::size_t of(std::uint32_t tick) const;
  /// Ticks above this are slower than class `index`: halfway to the next class; nullopt for the slowest.
  [[nodiscard]] std::optional<double> above(std::size_t index) const;
  /// Ticks above this belong to no class: an interrupt, a refresh, another program. Twice the slowest class.
  [[nodiscard]] double outlier() const;
};
Classes classify(const Table& table);

/// The ticks that count as a miss.
struct MissRange {
  double above = 0;    ///< slower than this
  double outlier = 0;  ///< but not slower than this
  double strays = 0;   ///< share of all accesses that interference makes look like misses
  bool operator()(std::uint32_t tick) const { return tick > above && tick <= outlier; }
};

/// Slower than the fastest class, or, with `slower_than` (cycles, the region's own cost subtracted), than the class that this
/// latency belongs to. nullopt: there is no slower class in the table.
std::optional<MissRange> miss_range(const Table& table, const Classes& classes, std::optional<double> slower_than = std::nullopt);

/// How often a position may look like a miss by interference alone, visited so often, among so many positions.
double most_strays(const MissRange& range, double visits, std::size_t positions);

/// Misses of one position, in so many visits, that interference does not explain at any of so many positions; at least `least`.
std::size_t enough_misses(const MissRange& range, std::size_t visits, std::size_t positions, std::size_t least);

}  // namespace gexp::infer
