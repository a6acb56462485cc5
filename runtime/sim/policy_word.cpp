// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/policy_word.h"

#include <fmt/format.h>

#include <algorithm>

namespace gexp::sim {

std::string policy_word(const CacheModel& cache) {
  switch (cache.policy) {
    case Policy::Lru: return "lru";
    case Policy::Fifo: return "fifo";
    case Policy::Plru: return "plru";
    case Policy::Nru: return "nru";
    case Policy::Qlru: return cache.qlru.name();
    case Policy::Nrf: return !cache.ways.empty() && *std::max_element(cache.ways.begin(), cache.ways.end()) <= 2 ? "fifo" : "nrf";  // of two, the other
    case Policy::Bip: return cache.promoted == 0 ? "lip" : cache.promoted == 1 ? "lru" : "bip";
    case Policy::Rrip:
      // What comes in at the oldest age leaves no age between it and the youngest.
      if (cache.insert + 1 == cache.ages) return "qlru_h00_m3_r0_u0_umo";
      return cache.ages == 4 ? fmt::format("qlru_h00_m{}_r0_u0_umo", cache.insert) : "rrip";
    case Policy::Turns: return "turns";
    case Policy::Random: return "random";
    case Policy::Weighted: return std::all_of(cache.weights.begin(), cache.weights.end(), [&](double w) { return w == cache.weights[0]; }) ? "random" : "weighted";
  }
  return "";
}

}  // namespace gexp::sim
