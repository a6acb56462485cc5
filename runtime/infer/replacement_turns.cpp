// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/replacement_turns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "runtime/infer/bit_basis.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"

namespace gexp::infer::replacing {
namespace {

constexpr std::size_t kMostBits = 16;      // limit: independent bits of the lines' numbers
constexpr std::size_t kMostMasks = 3;      // limit: masks of one bit that are gone on with
constexpr std::size_t kMostOrders = 12;    // limit: orders that are gone on with from bit to bit
constexpr std::size_t kMostTried = 4;      // limit: orders of so many bits that are followed through the walk
constexpr std::size_t kMostStarts = 16;    // limit: groups that a launch is tried to begin at
constexpr std::size_t kMostAlternatives = 12;  // limit: independent ways to write a mask, of which the shortest is taken

using Mask = std::uint64_t;

/// The lines of a trace that miss again, one after the other, from when all have been visited on: each was evicted for the one before.
std::vector<std::uint32_t> victims(const Trace& trace, std::size_t lines) {
  std::vector<bool> visited(lines);
  std::vector<std::uint32_t> found;
  std::size_t left = lines;
  for (std::size_t i = 0; i < trace.missed.size(); ++i) {
    const auto line = trace.lines[i];
    if (left == 0 && trace.missed[i]) found.push_back(line);
    if (!visited[line]) visited[line] = true, --left;
  }
  return found;
}

/// By what lines' numbers differ, in coordinates: a mask of coordinates is an exclusive or of number bits, each one once.
class Coordinates {
 public:
  explicit Coordinates(const std::vector<Mask>& numbers) {
    BitBasis span;
    for (const auto number : numbers) span.add(number ^ numbers[0]);
    for (const auto row : span.rows()) pivots_.push_back(std::bit_floor(row));
  }
  [[nodiscard]] std::size_t size() const { return pivots_.size(); }
  [[nodiscard]] Mask of(Mask number) const {
    Mask packed = 0;
    for (std::size_t i = 0; i < pivots_.size(); ++i) packed |= (number & pivots_[i]) != 0 ? Mask{1} << i : 0;
    return packed;
  }
  /// The mask of number bits that a mask of coordinates is.
  [[nodiscard]] Mask mask(Mask packed) const {
    Mask mask = 0;
    for (std::size_t i = 0; i < pivots_.size(); ++i) mask |= (packed >> i & 1) != 0 ? pivots_[i] : 0;
    return mask;
  }

 private:
  std::vector<Mask> pivots_;
};

/// One eviction after another: by what both lines differ, in coordinates, and the first of them.
struct Step {
  Mask differ, first;
};

/// Bits of the counter, found from the lowest one on.
struct Partial {
  std::vector<Mask> masks;  ///< of coordinates
  Mask flipped = 0;
  std::vector<bool> carry;  ///< by step: all bits so far are ones, so that the next one flips
  std::size_t wrong = 0;    ///< steps that a bit does not follow, of all bits together
};

/// How many more steps each mask follows than it does not, where a bit has to flip at those that `carry` says.
std::vector<std::int64_t> followed(const std::vector<Step>& steps, const std::vector<bool>& carry, std::size_t bits) {
  std::vector<std::int64_t> sums(std::size_t{1} << bits);
  work(sums.size() * bits / 32 + steps.size() / 8);
  for (std::size_t i = 0; i < steps.size(); ++i) sums[steps[i].differ] += carry[i] ? -1 : 1;
  for (std::size_t half = 1; half < sums.size(); half *= 2) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if ((i & half) != 0) continue;
      const auto one = sums[i], other = sums[i + half];
      sums[i] = one + other, sums[i + half] = one - other;
    }
  }
  return sums;
}

