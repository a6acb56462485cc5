// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include "lang/base/budget.h"
#include "lang/base/result.h"

namespace gexp::result {

/// Memory that reading one result may take, what its inference needs included: half of what the command may hold. Asked before
/// memory is, so that a small file cannot unfold to more.
class ReadBudget {
 public:
  ReadBudget() : ReadBudget(std::max((Budget::own() ? Budget::own()->memory() : default_memory_budget()) / 2, kLeast)) {}
  explicit ReadBudget(std::uint64_t bytes) : bytes_(bytes), left_(bytes) {}

  /// False: there is not that much left, or the command's time is over; nothing is taken.
  [[nodiscard]] bool take(std::uint64_t bytes) {
    is_over_ = !Budget::tick(static_cast<std::int64_t>(bytes / kBytesAStep));
    if (is_over_ || bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  static constexpr std::uint64_t kLeast = std::uint64_t{256} << 20;  ///< with less, nothing can be read
  static constexpr std::uint64_t kBytesAStep = 64;
  std::uint64_t bytes_, left_;
  bool is_over_ = false;
};

inline constexpr std::uint64_t kBytesATick = 24;   ///< of a run, inference included (measured: 21)
inline constexpr std::uint64_t kBytesARun = 128;   ///< a run without ticks

/// E0905, or why the command is over.
Diagnostic too_large(const std::string& path, const ReadBudget& budget);

}  // namespace gexp::result
