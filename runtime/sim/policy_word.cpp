// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/policy_word.h"

#include <algorithm>

namespace gexp::sim {

std::string policy_word(const CacheModel& cache) {
  if (*std::max_element(cache.ways.begin(), cache.ways.end()) == 1) return "direct";
  switch (cache.policy) {
    case Policy::Lru: return "lru";
    case Policy::Fifo: return "fifo";
    case Policy::Plru: return "plru";
    case Policy::Nru: return "nru";
    case Policy::Qlru: return cache.qlru.name();
    case Policy::Random: return "random";
    case Policy::Weighted: return std::all_of(cache.weights.begin(), cache.weights.end(), [&](double w) { return w == cache.weights[0]; }) ? "random" : "weighted";
  }
  return "";
}

}  // namespace gexp::sim
