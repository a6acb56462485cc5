// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/curve_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/infer/model/evidence.h"
#include "runtime/infer/statistics.h"

// Noise is what would make another y at the same x. Repetitions show it, but a simulated device repeats itself to the
// cycle, and then they are one observation, not many. So the noise has a floor that no repetition lowers: the tick of
// the clock, seen by asking what y would be with one tick more, and a share of the curve's height to which a textbook's
// curve is meant.
namespace gexp::infer {
namespace {

constexpr std::size_t kTickPoints = 3;  // limit: points at which a tick more is tried: the first, the middle one and the last

/// Of the median of a point's runs; nullopt where there is one run only.
std::optional<double> spread_of_runs(const Context& context, std::size_t point) {
  const auto runs = scope_at(context, point).by_run(*argument(context)->value);
  if (!runs) return std::nullopt;
  std::vector<double> values;
  for (const auto& value : *runs) {
    if (const auto* n = value.get<Number>()) values.push_back(n->number);
  }
  if (values.size() < 2) return std::nullopt;
  const double spread = values.size() == 2 ? std::fabs(values[0] - values[1]) / std::sqrt(2.0) : robust_spread(values);
  return 1.2533 * spread / std::sqrt(static_cast<double>(values.size()));  // of their median
}

/// What one tick more makes of y, as the deviation of a value rounded to that.
double tick_of(const Context& context, const std::vector<Curve::Sample>& samples) {
  auto later = context.table;
  double most = 0;
  for (std::size_t i = 0; i < kTickPoints; ++i) {
    const auto& sample = samples[i * (samples.size() - 1) / (kTickPoints - 1)];
    for (auto& run : later.points[sample.point].runs) {
      for (auto& tick : run.ticks) ++tick;
      if (run.elapsed > 0) run.elapsed += 1;
    }
    const auto y = compiler::evaluate(
        *argument(context)->value,
        PointScope(later, context.classes, sample.point, context.stage, context.outer, OneClass::Unknown));
    const auto* n = y ? y->get<Number>() : nullptr;
    if (n) most = std::max(most, std::fabs(n->number - sample.y));
    later.points[sample.point].runs = context.table.points[sample.point].runs;
  }
  return most / std::sqrt(12.0);
}

}  // namespace

/// Each x once; the spread of points that share one goes into the noise.
CurveData curve_data(const Context& context, std::string name, const std::vector<Curve::Sample>& samples) {
  CurveData data;
  data.name = std::move(name);
  data.points = samples.size();
  double squares = 0, shared = 0;
  for (std::size_t i = 0; i < samples.size();) {
    std::vector<double> ys;
    const double x = samples[i].x;
    for (; i < samples.size() && samples[i].x == x; ++i) ys.push_back(samples[i].y);
    data.curve.x.push_back(x);
    data.curve.y.push_back(median(ys));
    if (ys.size() < 2) continue;
    const double spread = ys.size() == 2 ? std::fabs(ys[0] - ys[1]) / std::sqrt(2.0) : robust_spread(ys);
    squares += spread * spread, ++shared;
  }
  const auto [low, high] = std::minmax_element(data.curve.y.begin(), data.curve.y.end());
  const double height = *high - *low;
  data.noise = measurement_noise(context, samples);
  auto& least = data.noise.least;
  least = std::sqrt((shared > 0 ? squares / shared : 0) + least * least + model::kTextbook * model::kTextbook * height * height);
  if (least <= 0) least = std::max(1e-12, 1e-9 * std::fabs(*high));
  data.noise.repeated = data.noise.repeated || 2 * shared >= static_cast<double>(data.curve.x.size());
  return data;
}

CurveNoise measurement_noise(const Context& context, const std::vector<Curve::Sample>& samples) {
  double squares = 0, repeated = 0;
  for (const auto& sample : samples) {
    const auto spread = spread_of_runs(context, sample.point);
    if (spread) squares += *spread * *spread, ++repeated;
  }
  const double tick = tick_of(context, samples);
  return {std::sqrt((repeated > 0 ? squares / repeated : 0) + tick * tick),
          2 * repeated >= static_cast<double>(samples.size())};
}

double textbook_noise(const Context& context, const std::vector<Curve::Sample>& samples, const std::vector<double>& y) {
  const auto [low, high] = std::minmax_element(y.begin(), y.end());
  const double noise = std::hypot(measurement_noise(context, samples).least, model::kTextbook * (*high - *low));
  return std::max(noise, 1e-9 * std::max({1e-3, std::fabs(*low), std::fabs(*high)}));
}

Result<CurvesData> curves_data(const Context& context) {
  const auto all = curve(context);
  if (!all) return all.error();
  CurvesData made;
  made.x_dimension = all->x_dimension, made.y_dimension = all->y_dimension;
  const auto& by = argument(context)->by;
  std::vector<std::pair<Value, std::vector<Curve::Sample>>> parts;
  for (const auto& sample : all->samples) {
    const auto& at = context.table.points[sample.point].at;
    const auto key = by.empty() ? at.end() : at.find(by);
    const Value value = key == at.end() ? Value() : key->second;
    auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.first == value; });
    if (part == parts.end()) part = parts.insert(parts.end(), {value, {}});
    part->second.push_back(sample);
  }
  for (const auto& [value, samples] : parts)
    made.curves.push_back(curve_data(context, by.empty() ? "" : fmt::format("{} = {}", by, show(value)), samples));
  return made;
}

}  // namespace gexp::infer
