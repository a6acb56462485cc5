// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/infer/table.h"

namespace gexp::infer {

/// How much slower, in ticks, each address answers than most for where it lies (a far part, another slice), and not for being
/// absent from something.
class Places {
 public:
  /// None where walks do not come to each sector again within a lap, or addresses do not differ by more than one differs from itself.
  static Places of(const Table& table);
  [[nodiscard]] bool none() const { return ticks_.empty(); }
  /// By step of the point's walk; empty where there are none.
  [[nodiscard]] std::vector<std::int32_t> by_step(const Point& point) const;
  /// The table as if every address lay in one place.
  [[nodiscard]] Table without(const Table& table) const;

 private:
  std::unordered_map<std::int64_t, std::int32_t> ticks_;  ///< by sector
};

}  // namespace gexp::infer
