// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>

#include "runtime/records/table.h"

namespace gexp::infer {

struct MissRange;

/// Addresses of a growing table that missed at some point of it. Each point is looked at once, for as long as misses are told alike.
class CumulativeMisses {
 public:
  /// In all that were walked, 0 to 1. Any thread; another table, or one with fewer points, is begun anew.
  double share(const records::Table& table, const MissRange& range);

 private:
  std::mutex mutex_;
  const records::Table* table_ = nullptr;
  double above_ = 0, outlier_ = 0;
  std::size_t next_ = 0;  ///< point
  std::unordered_set<std::int64_t> walked_, missed_;
};

}  // namespace gexp::infer