/// The order with one bit more, by the masks that the most steps follow. A mask, and its exclusive or with that of a bit that seldom flips,
/// differ in few steps: what comes next tells which it is.
void add_longer(const std::vector<Step>& steps, const Partial& order, std::size_t bits, std::vector<Partial>& longer) {
  BitBasis known;
  for (const auto mask : order.masks) known.add(mask);
  const auto sums = followed(steps, order.carry, bits);
  std::vector<std::pair<std::int64_t, Mask>> best;  // the best one last
  for (Mask mask = 1; mask < sums.size(); ++mask) {
    if (sums[mask] <= 0 || (best.size() == kMostMasks && sums[mask] <= best[0].first) || known.reduce(mask) == 0) continue;
    if (best.size() == kMostMasks) best.erase(best.begin());
    best.insert(std::upper_bound(best.begin(), best.end(), std::pair(sums[mask], Mask{0})), {sums[mask], mask});
  }
  for (const auto& [sum, mask] : best) {
    auto next = order;
    next.masks.push_back(mask);
    next.wrong += (steps.size() - static_cast<std::size_t>(sum)) / 2;
    longer.push_back(std::move(next));
  }
}

/// Which of the two parities is a one of the counter decides when the next bit flips.
Partial with_carry(Partial order, const std::vector<Step>& steps, bool flipped) {
  const auto bit = order.masks.size() - 1;
  if (flipped) order.flipped |= Mask{1} << bit;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool is_one = odd_parity(steps[i].first & order.masks[bit]) != flipped;
    order.carry[i] = order.carry[i] && is_one;
  }
  return order;
}

/// The orders of 1, 2, 3, … bits that the most steps follow, some of each.
std::vector<Partial> orders_of(const std::vector<Step>& steps, std::size_t bits) {
  std::vector<Partial> found, now{{{}, 0, std::vector<bool>(steps.size(), true), 0}};
  for (std::size_t depth = 0; depth < bits && !now.empty(); ++depth) {
    std::vector<Partial> next;
    for (const auto& order : now) add_longer(steps, order, bits, next);
    std::stable_sort(next.begin(), next.end(), [](const Partial& a, const Partial& b) { return a.wrong < b.wrong; });
    if (next.size() > kMostOrders) next.resize(kMostOrders);
    found.insert(found.end(), next.begin(), next.begin() + static_cast<std::ptrdiff_t>(std::min(next.size(), kMostTried)));
    now.clear();
    for (const auto& order : next) {
      for (const bool flipped : {false, true}) now.push_back(with_carry(order, steps, flipped));
    }
  }
  return found;
}

/// Values that the counter may have had at the beginning of a launch: those that victims agree with, the most first, and around that.
std::vector<std::uint32_t> likely_starts(const std::vector<std::uint32_t>& missed, const std::vector<std::uint32_t>& group,
                                         std::uint32_t groups) {
  std::map<std::uint32_t, std::size_t> votes;
  for (std::size_t i = 0; i < missed.size(); ++i) ++votes[(group[missed[i]] - static_cast<std::uint32_t>(i)) & (groups - 1)];
  std::vector<std::pair<std::size_t, std::uint32_t>> sorted;
  for (const auto& [start, agree] : votes) sorted.emplace_back(agree, start);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  // A miss of another cause shifts all that follow it by one.
  std::vector<std::uint32_t> starts;
  const auto add = [&](std::uint32_t start) {
    if (std::find(starts.begin(), starts.end(), start & (groups - 1)) == starts.end()) starts.push_back(start & (groups - 1));
  };
  add(sorted.empty() ? 0 : sorted[0].second);
  for (const auto& each : sorted) {
    if (starts.size() < kMostStarts) add(each.second);
  }
  for (const auto shift : {1u, groups - 1, 2u, groups - 2}) add(starts[0] + shift);
  return starts;
}

/// One order on its way through a walk.
class TurnsFollower {
 public:
  TurnsFollower(const Walk& walk, const std::vector<Seen>& seen, const std::vector<Mask>& numbers, TurnOrder order, const Reference& reference)
      : walk_(walk), seen_(seen), reference_(reference) {
    for (const auto number : numbers) group_.push_back(order.group(number));
    turns_.order = std::move(order);
  }
  /// nullopt: left behind by other hypotheses. `asked`: the traces that the order was found in. `best`: the best order's tempered
  /// log-likelihood after each trace, empty where there is none yet.
  std::optional<Turns> follow(const std::vector<bool>& asked, const std::vector<double>& best) {
    for (std::size_t t = 0; t < walk_.traces.size(); ++t) {
      const auto before = turns_.outcomes;
      if (!trace(t)) return std::nullopt;
      by_trace.push_back(replacing::log_likelihood(turns_.outcomes) + beginnings_);
      if (!best.empty() && by_trace[t] < best[t] - Reference::kBehind) return std::nullopt;
      const auto& now = turns_.outcomes;
      auto& unseen = turns_.unseen;
      if (asked[t]) continue;
      unseen.hits += now.hits - before.hits, unseen.slow += now.slow - before.slow;
      unseen.misses += now.misses - before.misses, unseen.fast += now.fast - before.fast;
    }
    turns_.log_likelihood = by_trace.back();
    return turns_;
  }

