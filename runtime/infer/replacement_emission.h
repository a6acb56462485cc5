// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "runtime/infer/replacement_walk.h"

/// What an access looks like, given what the set did, and how far each hypothesis has come.
namespace gexp::infer::replacing {

/// How often what a hypothesis predicts comes true. Accesses that scatter left unsure are of neither kind and are not counted.
struct Outcomes {
  double hits = 0, slow = 0;    ///< predicted to hit; of those, so many look like misses
  double misses = 0, fast = 0;  ///< predicted to miss; of those, so many look like hits
  void add(bool hit, bool missed) {
    (hit ? hits : misses) += 1;
    if (hit == missed) (hit ? slow : fast) += 1;
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

/// Accesses of a walk are judged in blocks, trace after trace; limits of computation look at each block's end.
inline constexpr std::size_t kBlock = 64;  // limit: accesses that are scored together

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
