// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/infer/classes.h"

/// How finely a walk looked at what it walked.
namespace gexp::infer {

/// Bytes: no GPU has smaller lines or sectors. What is walked at that stride or less needs no other evidence that it is no finer than a line.
inline constexpr std::int64_t kLeastLine = 32;
inline constexpr std::int64_t kMostLine = 512;  ///< bytes: none has larger ones
inline constexpr double kTooFewMissed = 1e-4;     ///< below it, that so few visits missed is no chance

/// What came in at once, as far as a walk shows: visits soon after one to the same unit never miss.
struct Granularity {
  std::int64_t unit = 1;    ///< bytes: the largest aligned blocks of which that holds
  std::int64_t shared = 0;  ///< bytes: the furthest that two such visits to one unit are apart; 0: no unit is visited again so soon
  std::int64_t apart = 0;   ///< bytes: the nearest that two neighbouring addresses of different units are
  /// Whether two addresses or more of each unit were walked, so that the number of units is not that of the addresses.
  [[nodiscard]] bool is_finer_than_the_unit() const { return shared > 0 && 2 * shared >= apart; }
};
/// Of points at which something misses; nullopt where nothing is walked.
std::optional<Granularity> granularity_of(const std::vector<const records::Point*>& points, const MissRange& range);

}  // namespace gexp::infer
