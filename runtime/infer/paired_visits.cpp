// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/paired_visits.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>

#include "runtime/infer/address_bias.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/walks.h"
#include "runtime/infer/record_functions.h"

namespace gexp::infer {
namespace {

constexpr double kRounding = 1.0 / 6;  // fact: variance that whole ticks give to a difference of two
constexpr double kQuartile = 0.3186;   // fact: standard deviations within which a quarter of a normal distribution lies

template <class Add>
void visit_pairs(const records::Point& point, double outlier, std::size_t first_run, std::size_t runs, const Add& add) {
  if (!point.walk || point.walk->threads != 1 || point.walk->steps < 2) return;
  const auto repeated = repeated_sector_steps(*point.walk);
  for (auto r = first_run; r < std::min(first_run + runs, point.runs.size()); ++r) {
    const auto& run = point.runs[r];
    work(1 + run.ticks.size() / 16);
    for (std::size_t i = 0; i + 1 < run.ticks.size(); ++i) {
      if (repeated[i % repeated.size()] || !repeated[(i + 1) % repeated.size()]) continue;
      if (std::binary_search(run.windows.begin(), run.windows.end(), static_cast<std::uint32_t>(i + 1))) continue;  // another launch
      const double first = run.ticks[i], second = run.ticks[i + 1];
      if (first <= outlier && second <= outlier) add(i % repeated.size(), first - second);
    }
  }
}

/// Between two levels that scatter alike, `least` at least (a variance); infinite where one explains the values as well: by likelihood, and
/// which of the two each value has (classification likelihood, as in value_groups.h).
double border_of_two_levels(std::vector<double> values, double least) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double all = 0, squares = 0;
  for (const double value : values) all += value, squares += value * value;
  const auto spread = [least](double sum, double sum_of_squares, double n) { return sum_of_squares - sum * sum / n + n * least; };
  double most = model::kDecisive * model::kTemper + 1.5 * std::log(std::max(2.0, count)), border = INFINITY, sum = 0, sum_of_squares = 0;
  for (std::size_t k = 1; k < values.size(); ++k) {
    sum += values[k - 1], sum_of_squares += values[k - 1] * values[k - 1];
    const auto low = static_cast<double>(k), high = count - low;
    const double within = spread(sum, sum_of_squares, low) + spread(all - sum, squares - sum_of_squares, high);
    const double nats = count / 2 * std::log(spread(all, squares, count) / within) + low * std::log(low / count) + high * std::log(high / count);
    if (nats > most) most = nats, border = (values[k - 1] + values[k]) / 2;
  }
  return border;
}

/// By step of the walk, of all runs; no pairs where the step is no first visit.
std::vector<Excess> excess_by_step(const records::Point& point, double outlier) {
  std::vector<Excess> steps(point.walk ? static_cast<std::size_t>(point.walk->steps) : 0);
  visit_pairs(point, outlier, 0, point.runs.size(), [&](std::size_t step, double difference) { steps[step].add(difference); });
  return steps;
}

/// Mean of several points' means, and how a further one scatters about it: at least as their own errors say, and `least`. How points scatter beyond
/// those is known from few of them.
struct Level {
  double mean = 0, scatter = 0, freedom = 0;
  Level(const std::vector<Excess>& points, std::size_t begin, std::size_t end, double least = 0) {
    const auto count = static_cast<double>(end - begin);
    double errors = 0, squares = 0;
    for (auto i = begin; i < end; ++i) mean += points[i].mean() / count;
    for (auto i = begin; i < end; ++i) {
      squares += std::pow(points[i].mean() - mean, 2);
      errors += std::pow(points[i].error(), 2) / count;
    }
    freedom = std::max(1.0, count - 1);
    scatter = std::sqrt(std::max({errors, squares / freedom, least * least}) * (1 + 1 / count));
  }
  /// Chance that a point of this level lies so high, or higher.
  [[nodiscard]] double chance_of(double excess) const {
    return boost::math::cdf(boost::math::complement(boost::math::students_t(freedom), (excess - mean) / scatter));
  }
  /// How much less likely, as a natural logarithm, this is than the mean.
  [[nodiscard]] double log_against(double excess) const { return (freedom + 1) / 2 * std::log1p(std::pow((excess - mean) / scatter, 2) / freedom); }
};

/// By x, which is what stands after `over`; where several points share an x, their pairs are of one kind.
struct ExcessByX {
  std::vector<double> x;
  std::vector<Excess> excess;
  Dimension dimension{};
};

ExcessByX excess_by_x(const Context& context, const compiler::Formula& over) {
  ExcessByX points;
  std::map<double, Excess> by_x;
  for (std::size_t i = 0; i < context.table.points.size(); ++i) {
    const auto& point = context.table.points[i];
    if (point.runs.empty()) continue;
    const auto x = compiler::evaluate(over, scope_at(context, i));
    const auto* number = x ? x->get<Number>() : nullptr;
    if (!number) continue;
    points.dimension = number->dimension;
    const auto own = excess_of(point, context.classes.outlier(), 0, point.runs.size());
    auto& all = by_x[number->number];
    all.sum += own.sum, all.squares += own.squares, all.pairs += own.pairs;
  }
  for (const auto& [x, excess] : by_x) {
    if (excess.pairs > 1) points.x.push_back(x), points.excess.push_back(excess);
  }
  return points;
}

/// How much likelier some points are if each has a value of its own, above a level, than if they are of it.
double log_of_beyond(const std::vector<Excess>& points, const Level& level, std::size_t begin, std::size_t end) {
  double nats = 0;
  for (auto i = begin; i < end; ++i) {
    nats += (points[i].mean() > level.mean ? level.log_against(points[i].mean()) : 0) - std::log(static_cast<double>(points.size())) / 2;
  }
  return nats;
}

/// How points scatter that differ in nothing but their places: by neighbours (Rice 1984), of which the nearest quarter differ in no more.
double scatter_of_neighbours(const std::vector<Excess>& points) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < points.size(); ++i) steps.push_back(std::abs(points[i].mean() - points[i - 1].mean()));
  if (steps.empty()) return 0;
  const auto quarter = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 4);
  std::nth_element(steps.begin(), quarter, steps.end());
  return *quarter / (std::sqrt(2.0) * kQuartile);
}

