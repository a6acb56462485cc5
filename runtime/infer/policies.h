// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace gexp::infer {

/// One set of a cache under a candidate policy. Lines are small numbers below `lines`.
class PolicySet {
 public:
  enum class Policy { Lru, Fifo, Plru, Nru };
  /// `stale`: full of lines that are never accessed again, as where a launch does not empty the cache; else empty.
  PolicySet(Policy policy, std::size_t ways, std::size_t lines, bool stale);
  /// Whether the access hits; then the policy updates, or evicts and fills.
  bool access(std::size_t line);
  /// Another line comes in, one that is never accessed again.
  void flood();
  /// What tells two sets full of such lines apart, besides the names of their ways.
  [[nodiscard]] const std::vector<bool>& marks() const { return used_; }

 private:
  std::size_t victim();
  void touch(std::size_t way, bool fill);

  Policy policy_;
  std::size_t ways_;
  std::vector<std::size_t> way_of_;    ///< by line; ways_ when absent
  std::vector<std::size_t> line_in_;   ///< by way; lines when stale or empty
  std::vector<std::size_t> newer_, older_;  ///< LRU, FIFO: ways as a ring; the one after ways_ is the next victim
  std::vector<bool> tree_;             ///< PLRU: node i has children 2i+1, 2i+2; true points right
  std::vector<bool> used_;             ///< NRU
  std::size_t first_unused_ = 0;       ///< NRU
  std::size_t filled_ = 0;
};

const char* word(PolicySet::Policy policy);
/// The policies that a set of so many ways can follow and that differ there.
std::vector<PolicySet::Policy> candidate_policies(std::size_t ways);

}  // namespace gexp::infer
