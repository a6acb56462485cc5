// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/first_visits.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/infer/address_bias.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"

namespace gexp::infer {
namespace {

constexpr double kRounding = 1.0 / 6;  // fact: variance that whole ticks give to a difference of two

/// A mean of differences, and what it weighs: one over the square of its standard error.
struct Mean {
  double sum = 0, squares = 0, count = 0;
  void add(double value) { sum += value, squares += value * value, ++count; }
  [[nodiscard]] double value() const { return sum / count; }
  [[nodiscard]] double weight() const { return count / (std::max(0.0, squares / count - value() * value()) + kRounding); }
};

/// First visits of a point less the second ones just after them, in the same launch.
void add_differences(const records::Point& point, double outlier, Mean& mean) {
  if (!point.walk || point.walk->threads != 1 || point.walk->steps < 2) return;
  const auto repeated = repeated_sector_steps(*point.walk);
  for (const auto& run : point.runs) {
    work(1 + run.ticks.size() / 16);
    for (std::size_t i = 0; i + 1 < run.ticks.size(); ++i) {
      if (repeated[i % repeated.size()] || !repeated[(i + 1) % repeated.size()]) continue;
      if (std::binary_search(run.windows.begin(), run.windows.end(), static_cast<std::uint32_t>(i + 1))) continue;
      const double first = run.ticks[i], second = run.ticks[i + 1];
      if (first <= outlier && second <= outlier) mean.add(first - second);
    }
  }
}

/// What several means have in common.
struct Level {
  double weight = 0, weighted = 0;
  void add(const Mean& mean) { weight += mean.weight(), weighted += mean.weight() * mean.value(); }
  [[nodiscard]] double value() const { return weighted / weight; }
};

}  // namespace

std::optional<SlowerFirstVisits> slower_first_visits(const Context& context, const Curve& curve, const std::vector<double>& quiet) {
  std::map<double, Mean> by_x;
  const double outlier = context.classes.outlier();
  for (const auto& sample : curve.samples) {
    if (std::find(quiet.begin(), quiet.end(), sample.x) != quiet.end()) add_differences(context.table.points[sample.point], outlier, by_x[sample.x]);
  }
  std::vector<std::pair<double, Mean>> means;
  for (const double x : quiet) {
    if (const auto at = by_x.find(x); at != by_x.end() && at->second.count > 1) means.emplace_back(x, at->second);
  }
  std::optional<SlowerFirstVisits> best;
  double most = model::kDecisive + std::log(std::max<std::size_t>(1, means.size()));
  for (std::size_t cut = 1; cut < means.size(); ++cut) {
    Level before, after;
    for (std::size_t i = 0; i < means.size(); ++i) (i < cut ? before : after).add(means[i].second);
    const double rise = after.value() - before.value();
    const double nats = 0.5 * rise * rise / (1 / before.weight + 1 / after.weight) / model::kTemper;
    if (rise > 0 && nats > most) most = nats, best = SlowerFirstVisits{means[cut].first, rise};
  }
  return best;
}

}  // namespace gexp::infer
