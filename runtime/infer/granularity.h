// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/infer/classes.h"

/// How finely a walk looked at what it walked.
namespace gexp::infer {

/// Bytes: no GPU has smaller lines or sectors. What is walked at that stride or less needs no other evidence that it is no finer than a line.
inline constexpr std::int64_t kLeastLine = 32;  // fact: bytes of the smallest sector of any GPU
inline constexpr std::int64_t kMostLine = 512;  ///< fact: bytes: none has larger ones
inline constexpr std::int64_t kLeastPage = 4096;  ///< fact: bytes: none translates smaller pages

/// What came in at once, as far as a walk shows: visits soon after one to the same unit, and before anything else comes in, never miss.
struct Granularity {
  std::int64_t unit = kLeastLine;  ///< bytes: the largest aligned blocks of which that was shown
  std::int64_t shared = 0;         ///< bytes: the furthest that two such visits to one unit are apart; 0: no unit is visited again so soon
  std::int64_t apart = 0;          ///< bytes: the nearest that two neighbouring addresses of different units are
  /// Whether two addresses or more of each unit were walked, so that the number of units is not that of the addresses.
  [[nodiscard]] bool is_finer_than_the_unit() const { return shared > 0 && 2 * shared >= apart; }
};
/// Of points at which something misses; nullopt where nothing is walked.
std::optional<Granularity> granularity_of(const std::vector<const records::Point*>& points, const MissRange& range);

/// Whether blocks miss at two addresses and more, on average: a page misses wherever it is entered, and a line of a set that is too full
/// always at its own address.
bool misses_anywhere_in(std::int64_t block, const std::vector<const records::Point*>& points, const MissRange& range);

/// First and last address of a walk, and the largest gap between neighbours, in bytes. The walk is not empty.
struct Extent {
  std::int64_t low = 0, high = 0, gap = 0;
};
Extent extent_of(const records::Point& point);

}  // namespace gexp::infer
