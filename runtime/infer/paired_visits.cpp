// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/paired_visits.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/infer/address_bias.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/walks.h"
#include "runtime/infer/record_functions.h"

namespace gexp::infer {
namespace {


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

/// Of addresses that a lap visits once, each by its mean, what they take beyond second visits.
Excess excess_of_others(const records::Point& point, double outlier) {
  Excess others, second;
  if (!point.walk || point.walk->threads != 1 || point.walk->steps < 2) return others;
  const auto repeated = repeated_sector_steps(*point.walk);
  std::vector<Excess> steps(repeated.size());
  for (const auto& run : point.runs) {
    work(1 + run.ticks.size() / 16);
    for (std::size_t i = 0; i < run.ticks.size(); ++i) {
      const auto step = i % repeated.size();
      if (run.ticks[i] > outlier || (!repeated[step] && repeated[(step + 1) % repeated.size()])) continue;
      (repeated[step] ? second : steps[step]).add(run.ticks[i]);
    }
  }
  for (const auto& step : steps) {
    if (step.pairs > 0 && second.pairs > 0) others.add(step.mean() - second.mean());
  }
  return others;
}

/// By x, which is what stands after `over`; where several points share an x, their pairs are of one kind.
struct ExcessByX {
  std::vector<double> x;
  std::vector<Excess> excess;
  Dimension dimension{};
};

/// `excess_at`: of a point, without what is slower than the outlier.
template <class ExcessAt>
ExcessByX excess_by_x(const Context& context, const compiler::Formula& over, const ExcessAt& excess_at) {
  ExcessByX points;
  std::map<double, Excess> by_x;
  for (std::size_t i = 0; i < context.table.points.size(); ++i) {
    const auto& point = context.table.points[i];
    if (point.runs.empty()) continue;
    const auto x = compiler::evaluate(over, scope_at(context, i));
    const auto* number = x ? x->get<Number>() : nullptr;
    if (!number) continue;
    points.dimension = number->dimension;
    const Excess own = excess_at(point, context.classes.outlier());
    auto& all = by_x[number->number];
    all.sum += own.sum, all.squares += own.squares, all.pairs += own.pairs;
  }
  for (const auto& [x, excess] : by_x) {
    if (excess.pairs > 1) points.x.push_back(x), points.excess.push_back(excess);
  }
  return points;
}

}  // namespace

Excess excess_of(const records::Point& point, double outlier, std::size_t first_run, std::size_t runs) {
  Excess excess;
  visit_pairs(point, outlier, first_run, runs, [&](std::size_t, double difference) { excess.add(difference); });
  return excess;
}

std::optional<double> others_rise(const Context& context, const PairedBorder& border) {
  const auto* data = argument(context);
  if (!data || !data->over) return std::nullopt;
  const auto [x, excess, dimension] = excess_by_x(context, *data->over, excess_of_others);
  for (std::size_t i = 2; i < x.size() && x[i] <= border.last; ++i) {
    const std::vector<Excess> before(excess.begin(), excess.begin() + static_cast<std::ptrdiff_t>(i));
    const model::Level level(excess, 0, i, model::scatter_of_neighbours(before));
    if (excess[i].mean() - level.mean() >= border.ticks / 2 && level.log_against(excess[i]) >= model::kDecisive) return x[i];
  }
  return std::nullopt;
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
  const double border = border_of_two_levels(std::move(values), model::kRounding);
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
  const auto all_runs = [](const records::Point& point, double outlier) { return excess_of(point, outlier, 0, point.runs.size()); };
  const auto points = excess_by_x(context, *data->over, all_runs);
  const double beyond = model::scatter_of_neighbours(points.excess);
  auto [count, nats] = model::points_of_level(points.excess, beyond);
  if (count == 0) return std::nullopt;
  const model::Level level(points.excess, 0, count, beyond);
  auto above = count;
  const auto is_above = [&](const Excess& excess) { return excess.mean() > level.mean() && level.log_against(excess) >= model::kDecisive; };
  while (above < points.x.size() && !is_above(points.excess[above])) ++above;
  if (above == points.x.size()) return std::nullopt;
  PairedBorder border{.level = level.mean(), .above = points.x[above], .ticks = points.excess[above].mean() - level.mean(),
                      .confidence = 1 / (1 + std::exp(-nats / model::kTemper)), .back = std::nullopt, .dimension = points.dimension};
  // What lies between may be no higher than the level, and may be beyond it.
  border.last = points.x[(model::log_of_beyond(points.excess, level, count, above) < 0 ? above : count) - 1];
  double most = border.ticks;  // with more and more x, more and more of the visits miss
  for (auto i = above; i < points.x.size(); ++i) most = std::max(most, points.excess[i].mean() - level.mean());
  border.sure = points.x[model::first_in_doubt(points.excess, level, count, most, model::kSurest) - 1];
  for (auto i = above; i < points.x.size() && !border.back; ++i) {
    // Of the level as far as scatter tells, or nearer to it than to what the border shows.
    const bool nearer = points.excess[i].mean() - level.mean() < border.ticks / 2;
    if (nearer || level.chance_of(points.excess[i]) >= model::kSameChance) border.back = points.x[i];
  }
  return border;
}

double log_of_fitting(const std::vector<Excess>& fitting, const Excess& other, double longer) {
  const model::Level level(fitting, 0, fitting.size());
  return (other.mean() < level.mean() + longer ? level.log_against(other, longer) : 0) - level.log_against(other);
}

}  // namespace gexp::infer
