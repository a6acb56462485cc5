// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/replacement_emission.h"

#include <algorithm>
#include <cmath>

#include "runtime/infer/model/evidence.h"

namespace gexp::infer::replacing {
namespace {

// Shares of accesses that are expected to look like the other kind, before anything is seen: the means of Beta(1/2, .). Interference slows
// down a few hits in a hundred at worst (an H200's: one in a thousand); nothing makes a miss fast, but for what `unsure` missed.

constexpr double kHalf = 0.5;  // fact: the first parameter of Jeffreys' prior of a rate
constexpr double trials_before(double mean) { return kHalf / mean; }

/// Log-likelihood of so many errors, in their order, at a rate from Beta(1/2, `trials` - 1/2).
double of_rate(double errors, double all, double trials) {
  if (all == 0) return 0;
  errors /= model::kTemper, all /= model::kTemper;
  const double rest = trials - kHalf;
  return std::lgamma(kHalf + errors) - std::lgamma(kHalf) + std::lgamma(rest + all - errors) - std::lgamma(rest) + std::lgamma(trials) -
         std::lgamma(trials + all);
}

}  // namespace

double Outcomes::slow_rate() const { return (slow + kHalf) / (hits + trials_before(model::kAccident)); }
double Outcomes::fast_rate() const { return (fast + kHalf) / (misses + trials_before(model::kInterfered)); }

double log_likelihood(const Outcomes& outcomes) {
  return of_rate(outcomes.slow, outcomes.hits, trials_before(model::kAccident)) +
         of_rate(outcomes.fast, outcomes.misses, trials_before(model::kInterfered));
}

double log_of_any_errors(const Outcomes& outcomes) {
  return of_rate(outcomes.slow, outcomes.hits, 1) + of_rate(outcomes.fast, outcomes.misses, 1);
}

Reference::Reference(const Walk& walk) {
  std::size_t blocks = 0;
  for (const auto& trace : walk.traces) first_.push_back(blocks), blocks += trace.missed.size() / kBlock + 1;
  first_.push_back(blocks);
  best_.assign(blocks, -INFINITY);
}

void Reference::offer(const std::vector<double>& course) {
  for (std::size_t block = 0; block < best_.size(); ++block) {
    if (course[block] > best_[block]) best_[block] = course[block];
  }
}

}  // namespace gexp::infer::replacing
