// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numbers>

namespace gexp::infer {

double poisson_at_least(double count, double mean) {
  if (count <= 0) return 1;
  return mean <= 0 ? 0 : boost::math::gamma_p(count, mean);
}

double poisson_at_most(double count, double mean) {
  return mean <= 0 ? 1 : boost::math::gamma_q(count + 1, mean);
}

double poisson_beyond(double mean, double chance) {
  double count = 1;
  while (poisson_at_least(count, mean) >= chance) ++count;
  return count;
}

double share_at_least(double count, double all, double share) {
  return count <= 0 ? 1 : boost::math::ibeta(count, all - count + 1, share);
}

double normal_share_beyond(double deviations) { return std::erfc(deviations / std::numbers::sqrt2) / 2; }

double chi_square_above(double value, double freedom) {
  return freedom <= 0 || value <= 0 ? 1 : boost::math::gamma_q(freedom / 2, value / 2);
}

double student_95(double freedom) {
  return boost::math::quantile(boost::math::students_t(std::max(1.0, freedom)), 0.975);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double robust_spread(std::vector<double> values) {
  const double middle = median(values);
  for (auto& value : values) value = std::fabs(value - middle);
  return 1.4826 * median(std::move(values));
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median_slope(const std::vector<std::pair<double, double>>& points) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      if (points[j].first != points[i].first) slopes.push_back((points[j].second - points[i].second) / (points[j].first - points[i].first));
    }
  }
  return median(std::move(slopes));
}

std::vector<double> Bootstrap::draw(const std::vector<double>& values) {
  std::vector<double> drawn;
  drawn.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) drawn.push_back(values[index(values.size())]);
  return drawn;
}

}  // namespace gexp::infer
