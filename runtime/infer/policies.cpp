// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/policies.h"

#include <algorithm>
#include <bit>

namespace gexp::infer {

PolicySet::PolicySet(Policy policy, std::size_t ways, std::size_t lines, bool stale)
    : policy_(policy), ways_(ways), way_of_(lines, ways), line_in_(ways, lines), newer_(ways + 1), older_(ways + 1), tree_(ways), used_(ways, false),
      filled_(stale ? ways : 0) {
  for (std::size_t way = 0; way <= ways; ++way) newer_[way] = (way + 1) % (ways + 1), older_[newer_[way]] = way;
}

bool PolicySet::access(std::size_t line) {
  if (const auto way = way_of_[line]; way < ways_) {
    touch(way, false);
    return true;
  }
  const auto way = filled_ < ways_ ? filled_++ : victim();
  if (line_in_[way] < way_of_.size()) way_of_[line_in_[way]] = ways_;
  line_in_[way] = line;
  way_of_[line] = way;
  touch(way, true);
  return false;
}

void PolicySet::flood() {
  const auto way = filled_ < ways_ ? filled_++ : victim();
  if (line_in_[way] < way_of_.size()) way_of_[line_in_[way]] = ways_;
  line_in_[way] = way_of_.size();
  touch(way, true);
}

std::size_t PolicySet::victim() {
  if (policy_ == Policy::Plru) {
    std::size_t node = 0;
    while (node < ways_ - 1) node = 2 * node + (tree_[node] ? 2 : 1);
    return node - (ways_ - 1);
  }
  if (policy_ == Policy::Nru) {
    return first_unused_ < ways_ ? first_unused_ : 0;
  }
  return newer_[ways_];
}

void PolicySet::touch(std::size_t way, bool fill) {
  if (policy_ == Policy::Lru || (policy_ == Policy::Fifo && fill)) {
    newer_[older_[way]] = newer_[way], older_[newer_[way]] = older_[way];
    older_[way] = older_[ways_], newer_[way] = ways_;
    newer_[older_[way]] = way, older_[ways_] = way;
  }
  if (policy_ == Policy::Plru) {  // every node on the way points to the other side
    for (std::size_t node = way + ways_ - 1; node > 0; node = (node - 1) / 2) tree_[(node - 1) / 2] = node % 2 == 1;
  }
  if (policy_ == Policy::Nru) {
    used_[way] = true;
    while (first_unused_ < ways_ && used_[first_unused_]) ++first_unused_;
    if (first_unused_ == ways_) {
      std::fill(used_.begin(), used_.end(), false);
      used_[way] = true;
      first_unused_ = way == 0 ? 1 : 0;
    }
  }
}

const char* word(PolicySet::Policy policy) {
  switch (policy) {
    case PolicySet::Policy::Lru: return "lru";
    case PolicySet::Policy::Fifo: return "fifo";
    case PolicySet::Policy::Plru: return "plru";
    case PolicySet::Policy::Nru: return "nru";
  }
  return "";
}

std::vector<PolicySet::Policy> candidate_policies(std::size_t ways) {
  using Policy = PolicySet::Policy;
  std::vector<Policy> all{Policy::Lru, Policy::Fifo};
  if (ways > 2) {  // with two ways tree-PLRU and NRU are LRU
    if (std::has_single_bit(ways)) all.push_back(Policy::Plru);
    all.push_back(Policy::Nru);
  }
  return all;
}

}  // namespace gexp::infer
