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

Level::Level(const std::vector<MeanDifference>& points, std::size_t begin, std::size_t end, double beyond) {
  double weights = 0, squares = 0;
  const auto weight = [](const MeanDifference& point) { return std::pow(point.error(), -2); };
  for (auto i = begin; i < end; ++i) weights += weight(points[i]), mean_ += weight(points[i]) * points[i].mean();
  mean_ /= weights, variance_of_mean_ = 1 / weights;
  for (auto i = begin; i < end; ++i) squares += weight(points[i]) * std::pow(points[i].mean() - mean_, 2);
  freedom_ = static_cast<double>(end - begin);  // of the points, less one for the mean, and one for what neighbours say
  times_ = std::max(1.0, (1 + beyond * beyond * weights / freedom_ + squares) / freedom_);
}

double Level::scatter_of(const MeanDifference& point) const {
  return std::sqrt(times_ * (std::pow(point.error(), 2) + variance_of_mean_));
}

double Level::chance_of(const MeanDifference& point, double longer) const {
  return boost::math::cdf(boost::math::complement(boost::math::students_t(freedom_), (point.mean() - mean_ - longer) / scatter_of(point)));
}

double Level::log_against(const MeanDifference& point, double longer) const {
  return (freedom_ + 1) / 2 * std::log1p(std::pow((point.mean() - mean_ - longer) / scatter_of(point), 2) / freedom_);
}

double Level::odds_of_above(const MeanDifference& point, double most) const {
  const boost::math::students_t scatter(freedom_);
  const double of_level = boost::math::pdf(scatter, (point.mean() - mean_) / scatter_of(point)) / scatter_of(point);
  return (chance_of(point, most) - chance_of(point)) / most / of_level;
}

std::size_t first_in_doubt(const std::vector<MeanDifference>& points, const Level& level, std::size_t count, double most, double confidence) {
  std::vector<double> odds{1};  // that the last 0, 1, 2, … points lie beyond
  double all = 1;
  for (auto i = count; i-- > 1;) {
    odds.push_back(odds.back() * level.odds_of_above(points[i], most));
    all += odds.back();
  }
  double beyond = 0;
  std::size_t doubted = odds.size();
  while (doubted > 1 && (beyond + odds[doubted - 1]) / all < 1 - confidence) beyond += odds[--doubted];
  return count - (doubted - 1);
}

double log_of_beyond(const std::vector<MeanDifference>& points, const Level& level, std::size_t begin, std::size_t end) {
  double nats = 0;
  for (auto i = begin; i < end; ++i) {
    nats += (points[i].mean() > level.mean() ? level.log_against(points[i]) : 0) - std::log(static_cast<double>(points.size())) / 2;
  }
  return nats;
}

double scatter_of_neighbours(const std::vector<MeanDifference>& points) {
  std::vector<double> variances;  // that would put a pair of neighbours at the quarter
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double step = (points[i].mean() - points[i - 1].mean()) / kQuartile;
    variances.push_back((step * step - std::pow(points[i].error(), 2) - std::pow(points[i - 1].error(), 2)) / 2);
  }
  if (variances.empty()) return 0;
  const auto quarter = variances.begin() + static_cast<std::ptrdiff_t>(variances.size() / 4);
  std::nth_element(variances.begin(), quarter, variances.end());
  return std::sqrt(std::max(0.0, *quarter));
}

std::pair<std::size_t, double> points_of_level(const std::vector<MeanDifference>& points, double beyond) {
  std::size_t count = 0;
  double most = 0, own = 0;  // own: of the points from k on
  for (std::size_t k = points.size(); k-- > 2;) {
    own += log_of_beyond(points, Level(points, 0, k, beyond), k, k + 1);
    if (own > most) most = own, count = k;
  }
  return {count, count == 0 ? 0 : log_of_beyond(points, Level(points, 0, count, beyond), count, points.size())};
}

}  // namespace gexp::infer::model
