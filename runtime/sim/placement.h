// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace gexp::sim {

/// Which SM the next block goes to: the one with the fewest, of those the first, TPCs taking turns.
class Placement {
 public:
  Placement(std::uint32_t sms, std::uint32_t sms_per_tpc, std::uint32_t blocks_per_sm) : held_(sms, 0), most_(blocks_per_sm) {
    for (std::uint32_t place = 0; place < sms_per_tpc; ++place) {
      for (std::uint32_t sm = place; sm < sms; sm += sms_per_tpc) order_.push_back(sm);
    }
  }

  /// Nothing when every SM is full.
  std::optional<std::uint32_t> enter() {
    std::optional<std::uint32_t> best;
    for (const std::uint32_t sm : order_) {
      if (held_[sm] < (best ? held_[*best] : most_)) best = sm;
      if (best && held_[*best] == 0) break;
    }
    if (best) ++held_[*best];
    return best;
  }
  void leave(std::uint32_t sm) { --held_[sm]; }

 private:
  std::vector<std::uint32_t> order_, held_;
  std::uint32_t most_;
};

}  // namespace gexp::sim