  std::vector<double> by_trace;  ///< its tempered log-likelihood after each

 private:
  struct Course {
    Outcomes outcomes;
    Bits hits;
    double log_likelihood = 0;
  };
  bool trace(std::size_t t) {
    std::optional<Course> best;
    std::vector<double> all;
    for (const auto start : likely_starts(victims(walk_.traces[t], walk_.lines), group_, turns_.order->groups())) {
      auto course = from(t, start, best);
      if (!course) continue;
      all.push_back(model::kTemper * course->log_likelihood);
      if (!best || course->log_likelihood > best->log_likelihood) best = std::move(course);
    }
    if (!best) return false;
    turns_.outcomes = best->outcomes;
    turns_.hits.push_back(std::move(best->hits));
    beginnings_ += (log_sum(all) - std::log(turns_.order->groups())) / model::kTemper - best->log_likelihood;
    return true;
  }
  std::optional<Course> from(std::size_t t, std::uint32_t start, const std::optional<Course>& best) {
    const auto& trace = walk_.traces[t];
    TurnsSet set(group_, turns_.order->groups(), start, turns_.order->late);
    Course course{turns_.outcomes, {}, 0};
    const auto& seen = seen_[t];
    for (std::size_t i = 0; i < trace.missed.size(); i += kBlock) {
      const auto block = i / kBlock, count = std::min(kBlock, trace.missed.size() - i);
      work(count);
      course.hits.push_back(0);
      for (std::size_t at = 0; at < count; ++at) course.hits.back() |= std::uint64_t{set.access(trace.lines[i + at])} << at;
      course.outcomes.add(course.hits.back(), seen.missed[block], seen.judged[block]);
      course.log_likelihood = replacing::log_likelihood(course.outcomes) + beginnings_;
      if (reference_.left_behind(reference_.block(t, i), course.log_likelihood)) return std::nullopt;
      if (best && course.log_likelihood < best->log_likelihood - Reference::kBehind) return std::nullopt;
    }
    return course;
  }

  const Walk& walk_;
  const std::vector<Seen>& seen_;
  const Reference& reference_;
  std::vector<std::uint32_t> group_;
  Turns turns_;
  double beginnings_ = 0;  // tempered nats that the choice of where launches begin took
};

/// Every second point, or, where there is one alone, every second launch.
std::vector<bool> half_of(const Walk& walk) {
  std::vector<bool> half;
  std::size_t points = 0;
  const bool one = walk.traces.front().point == walk.traces.back().point;
  for (std::size_t t = 0; t < walk.traces.size(); ++t) {
    points += t > 0 && walk.traces[t].point != walk.traces[t - 1].point ? 1 : 0;
    half.push_back((one ? t : points) % 2 == 0);
  }
  return half;
}

/// Why a walk cannot show turns; empty where it can.
std::string why_not_shown(const Walk& walk) {
  if (walk.traces.size() < 2) return "one launch leaves none to test an order on";
  for (const auto& trace : walk.traces) {
    if (trace.flood || trace.warm > 0) return "a launch is not recorded from an empty set on, and whose turn it is outlives launches";
    if (trace.windows.size() > 1) return "a walk is recorded by several launches, and whose turn it is outlives launches";
  }
  return {};
}

}  // namespace

std::uint32_t TurnOrder::group(Mask number) const {
  auto group = static_cast<std::uint32_t>(flipped);
  for (std::size_t i = 0; i < masks.size(); ++i) group ^= static_cast<std::uint32_t>(odd_parity(number & masks[i])) << i;
  return group;
}

TurnsSet::TurnsSet(const std::vector<std::uint32_t>& group, std::uint32_t groups, std::uint32_t counter, bool late)
    : group_(group), ways_(group.size() - 1), newer_(group.size() + groups), older_(newer_.size()), holds_(group.size()), groups_(groups),
      counter_(counter), late_(late) {
  for (std::uint32_t node = 0; node < newer_.size(); ++node) newer_[node] = older_[node] = node;
}

