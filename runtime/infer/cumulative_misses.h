// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/records/table.h"

namespace gexp::infer {

struct MissRange;

/// Addresses of a growing table that missed at some point of it. Each point is looked at once, for as long as misses are told alike.
class CumulativeMisses {
 public:
  /// Shares of all addresses that were walked, 0 to 1.
  struct Shares {
    double ever = 0;  ///< missed at one point or more
    double once = 0;  ///< missed at one point
  };
  /// Any thread; another table, or one with fewer points, is begun anew.
  Shares shares(const records::Table& table, const MissRange& range);

 private:
  std::mutex mutex_;
  /// What a point's records look like, so far as it takes to see that they are others.
  struct Glance {
    std::int64_t steps = 0;
    std::size_t runs = 0;
    std::uint32_t first = 0, last = 0;  ///< ticks of the first run
    friend bool operator==(const Glance&, const Glance&) = default;
  };
  static Glance glance(const records::Point& point);
  double above_ = 0, outlier_ = 0;
  std::vector<Glance> looked_at_;  ///< by point
  struct MissedAt {
    std::size_t points = 0;  ///< so many
    std::size_t last = 0;    ///< the last of them, counted from 1
  };
  std::unordered_map<std::int64_t, MissedAt> missed_at_;  ///< by address that was walked
  std::size_t ever_ = 0, once_ = 0;                       ///< addresses, as in Shares
};

}  // namespace gexp::infer
