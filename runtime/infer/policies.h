// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/qlru.h"

namespace gexp::infer {

/// A deterministic policy that a set may follow.
struct Candidate {
  enum class Policy { Lru, Fifo, Plru, Nru, Qlru };
  Candidate(Policy which, Qlru of = {}) : policy(which), variant(of) {}
  Policy policy;
  Qlru variant;  ///< of Policy::Qlru
  [[nodiscard]] std::string name() const;
};

/// One set of a cache under a candidate policy. Lines are small numbers below `lines`.
class PolicySet {
 public:
  using Policy = Candidate::Policy;
  /// `stale`: full of lines that are never accessed again, as where a launch does not empty the cache; else empty.
  PolicySet(const Candidate& candidate, std::size_t ways, std::size_t lines, bool stale);
  /// Whether the access hits; then the policy updates, or evicts and fills.
  bool access(std::size_t line);
  /// Another line comes in, one that is never accessed again.
  void flood();
  [[nodiscard]] bool holds(std::size_t line) const { return way_of_[line] < ways_; }
  /// What tells two sets full of such lines apart, besides the names of their ways.
  [[nodiscard]] const std::vector<std::uint8_t>& marks() const { return marks_; }

 private:
  std::size_t room();
  std::size_t victim();
  void touch(std::size_t way, bool fill);
  void age(std::size_t way, std::uint8_t years);
  void grow_older(std::size_t accessed);

  Policy policy_;
  Qlru variant_;
  std::size_t ways_;
  std::vector<std::size_t> way_of_;    ///< by line; ways_ when absent
  std::vector<std::size_t> line_in_;   ///< by way; lines when stale or empty
  std::vector<std::size_t> newer_, older_;  ///< LRU, FIFO: ways as a ring; the one after ways_ is the next victim
  std::vector<bool> tree_;             ///< PLRU: node i has children 2i+1, 2i+2; true points right
  std::vector<std::uint8_t> marks_;    ///< NRU: used; QLRU: age
  std::size_t of_age_[4] = {};         ///< QLRU: ways of each age
  std::size_t first_unused_ = 0;       ///< NRU
  std::size_t filled_ = 0;
};

/// The policies that a set of so many ways can follow, the simplest first; of those without ages, only ones that differ there.
std::vector<Candidate> candidate_policies(std::size_t ways);

/// Whether no sequence of accesses tells two policies apart in a set of so many ways: random ones are tried (policies.cpp says which).
/// `full`: from a full set on, so that how an empty one fills does not count.
bool alike(const Candidate& one, const Candidate& other, std::size_t ways, bool full);

}  // namespace gexp::infer
