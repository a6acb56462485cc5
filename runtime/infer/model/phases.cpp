// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/phases.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/statistics.h"

namespace gexp::infer::model {
namespace {

constexpr std::size_t kFirst = 1024;   // limit: accesses by which all intervals are tried; all of them sharpen the likeliest
constexpr std::size_t kLikeliest = 4;  // limit: intervals that are made precise
// A clock drifts by some of them.
constexpr int kSteps = 20;  // limit: half phases that the last access is off at most, where twice as many are taken

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) ranks[order[k]] = static_cast<double>(i + end - 1) / 2 / static_cast<double>(values.size());
    i = end;
  }
  return ranks;
}

/// Ranks by phase: normal about each phase's mean, beside normal about one mean.
Recurring folded(const std::vector<double>& began, const std::vector<double>& ranks, std::size_t count, double interval) {
  work(count / 8);
  Recurring answer{.interval = interval, .gain = 0, .rarest = 0, .took = {}};
  std::array<double, kPhases> number{};
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto phase = phase_of(began[i], interval);
    answer.took[phase] += ranks[i], number[phase] += 1;
    sum += ranks[i], squares += ranks[i] * ranks[i];
  }
  const auto n = static_cast<double>(count);
  const double whole = squares - sum * sum / n;
  double explained = -sum * sum / n;
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    if (number[phase] <= 0) continue;
    explained += answer.took[phase] * answer.took[phase] / number[phase];
    answer.took[phase] /= number[phase];
  }
  answer.rarest = *std::min_element(number.begin(), number.end()) * static_cast<double>(kPhases) / n;
  if (whole <= 0) return answer;
  answer.gain = -n / 2 * std::log(std::max(1e-9, 1 - explained / whole)) - static_cast<double>(kPhases - 1) / 2 * std::log(n);
  return answer;
}

/// Adds one to the few likeliest, of which none is within 2 % of another.
void keep_likeliest(std::vector<Recurring>& likely, const Recurring& one) {
  const auto near = std::find_if(likely.begin(), likely.end(),
                                 [&](const auto& other) { return std::abs(other.interval / one.interval - 1) < 0.02; });
  if (near != likely.end()) {
    if (one.gain > near->gain) *near = one;
    return;
  }
  likely.push_back(one);
  const auto less = [](const auto& a, const auto& b) { return a.gain < b.gain; };
  if (likely.size() > kLikeliest) likely.erase(std::min_element(likely.begin(), likely.end(), less));
}

/// The interval by all accesses, near to one that was told by the first of them.
Recurring sharpened(const std::vector<double>& began, const std::vector<double>& ranks, double interval) {
  Recurring best{.interval = interval};
  for (auto count = std::min(kFirst, began.size());; count = std::min(2 * count, began.size())) {
    const double step = best.interval * best.interval / (began[count - 1] - began.front()) / (2.0 * kPhases), from = best.interval;
    best.gain = -INFINITY;
    for (int k = -kSteps; k <= kSteps; ++k) {
      const auto now = folded(began, ranks, count, from + k * step);
      if (now.gain > best.gain) best = now;
    }
    if (count == began.size()) return best;
  }
}

}  // namespace

std::size_t phase_of(double time, double interval) {
  const double turns = time / interval;
  return std::min(kPhases - 1, static_cast<std::size_t>((turns - std::floor(turns)) * static_cast<double>(kPhases)));
}

Recurring find_interval(const std::vector<double>& began, const std::vector<double>& took) {
  const auto ranks = ranks_of(took);
  const auto first = std::min(kFirst, began.size());
  const double time = began[first - 1] - began.front();
  // From one interval to the next the last access moves by a phase.
  std::vector<Recurring> likely;
  double tried = 0;
  std::vector<double> distances;
  for (std::size_t i = 1; i < first; ++i) distances.push_back(began[i] - began[i - 1]);
  const double shortest = std::max(1.0, median(std::move(distances)));
  for (double interval = shortest; interval < time / 16; interval += interval * interval / time / kPhases, ++tried)
    keep_likeliest(likely, folded(began, ranks, first, interval));
  // An event that recurs is as regular at two or three of its intervals, and few accesses may show that better.
  std::vector<double> intervals;
  for (const auto& one : likely) {
    for (const double part : {1.0, 2.0, 3.0, 4.0}) {
      if (one.interval / part >= shortest) intervals.push_back(one.interval / part);
    }
  }
  std::vector<Recurring> sharp;
  for (const double interval : intervals) sharp.push_back(sharpened(began, ranks, interval));
  double most = 0;
  for (const auto& one : sharp) most = std::max(most, one.gain);
  // Of two that tell as much the shorter one: the other is a multiple of it.
  Recurring best;
  for (const auto& one : sharp) {
    if (one.gain > 0 && one.gain >= most - kTemper * kDecisive && (best.gain <= 0 || one.interval < best.interval)) best = one;
  }
  best.gain = std::max(0.0, best.gain - std::log(std::max(1.0, tried)));
  return best;
}

}  // namespace gexp::infer::model
