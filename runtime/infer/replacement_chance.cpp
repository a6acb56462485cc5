// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/replacement_chance.h"

#include <algorithm>
#include <cmath>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"

namespace gexp::infer::replacing {
namespace {

// Of a set that other lines have filled: the chance of its rarest way is at least the mean one by this. It says when all of them are gone.
// Interference that is taken for an eviction swaps the names of two ways, which makes their chances look more alike. Doubts at each miss
// would leave no history long enough to tell ways apart: so where ways are followed, it counts as this rare.
constexpr double kTiny = 1e-150;  // limit: from here on numbers are scaled anew
constexpr double kHardly = 1e-3;  // limit: chance of a miss below which its victim is drawn from all alike

/// Where a window begins in which only one of the lines is not in: after others had filled the set, chance takes so many misses to let
/// go of the last of them (coupon collector's problem, three times the ways on top, and chances may differ).
std::size_t settled(const Trace& trace, std::size_t begin, std::size_t end, std::size_t lines, bool stale) {
  if (!trace.flood && !stale) return begin;
  const auto ways = static_cast<double>(lines - 1);
  for (auto left = static_cast<std::size_t>(model::kRarestWay * ways * (std::log(ways) + 3)); begin < end && left > 0; ++begin)
    left -= trace.missed[begin] ? 1 : 0;
  return begin;
}

std::size_t end_of_window(const Trace& trace, std::size_t window) {
  return window + 1 < trace.windows.size() ? trace.windows[window + 1] : trace.missed.size();
}

/// By how much the half that was used least recently, and the line that came in last, are preferred as victims: ratios of odds.
struct Tilt {
  double older = 1, last = 1;
  [[nodiscard]] bool is_none() const { return older == 1 && last == 1; }
};

/// The chance that each line is absent. While the set is not settled, each line has its own (assumed density filtering: Boyen and Koller
/// 1998); from then on exactly one line is.
class Absent {
 public:
  Absent(std::size_t lines, const Tilt& tilt)
      : ways_(static_cast<double>(lines - 1)), tilt_(tilt), raw_(lines), recency_(lines), last_in_(lines) {}

  void empty() {
    phase_ = Phase::Filling;
    touched_.assign(raw_.size(), false);
    left_ = raw_.size() - 1;
  }
  void others_are_in() {
    phase_ = Phase::Unsettled;
    std::fill(raw_.begin(), raw_.end(), 0.0);  // of presence
    scale_ = 1;
  }
  void any_one() {
    phase_ = Phase::Settled;
    std::fill(raw_.begin(), raw_.end(), 1 / (ways_ + 1));
    scale_ = 1, offset_ = 0, last_in_ = raw_.size();
  }
  [[nodiscard]] bool is_unsettled() const { return phase_ == Phase::Unsettled; }

  /// Whether the access misses, before it is made.
  [[nodiscard]] double miss(std::uint32_t line) const {
    if (phase_ == Phase::Filling) return touched_[line] ? 0 : 1;
    const double own = raw_[line] * scale_;
    return std::clamp(phase_ == Phase::Unsettled ? 1 - own : own + offset_, 0.0, 1.0);
  }
  /// The access is made. `as_hit`, `as_miss`: the likelihood of what it looked like; `likelihood`: of both.
  void access(std::uint32_t line, double as_hit, double as_miss, double likelihood) {
    change(line, as_hit, miss(line) * as_miss / likelihood, likelihood);
    if (!tilt_.is_none()) recency_.use(line);
  }

 private:
  enum class Phase { Filling, Unsettled, Settled };
  void change(std::uint32_t line, double as_hit, double missed, double likelihood) {
    if (phase_ == Phase::Filling) return fill(line);
    if (phase_ == Phase::Unsettled) {
      scale_ *= 1 - missed / ways_;
      if (scale_ < kTiny) {
        for (auto& each : raw_) each *= scale_;
        scale_ = 1;
      }
      raw_[line] = 1 / scale_;
      return;
    }
    scale_ *= as_hit / likelihood;
    offset_ = offset_ * as_hit / likelihood;
    if (tilt_.is_none() || missed < kHardly)
      offset_ += missed / ways_;
    else
      evict(line, missed);
    if (scale_ < kTiny || scale_ > 1 / kTiny) {
      for (auto& each : raw_) each = std::max(0.0, each * scale_ + offset_);
      scale_ = 1, offset_ = 0;
    }
    raw_[line] = -offset_ / scale_;
  }
  /// `line` comes in: what the victim may be, by the tilt.
  void evict(std::uint32_t line, double missed) {
    work(raw_.size() / 8);
    std::vector<double> odds(raw_.size(), 1);
    auto half = (raw_.size() - 1) / 2;
    for (auto each = recency_.oldest(); half > 0; each = recency_.after(each)) {
      if (each != line) odds[each] = tilt_.older, --half;
    }
    if (last_in_ < odds.size()) odds[last_in_] *= tilt_.last;
    odds[line] = 0;
    double all = 0;
    for (const double each : odds) all += each;
    for (std::size_t each = 0; each < odds.size(); ++each) raw_[each] += missed * odds[each] / all / scale_;
    if (missed > 0.5) last_in_ = line;
  }
  void fill(std::uint32_t line) {
    if (!touched_[line]) touched_[line] = true, --left_;
    if (left_ > 0) return;
    phase_ = Phase::Settled;
    scale_ = 1, offset_ = 0, last_in_ = raw_.size();
    for (std::size_t each = 0; each < raw_.size(); ++each) raw_[each] = touched_[each] ? 0 : 1;
  }

