// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/flat_level.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace gexp::infer::model {
namespace {

constexpr double kQuartile = 0.3186;  // fact: standard deviations within which a quarter of a normal distribution lies

}  // namespace

double MeanDifference::error() const { return std::sqrt((std::max(0.0, squares / pairs - mean() * mean()) + kRounding) / pairs); }

Level::Level(const std::vector<MeanDifference>& points, std::size_t begin, std::size_t end, double least) {
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

double Level::chance_of(double difference) const {
  return boost::math::cdf(boost::math::complement(boost::math::students_t(freedom), (difference - mean) / scatter));
}

double Level::log_against(double difference) const {
  return (freedom + 1) / 2 * std::log1p(std::pow((difference - mean) / scatter, 2) / freedom);
}

double log_of_beyond(const std::vector<MeanDifference>& points, const Level& level, std::size_t begin, std::size_t end) {
  double nats = 0;
  for (auto i = begin; i < end; ++i) {
    nats += (points[i].mean() > level.mean ? level.log_against(points[i].mean()) : 0) - std::log(static_cast<double>(points.size())) / 2;
  }
  return nats;
}

double scatter_of_neighbours(const std::vector<MeanDifference>& points) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < points.size(); ++i) steps.push_back(std::abs(points[i].mean() - points[i - 1].mean()));
  if (steps.empty()) return 0;
  const auto quarter = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 4);
  std::nth_element(steps.begin(), quarter, steps.end());
  return *quarter / (std::sqrt(2.0) * kQuartile);
}

std::pair<std::size_t, double> points_of_level(const std::vector<MeanDifference>& points, double scatter) {
  std::size_t count = 0;
  double most = 0, own = 0;  // own: of the points from k on
  for (std::size_t k = points.size(); k-- > 2;) {
    own += log_of_beyond(points, Level(points, 0, k, scatter), k, k + 1);
    if (own > most) most = own, count = k;
  }
  return {count, count == 0 ? 0 : log_of_beyond(points, Level(points, 0, count, scatter), count, points.size())};
}

}  // namespace gexp::infer::model
