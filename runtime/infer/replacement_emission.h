// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/infer/replacement_walk.h"

/// What an access looks like, given what the set did, and how far each hypothesis has come.
namespace gexp::infer::replacing {

/// Accesses of a walk are judged in blocks, trace after trace; limits of computation look at each block's end.
inline constexpr std::size_t kBlock = 64;  // limit: accesses that are scored together: a word's bits

/// One bit for each access of a trace, those of a block in one word.
using Bits = std::vector<std::uint64_t>;
Bits packed(const std::vector<bool>& each);
/// The first accesses of a block.
inline std::uint64_t first_of_block(std::size_t count) { return count < kBlock ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0}; }
inline bool bit(const Bits& bits, std::size_t access) { return (bits[access / kBlock] >> access % kBlock & 1) != 0; }

/// What a trace shows.
struct Seen {
  explicit Seen(const Trace& trace);
  Bits missed, judged;  ///< judged: not unsure
};

/// How often what a hypothesis predicts comes true. Accesses that scatter left unsure are of neither kind and are not counted.
struct Outcomes {
  double hits = 0, slow = 0;    ///< predicted to hit; of those, so many look like misses
  double misses = 0, fast = 0;  ///< predicted to miss; of those, so many look like hits
  /// Those accesses of a block that `judged` says.
  void add(std::uint64_t hit, std::uint64_t missed, std::uint64_t judged) {
    const auto count = [](std::uint64_t bits) { return static_cast<double>(std::popcount(bits)); };
    hits += count(judged & hit), slow += count(judged & hit & missed);
    misses += count(judged & ~hit), fast += count(judged & ~hit & ~missed);
  }
  [[nodiscard]] double judged() const { return hits + misses; }
  [[nodiscard]] double wrong() const { return judged() > 0 ? (slow + fast) / judged() : 1; }  ///< share
  /// Expected rates at which hits look like misses and misses like hits.
  [[nodiscard]] double slow_rate() const;
  [[nodiscard]] double fast_rate() const;
};

/// Of a hypothesis that predicts hits and misses, in tempered nats (the likelihood of one in kTemper accesses): the rates of both errors
/// are latent, drawn from Beta distributions as scatter and interference make them, and integrated out. More accesses never make it larger.
double log_likelihood(const Outcomes& outcomes);
/// The same where the errors have any cause: Jeffreys' prior on both rates.
double log_of_any_errors(const Outcomes& outcomes);

/// The best tempered log-likelihood that any hypothesis has had at the end of each block.
class Reference {
 public:
  explicit Reference(const Walk& walk);
  [[nodiscard]] std::size_t block(std::size_t trace, std::size_t access) const { return first_[trace] + access / kBlock; }
  [[nodiscard]] std::size_t blocks() const { return first_.back(); }
  /// A hypothesis that came to the end; not a number where it was not looked at.
  void offer(const std::vector<double>& course);
  /// Whether a hypothesis is so far behind that its posterior is nothing. The likelihood ratio of a wrong hypothesis to the true one ever
  /// exceeds e^n with a chance of e^-n (Ville 1939): the truth is not lost by it.
  [[nodiscard]] bool left_behind(std::size_t block, double log_likelihood) const { return log_likelihood < best_[block] - kBehind; }

  static constexpr double kBehind = 17;  // limit: tempered nats, a weight of e^-17

 private:
  std::vector<std::size_t> first_;  ///< block of each trace, and one past the last
  std::vector<double> best_;
};

}  // namespace gexp::infer::replacing
