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
  /// Index of the class that a tick belongs to: the one whose range is nearest.
  [[nodiscard]] std::size_t of(std::uint32_t tick) const;
  /// Ticks above this are slower than class `index`: halfway to the next class; nullopt for the slowest.
  [[nodiscard]] std::optional<double> above(std::size_t index) const;
};
Classes classify(const Table& table);

/// The tick above which an access counts as a miss: slower than the fastest class, or, with `slower_than` (cycles, the empty
/// region subtracted), slower than the class that this latency belongs to. nullopt: there is no slower class in the table.
std::optional<double> miss_threshold(const Table& table, const Classes& classes, std::optional<double> slower_than = std::nullopt);

}  // namespace gexp::infer