  double ways_;
  Tilt tilt_;
  Phase phase_ = Phase::Settled;
  std::vector<double> raw_;  // a line's chance is raw times scale, plus offset
  double scale_ = 1, offset_ = 0;
  std::vector<bool> touched_;
  std::size_t left_ = 0;
  Recency recency_;
  std::size_t last_in_;
};

/// The accesses of a walk that are the same in each run: a point's runs follow each other, and walk the same lines.
template <class Each>
void each_access(const Walk& walk, Each each) {
  std::size_t cell = 0, next = 0;
  for (std::size_t t = 0; t < walk.traces.size(); ++t) {
    const auto& trace = walk.traces[t];
    if (t == 0 || trace.point != walk.traces[t - 1].point) cell = next;
    work(trace.missed.size() / 8);
    for (std::size_t i = 0; i < trace.missed.size(); ++i) {
      if (!trace.unsure[i]) each(t, i, cell + i);
    }
    next = std::max(next, cell + trace.missed.size());
  }
}

}  // namespace

namespace {

/// The forward algorithm at known rates of errors, through all traces, or until so many accesses are seen.
ChanceFit filtered(const Walk& walk, bool stale, const LookAlikes& rates, std::size_t most, const Tilt& tilt = {}) {
  ChanceFit fit;
  Absent absent(walk.lines, tilt);
  std::size_t judged = 0;
  const auto access = [&](std::uint32_t line, bool seen, bool missed) {
    work();
    const bool exact = !absent.is_unsettled();
    const double miss = absent.miss(line);
    const double as_hit = !seen ? 1 : missed ? rates.slow : 1 - rates.slow, as_miss = !seen ? 1 : missed ? 1 - rates.fast : rates.fast;
    const double likelihood = (1 - miss) * as_hit + miss * as_miss;
    absent.access(line, as_hit, as_miss, likelihood);
    if (!seen) return;
    fit.log_likelihood += std::log(likelihood) / model::kTemper;
    if (!exact) return;
    const double was_miss = miss * as_miss / likelihood;
    fit.expected.misses += was_miss, fit.expected.hits += 1 - was_miss;
    (missed ? fit.expected.slow : fit.expected.fast) += missed ? 1 - was_miss : was_miss;
  };
  for (const auto& trace : walk.traces) {
    if (trace.flood || stale)
      absent.others_are_in();
    else
      absent.empty();
    for (std::size_t i = 0; i < trace.warm; ++i) access(trace.lines[i], false, false);
    std::size_t window = 0, settles = 0;
    for (std::size_t i = 0; i < trace.missed.size(); ++i) {
      if (window < trace.windows.size() && trace.windows[window] == i) {
        settles = settled(trace, i, end_of_window(trace, window++), walk.lines, stale);
        if (i > 0) absent.any_one();  // of another launch, which came here by other chances
      }
      if (i == settles && absent.is_unsettled()) absent.any_one();
      access(trace.lines[trace.warm + i], !trace.unsure[i], trace.missed[i]);
      if (i % kBlock == kBlock - 1) fit.by_block.push_back(fit.log_likelihood);
    }
    fit.by_block.push_back(fit.log_likelihood);
    if ((judged += trace.missed.size()) > most) break;
  }
  return fit;
}

}  // namespace

ChanceFit fit_chance(const Walk& walk, bool stale) {
  // Expectation-maximisation, from few errors on: from many on, any miss may be one. Limits of computation: rounds, and accesses of each.
  constexpr int kRounds = 4;  // limit: of expectation and maximisation
  constexpr std::size_t kEnough = 50'000;  // limit: of the work
  LookAlikes rates{1e-4, 1e-4};
  for (int round = 0; round < kRounds; ++round) {
    const auto expected = filtered(walk, stale, rates, kEnough).expected;
    if (expected.judged() > 0) rates = {expected.slow_rate(), expected.fast_rate()};
  }
  auto fit = filtered(walk, stale, rates, ~std::size_t{0});
  fit.rates = rates, fit.stale = stale;
  // Both rates were fitted (Schwarz 1978).
  const double fitted = std::log(std::max(1.0, static_cast<double>(accesses_of(walk)) / model::kTemper));
  fit.log_likelihood -= fitted;
  for (auto& each : fit.by_block) each -= fitted;
  return fit;
}

Tilts tilts_of(const Walk& walk, const ChanceFit& fit) {
  constexpr std::size_t kEnough = 150'000;  // limit: accesses
  const double untilted = filtered(walk, fit.stale, fit.rates, kEnough).log_likelihood;
  std::vector<double> older, last;
  for (const double tilt : kTilts) {
    const double prior = -std::log(static_cast<double>(std::size(kTilts)));
    older.push_back(filtered(walk, fit.stale, fit.rates, kEnough, {tilt, 1}).log_likelihood - untilted + prior);
    last.push_back(filtered(walk, fit.stale, fit.rates, kEnough, {1, tilt}).log_likelihood - untilted + prior);
  }
  return {log_sum(older), log_sum(last)};
}

Evictions evictions_of(const Walk& walk, const ChanceFit& fit) {
  std::vector<History> histories;
  std::vector<std::vector<bool>> missed(walk.traces.size());
  const LookAlikes rates{std::min(fit.rates.slow, model::kLeastInterference), std::min(fit.rates.fast, model::kLeastInterference)};
  for (std::size_t t = 0; t < walk.traces.size(); ++t) {
    const auto& trace = walk.traces[t];
    missed[t] = trace.missed;
    for (std::size_t w = 0; w < trace.windows.size(); ++w) {
      const auto end = end_of_window(trace, w), begin = settled(trace, trace.windows[w], end, walk.lines, fit.stale);
      const bool cold = trace.warm + begin == 0 && !trace.flood && !fit.stale;
      for (const auto& clear :
           clear_stretches(std::span(trace.lines).subspan(trace.warm), missed[t], trace.unsure, begin, end, walk.lines, cold, rates)) {
        histories.push_back({{trace.lines.data() + trace.warm + clear.begin, clear.end - clear.begin},
                             &missed[t],
                             clear.begin,
                             cold && clear.begin == begin});
      }
    }
  }
  return follow_evictions(histories, walk.lines);
}

std::size_t accesses_of(const Walk& walk) {
  std::size_t cells = 0;
  each_access(walk, [&](std::size_t, std::size_t, std::size_t cell) { cells = std::max(cells, cell + 1); });
  return cells;
}

double log_of_own_rates(const Walk& walk) {
  std::vector<Cell> cells(accesses_of(walk));
  double misses = 0, all = 0;
  each_access(walk, [&](std::size_t t, std::size_t i, std::size_t cell) {
    ++cells[cell].trials, ++all;
    if (walk.traces[t].missed[i]) ++cells[cell].slow, ++misses;
  });
  return log_of_any_errors({all, misses, 0, 0}) + own_rates(cells) / model::kTemper;
}

std::vector<double> course_of_own_rates(const Walk& walk) {
  constexpr double kFromAll = 0.1;  // limit: trials that the rate of all counts for; the course only says when others are left behind
  std::vector<Cell> cells(accesses_of(walk));
  std::vector<double> by_block;
  double log = 0, misses = 0.5, all = 1;
  std::size_t trace = 0, block = 0;
  const auto close = [&](std::size_t t, std::size_t i) {
    for (; trace < t; ++trace, block = 0) {
      for (; block <= walk.traces[trace].missed.size() / kBlock; ++block) by_block.push_back(log);
    }
    for (; block < i / kBlock; ++block) by_block.push_back(log);
  };
  each_access(walk, [&](std::size_t t, std::size_t i, std::size_t at) {
    close(t, i);
    auto& cell = cells[at];
    const bool missed = walk.traces[t].missed[i];
    const double rate = (cell.slow + kFromAll * misses / all) / (cell.trials + kFromAll);
    log += std::log(missed ? rate : 1 - rate) / model::kTemper;
    ++cell.trials, ++all;
    if (missed) ++cell.slow, ++misses;
  });
  close(walk.traces.size(), 0);
  return by_block;
}

double recurring_errors(const Walk& walk, const std::vector<Bits>& hits) {
  const auto cells = accesses_of(walk);
  std::vector<Cell> slow(cells), fast(cells);
  each_access(walk, [&](std::size_t t, std::size_t i, std::size_t cell) {
    const bool hit = bit(hits[t], i);
    auto& each = hit ? slow[cell] : fast[cell];
    ++each.trials;
    each.slow += hit == walk.traces[t].missed[i] ? 1 : 0;
  });
  return (own_rates(slow) + own_rates(fast)) / model::kTemper;
}

}  // namespace gexp::infer::replacing
