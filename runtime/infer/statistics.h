// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

/// The few distributions and robust statistics that the analyses argue with.
namespace gexp::infer {

/// Chance that a Poisson variable of this mean is at least `count`.
double poisson_at_least(double count, double mean);
/// Chance that a Poisson variable of this mean is at most `count`.
double poisson_at_most(double count, double mean);
/// The least count whose chance under this mean is below `chance`.
double poisson_beyond(double mean, double chance);
/// Chance that this many of all events fall into a sample of this share of all trials, or more, when one rate rules everywhere.
double share_at_least(double count, double all, double share);
/// Share of normal values that lie more than so many standard deviations below their mean; above it, if negative.
double normal_share_beyond(double deviations);
/// Chance that chi-square with so many degrees of freedom is larger.
double chi_square_above(double value, double freedom);
/// Half the width of a 95 % interval of a mean of few values, in their standard errors (Student).
double student_95(double freedom);

double median(std::vector<double> values);
/// The usual distance from the median, scaled to be the standard deviation where the values are normal; a few wild ones do not move it.
double robust_spread(std::vector<double> values);
/// The value below which this share of the values lies, straight between neighbours. The values are sorted and not empty.
double quantile(const std::vector<double>& sorted, double share);
/// The median of the slopes between all pairs of points (Theil and Sen): up to 29 % of wild points do not move it.
double median_slope(const std::vector<std::pair<double, double>>& points);

/// Draws with replacement, the same in every run and on every machine (Efron's bootstrap).
class Bootstrap {
 public:
  explicit Bootstrap(std::uint64_t seed) : engine_(seed) {}
  /// Below `size`, which is not 0.
  std::size_t index(std::size_t size) { return static_cast<std::size_t>(engine_() % size); }
  /// As many values as there are, each one of them.
  std::vector<double> draw(const std::vector<double>& values);

 private:
  std::mt19937_64 engine_;
};

}  // namespace gexp::infer