bool TurnsSet::access(std::uint32_t line) {
  const bool hit = holds_[line];
  if (!hit && !late_ && held_ == ways_) evict();
  if (hit) unlink(line);
  const auto ring = static_cast<std::uint32_t>(group_.size()) + group_[line];
  older_[line] = older_[ring], newer_[line] = ring;
  newer_[older_[line]] = line, older_[ring] = line;
  if (!hit) holds_[line] = true, ++held_;
  if (due_) evict();
  due_ = late_ && held_ > ways_;
  return hit;
}

void TurnsSet::unlink(std::uint32_t line) { newer_[older_[line]] = newer_[line], older_[newer_[line]] = older_[line]; }

void TurnsSet::evict() {
  for (bool found = false; !found; counter_ = (counter_ + 1) & (groups_ - 1)) {
    const auto ring = static_cast<std::uint32_t>(group_.size()) + counter_, oldest = newer_[ring];
    found = oldest != ring;
    if (!found) continue;
    unlink(oldest);
    holds_[oldest] = false, --held_;
  }
}

Turns fit_turns(const Walk& walk, const std::vector<Mask>& numbers, const Reference& reference) {
  Turns none;
  none.why_not = why_not_shown(walk);
  if (!none.why_not.empty()) return none;
  const Coordinates coordinates(numbers);
  const auto bits = coordinates.size();
  const auto half = half_of(walk);
  if (bits > kMostBits) return none.why_not = "more address bits vary than are searched", none;
  std::vector<Step> steps;
  for (std::size_t t = 0; t < walk.traces.size(); ++t) {
    if (!half[t]) continue;
    const auto missed = victims(walk.traces[t], walk.lines);
    for (std::size_t i = 0; i + 1 < missed.size(); ++i) {
      const auto one = coordinates.of(numbers[missed[i]]), other = coordinates.of(numbers[missed[i + 1]]);
      steps.push_back({one ^ other, one});
    }
  }
  const std::vector<Seen> seen(walk.traces.begin(), walk.traces.end());
  std::optional<Turns> best;
  std::vector<double> by_trace;
  for (const auto& found : orders_of(steps, bits)) {
    for (const bool late : {false, true}) {
      TurnOrder order{{}, found.flipped, late};
      for (const auto mask : found.masks) order.masks.push_back(coordinates.mask(mask));
      TurnsFollower follower(walk, seen, numbers, std::move(order), reference);
      auto turns = follower.follow(half, by_trace);
      if (!turns) continue;
      // How many bits, each one's mask and parity, and when lines leave.
      const auto count = static_cast<double>(found.masks.size()), all = static_cast<double>(bits);
      turns->log_description = -(count * (all + 1) + 1) * std::log(2) - std::log(all);
      const auto worth = [](const Turns& each) { return each.log_likelihood + each.log_description; };
      if (!best || worth(*turns) > worth(*best)) best = std::move(turns), by_trace = follower.by_trace;
    }
  }
  if (best) return *best;
  none.why_not = steps.size() < bits ? "too few lines were evicted one after the other" : "no order of turns predicts what misses";
  return none;
}

std::vector<Mask> by_fewest_bits(const std::vector<Mask>& masks, const std::vector<Mask>& numbers) {
  BitBasis span;
  Mask vary = 0;
  for (const auto number : numbers) span.add(number ^ numbers[0]), vary |= number ^ numbers[0];
  const auto same = span.annihilator(vary);
  std::vector<Mask> shortest;
  for (const auto mask : masks) {
    Mask best = mask;
    for (std::size_t chosen = 0; same.size() <= kMostAlternatives && chosen < std::size_t{1} << same.size(); ++chosen) {
      Mask other = mask;
      for (std::size_t i = 0; i < same.size(); ++i) other ^= (chosen >> i & 1) != 0 ? same[i] : 0;
      if (std::pair(std::popcount(other), other) < std::pair(std::popcount(best), best)) best = other;
    }
    shortest.push_back(best);
  }
  return shortest;
}

}  // namespace gexp::infer::replacing