/// How many of the points, at the least x, are of one level, and natural logarithms for that beside one level of all. Those beyond each have a
/// value of their own, a parameter each by BIC (Schwarz 1978): with x more of the visits miss, and further levels end.
std::pair<std::size_t, double> points_of_level(const std::vector<Excess>& points, double scatter) {
  std::pair<std::size_t, double> likeliest{0, 0};
  for (std::size_t k = 2; k < points.size(); ++k) {
    const Level level(points, 0, k, scatter);
    const double nats = log_of_beyond(points, level, k, points.size());
    if (nats > likeliest.second) likeliest = {k, nats};
  }
  return likeliest;
}

}  // namespace

double Excess::error() const { return std::sqrt((std::max(0.0, squares / pairs - mean() * mean()) + kRounding) / pairs); }

Excess excess_of(const records::Point& point, double outlier, std::size_t first_run, std::size_t runs) {
  Excess excess;
  visit_pairs(point, outlier, first_run, runs, [&](std::size_t, double difference) { excess.add(difference); });
  return excess;
}

std::vector<std::vector<bool>> missed_by_pairs(const records::Table& table, double outlier) {
  std::vector<std::vector<Excess>> steps;
  std::vector<double> values;
  for (const auto& point : table.points) {
    steps.push_back(excess_by_step(point, outlier));
    for (const auto& step : steps.back()) {
      if (step.pairs > 0) values.push_back(step.mean());
    }
  }
  const double border = border_of_two_levels(std::move(values), kRounding);
  if (std::isinf(border)) return {};
  std::vector<std::vector<bool>> missed;
  for (const auto& point : steps) {
    auto& own = missed.emplace_back();
    for (const auto& step : point) own.push_back(step.pairs > 0 && step.mean() > border);
  }
  return missed;
}

void RepeatedMisses::add(const records::Point& point, const MissRange& range) {
  if (!point.walk || point.walk->steps == 0) return;
  const auto repeated = repeated_sector_steps(*point.walk);
  const Misses missed(range, point);
  for (const auto& run : point.runs) {
    for (std::size_t i = 0; i < run.ticks.size(); ++i) {
      const bool near = repeated[i % repeated.size()];
      ++visits[near], misses[near] += missed(i, run.ticks[i]) ? 1 : 0;
    }
  }
}

bool RepeatedMisses::are_places(const MissRange& range) const { return visits[1] > 0 && model::is_no_accident(misses[1], visits[1], range); }

bool has_untold_misses(const records::Table& table, const Classes& classes) {
  std::vector<double> values;
  double errors = 0;
  const auto range = miss_range(table, classes);
  for (const auto& point : table.points) {
    if (point.runs.empty() || (range && count_misses(point, 0, point.runs.size(), *range) > 0)) continue;
    const auto excess = excess_of(point, classes.outlier(), 0, point.runs.size());
    if (excess.pairs > 1) values.push_back(excess.mean()), errors += std::pow(excess.error(), 2);
  }
  const auto count = static_cast<double>(values.size());
  return count > 2 && !std::isinf(border_of_two_levels(std::move(values), errors / count));
}

std::optional<PairedBorder> paired_border(const Context& context) {
  const auto* data = argument(context);
  if (!data || !data->over) return std::nullopt;
  const auto points = excess_by_x(context, *data->over);
  const double scatter = scatter_of_neighbours(points.excess);
  auto [count, nats] = points_of_level(points.excess, scatter);
  if (count == 0) return std::nullopt;
  const Level level(points.excess, 0, count, scatter);
  auto above = count;
  const auto is_above = [&](const Excess& excess) { return excess.mean() > level.mean && level.log_against(excess.mean()) >= model::kDecisive; };
  while (above < points.x.size() && !is_above(points.excess[above])) ++above;
  if (above == points.x.size()) return std::nullopt;
  if (log_of_beyond(points.excess, level, count, above) < 0) count = above;  // what lies between is no higher than the level
  PairedBorder border{points.x[count - 1], points.x[above], points.excess[above].mean() - level.mean, 1 / (1 + std::exp(-nats / model::kTemper)), std::nullopt, points.dimension};
  for (auto i = above; i < points.x.size() && !border.back; ++i) {
    if (level.chance_of(points.excess[i].mean()) >= model::kSameChance) border.back = points.x[i];
  }
  return border;
}

double log_of_fitting(const std::vector<Excess>& fitting, const Excess& other, double longer) {
  Level level(fitting, 0, fitting.size());
  level.scatter = std::hypot(level.scatter, other.error());
  const double fits = level.log_against(other.mean());
  level.mean += longer;
  return (other.mean() < level.mean ? level.log_against(other.mean()) : 0) - fits;
}

}  // namespace gexp::infer
