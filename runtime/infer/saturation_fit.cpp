// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/saturation_fit.h"

#include <algorithm>
#include <cmath>

#include "runtime/infer/statistics.h"

// Few requests under way are each answered after the same latency, so throughput rises in proportion to their number; many wait for
// the slowest part, which gives the plateau. Between the two a real device turns gradually, as requests happen to meet or not. The
// asymptotes do not depend on how gradually, so they are fitted with the sharpness left open, over a grid: a search by steps could
// stop in a local minimum. The grid says which points rise and which are flat; from these alone come slope and plateau.
namespace gexp::infer {
namespace {

constexpr double kGrid = 0.03;         // of the knee, between neighbours
constexpr double kWorthIt = 0.97;      // a gentler turn must leave less than that of a sharper one's deviations
constexpr double kRising = 0.8;        // of the knee: below it a point shows the slope
constexpr double kFlat = 0.95;         // of the plateau: above it a point shows the plateau
constexpr double kSharpness[] = {INFINITY, 8, 4, 3, 2, 1.5, 1};

double below_plateau(double x, double knee, double sharpness) {
  const double part = std::log(x / knee);
  return std::isinf(sharpness) ? std::min(0.0, part) : -std::log1p(std::exp(-sharpness * part)) / sharpness;
}

}  // namespace

SaturationModel::SaturationModel(std::vector<double> x) : x_(std::move(x)) {
  const double low = std::log(x_.front() / 2), high = std::log(x_.back() * 2);
  const int steps = static_cast<int>(std::ceil((high - low) / kGrid));
  for (const double sharpness : kSharpness) {
    for (int i = 0; i <= steps; ++i) {
      Shape shape{std::exp(low + (high - low) * i / steps), sharpness, {}};
      for (const double at : x_) shape.below.push_back(below_plateau(at, shape.knee, sharpness));
      shapes_.push_back(std::move(shape));
    }
  }
}

Saturation SaturationModel::fit(const std::vector<double>& log_y) const {
  std::vector<double> apart(log_y.size());
  const Shape* best = nullptr;
  double least = INFINITY, sharpest_least = INFINITY, best_level = 0, sharpness = 0;
  for (const auto& shape : shapes_) {
    if (shape.sharpness != sharpness) sharpness = shape.sharpness, sharpest_least = std::min(sharpest_least, least);
    for (std::size_t i = 0; i < apart.size(); ++i) apart[i] = log_y[i] - shape.below[i];
    const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
    std::nth_element(apart.begin(), middle, apart.end());
    const double level = *middle;
    double deviations = 0;
    for (const double value : apart) deviations += std::fabs(value - level);
    if (deviations >= std::min(least, kWorthIt * sharpest_least)) continue;
    least = deviations, best = &shape, best_level = level;
  }

  Saturation found;
  std::vector<double> slopes, levels;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    if (x_[i] < kRising * best->knee) slopes.push_back(log_y[i] - best->below[i] - best_level), ++found.rising;
    if (best->below[i] >= std::log(kFlat)) levels.push_back(log_y[i] - best->below[i]), ++found.flat;
  }
  const double level = levels.empty() ? best_level : median(std::move(levels));
  const double offset = slopes.empty() ? 0 : median(std::move(slopes));
  found.plateau = std::exp(level);
  found.slope = std::exp(best_level + offset) / best->knee;
  found.knee = found.plateau / found.slope;
  for (const double at : x_) found.model.push_back(level + below_plateau(at, found.knee, best->sharpness));
  return found;
}

}  // namespace gexp::infer
