// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "runtime/sim/device_model.h"

namespace gexp::sim {

/// Bank conflicts of one access of a warp to shared memory.
class SharedTiming {
 public:
  /// `mode`: bank width in bytes that the launch runs with; 0: the model's default.
  SharedTiming(const SharedModel& model, std::uint32_t mode);

  /// How often the worst bank must be read: lanes of `mask` each access `bytes` bytes at their address. 1: no conflict.
  [[nodiscard]] std::uint32_t ways(const std::array<std::uint32_t, 32>& addresses, std::uint32_t mask, std::uint32_t bytes) const;
  /// Cycles of an access of that many ways: the model's table, straight lines between its points.
  [[nodiscard]] std::uint32_t cycles(std::uint32_t ways) const { return ways < known_.size() ? known_[ways] : interpolated(ways); }

 private:
  /// Whether no two lanes want different rows of one bank.
  [[nodiscard]] bool conflict_free(const std::array<std::uint32_t, 32>& addresses, std::uint32_t mask) const;
  [[nodiscard]] std::uint32_t interpolated(std::uint32_t ways) const;

  const SharedModel& model_;
  std::uint32_t mode_;
  std::array<std::uint32_t, 33> known_{};  ///< cycles of so many ways
};

}  // namespace gexp::sim
