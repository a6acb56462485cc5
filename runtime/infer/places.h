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
  /// None where addresses do not differ by more than one address differs from itself, or are all
  /// walked at one point alone and visited once. `sharp`:
  /// how far apart the ticks of the fastest latency class are.
  static Places of(const Table& table, double sharp);
  [[nodiscard]] bool none() const { return ticks_.empty(); }
  /// By step of the point's walk; empty where there are none.
  [[nodiscard]] std::vector<std::int32_t> by_step(const Point& point) const;
  /// The table as if every address lay in one place.
  [[nodiscard]] Table without(const Table& table) const;

 private:
  std::unordered_map<std::int64_t, std::int32_t> ticks_;  ///< by sector
};

}  // namespace gexp::infer
