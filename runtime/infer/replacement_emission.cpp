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

/// A rate that is drawn from Beta(1/2, trials - 1/2).
class BetaRate {
 public:
  explicit BetaRate(double trials)
      : trials_(trials), norm_(std::lgamma(trials) - std::lgamma(kHalf) - std::lgamma(trials - kHalf)) {}
  /// Log-likelihood of so many errors, in their order.
  [[nodiscard]] double log_of(double errors, double all) const {
    if (all == 0) return 0;
    errors /= model::kTemper, all /= model::kTemper;
    return std::lgamma(kHalf + errors) + std::lgamma(trials_ - kHalf + all - errors) - std::lgamma(trials_ + all) + norm_;
  }

 private:
  double trials_, norm_;
};

}  // namespace

Bits packed(const std::vector<bool>& each) {
  Bits bits((each.size() + kBlock - 1) / kBlock);
  for (std::size_t i = 0; i < each.size(); ++i) bits[i / kBlock] |= std::uint64_t{each[i]} << i % kBlock;
  return bits;
}

Seen::Seen(const Trace& trace) : missed(packed(trace.missed)), judged(packed(trace.unsure)) {
  for (auto& block : judged) block = ~block;
  if (!judged.empty()) judged.back() &= first_of_block(trace.missed.size() - kBlock * (judged.size() - 1));
}

double Outcomes::slow_rate() const { return (slow + kHalf) / (hits + trials_before(model::kAccident)); }
double Outcomes::fast_rate() const { return (fast + kHalf) / (misses + trials_before(model::kInterfered)); }

double log_likelihood(const Outcomes& outcomes) {
  static const BetaRate slow(trials_before(model::kAccident)), fast(trials_before(model::kInterfered));
  return slow.log_of(outcomes.slow, outcomes.hits) + fast.log_of(outcomes.fast, outcomes.misses);
}

double log_of_any_errors(const Outcomes& outcomes) {
  static const BetaRate any(1);
  return any.log_of(outcomes.slow, outcomes.hits) + any.log_of(outcomes.fast, outcomes.misses);
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
