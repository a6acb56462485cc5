// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
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
  /// nullopt: no deterministic policy that is a candidate.
  static std::optional<Candidate> named(const std::string& name);
};

/// What a policy knows of the ways of one set. Which lines are in them does not matter to it.
class PolicyMachine {
 public:
  using Policy = Candidate::Policy;
  /// Nothing is in the set.
  PolicyMachine(const Candidate& candidate, std::size_t ways);
  /// All ways hold something from now on, whatever it is.
  void fill_up() { filled_ = ways_; }
  void hit(std::size_t way) { touch(way, false); }
  /// The way that a miss takes, an empty one while there are any; what comes in is in it then.
  std::size_t miss();
  [[nodiscard]] std::size_t ways() const { return ways_; }
  [[nodiscard]] std::size_t filled() const { return filled_; }
  [[nodiscard]] bool holds_something(std::size_t way) const { return fills_last() ? way >= ways_ - filled_ : way < filled_; }
  /// All of what it knows: machines of one policy that agree in it behave alike from now on.
  [[nodiscard]] std::vector<std::uint16_t> state() const;

  /// NRU and QLRU know one mark of each way, and their victim is the first way of some mark: which way is which matters to nothing else.
  [[nodiscard]] bool has_marks() const { return policy_ == Policy::Nru || policy_ == Policy::Qlru; }
  [[nodiscard]] std::uint8_t mark(std::size_t way) const {
    const auto word = way / kBits, bit = way % kBits;
    return static_cast<std::uint8_t>((low_[word] >> bit & 1) | (high_[word] >> bit & 1) << 1);
  }
  [[nodiscard]] std::vector<std::uint8_t> marks() const;  ///< by way; empty where there are none
  void set_marks(const std::vector<std::uint8_t>& marks);
  /// What happens before a full set chooses its victim; whether the mark of a way makes it one; and its filling.
  void before_victim();
  [[nodiscard]] bool may_be_victim(std::size_t way) const { return mark(way) == (policy_ == Policy::Nru ? 0 : 3); }
  void replace(std::size_t way) { touch(way, true); }

 private:
  [[nodiscard]] bool fills_last() const { return policy_ == Policy::Qlru && variant_.fills_last(); }
  std::size_t victim();
  void touch(std::size_t way, bool fill);
  void set_mark(std::size_t way, std::uint8_t mark) {
    const auto word = way / kBits, bit = way % kBits;
    low_[word] = (low_[word] & ~(std::uint64_t{1} << bit)) | std::uint64_t(mark & 1) << bit;
    high_[word] = (high_[word] & ~(std::uint64_t{1} << bit)) | std::uint64_t(mark >> 1) << bit;
  }
  void grow_older(std::size_t accessed);
  [[nodiscard]] std::uint64_t ways_in(std::size_t word) const { return word + 1 < low_.size() ? ~std::uint64_t{0} : last_ways_; }

  static constexpr std::size_t kBits = 64;  // fact: of a word

  Policy policy_;
  Qlru variant_;
  std::size_t ways_;
  std::vector<std::uint16_t> newer_, older_;  ///< LRU, FIFO: ways as a ring; the one after ways_ is the next victim
  std::vector<bool> tree_;                    ///< PLRU: node i has children 2i+1, 2i+2; true points right
  std::vector<std::uint64_t> low_, high_;     ///< one bit a way. NRU: low says that it is used. QLRU: both bits of its age
  std::uint64_t last_ways_ = 0;               ///< those in the last word
  std::size_t filled_ = 0;
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
  [[nodiscard]] bool holds(std::size_t line) const { return way_of_[line] < machine_.ways(); }
  /// What tells two sets full of such lines apart, besides the names of their ways.
  [[nodiscard]] std::vector<std::uint8_t> marks() const { return machine_.marks(); }

 private:
  void put(std::size_t line);

  PolicyMachine machine_;
  std::vector<std::size_t> way_of_;   ///< by line; the number of ways when absent
  std::vector<std::size_t> line_in_;  ///< by way; the number of lines when stale or empty
};

/// The policies that a set of so many ways can follow, the simplest first; of those without ages, only ones that differ there.
std::vector<Candidate> candidate_policies(std::size_t ways);

}  // namespace gexp::infer
