// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/sim/device_model.h"

namespace gexp::sim {

/// Which SM the next block goes to: the one with the fewest, of those the first, TPCs taking turns. The blocks of a cluster go to one GPC.
class Placement {
 public:
  Placement(const DeviceModel& model, std::uint32_t blocks_per_sm)
      : held_(static_cast<std::size_t>(model.sms), 0), orders_(static_cast<std::size_t>(model.gpcs)), most_(blocks_per_sm) {
    const auto step = static_cast<std::uint32_t>(model.sms_per_tpc);
    for (std::uint32_t place = 0; place < step; ++place) {
      for (std::uint32_t sm = place; sm < held_.size(); sm += step) order_.push_back(sm), orders_[place_of(model, Scope::Gpc, sm)].push_back(sm);
    }
  }

  /// SMs for so many blocks of a cluster; none: there is no room for all of them.
  std::vector<std::uint32_t> enter(std::uint32_t blocks) {
    if (blocks == 1 || orders_.size() == 1) return enter(order_, blocks);
    // GPCs with the fewest blocks first.
    std::vector<std::pair<double, std::size_t>> turns;
    for (std::size_t gpc = 0; gpc < orders_.size(); ++gpc) {
      double held = 0;
      for (const auto sm : orders_[gpc]) held += held_[sm];
      turns.emplace_back(held / static_cast<double>(orders_[gpc].size()), gpc);
    }
    std::sort(turns.begin(), turns.end());
    for (const auto& [held, gpc] : turns) {
      if (auto sms = enter(orders_[gpc], blocks); !sms.empty()) return sms;
    }
    return {};
  }
  void leave(std::uint32_t sm) { --held_[sm]; }

 private:
  std::vector<std::uint32_t> enter(const std::vector<std::uint32_t>& order, std::uint32_t blocks) {
    std::vector<std::uint32_t> sms;
    while (sms.size() < blocks) {
      std::optional<std::uint32_t> best;
      for (const std::uint32_t sm : order) {
        if (held_[sm] < (best ? held_[*best] : most_)) best = sm;
        if (best && held_[*best] == 0) break;
      }
      if (!best) {
        for (const std::uint32_t sm : sms) leave(sm);
        return {};
      }
      ++held_[*best];
      sms.push_back(*best);
    }
    return sms;
  }

  std::vector<std::uint32_t> order_, held_;
  std::vector<std::vector<std::uint32_t>> orders_;  ///< of each GPC
  std::uint32_t most_;
};

}  // namespace gexp::sim
