// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

/// Means of many differences of ticks, point by point: which of them are of one level, and which lie beyond it.
namespace gexp::infer::model {

constexpr double kRounding = 1.0 / 6;  // fact: variance that whole ticks give to a difference of two

constexpr double kHalfTick = 0.5;  // fact: by so much whole ticks are rounded

/// Mean and standard error of differences, in ticks.
struct MeanDifference {
  double sum = 0, squares = 0, pairs = 0;
  void add(double difference, double times = 1) { sum += times * difference, squares += times * difference * difference, pairs += times; }
  [[nodiscard]] double mean() const { return sum / pairs; }
  [[nodiscard]] double error() const;
};

/// The level of several points: each weighs as it is known. How much more than their own errors say points scatter about it, these show, and
/// what neighbours scatter `beyond` theirs counts as one of them (scaled inverse chi-squared prior, Gelman et al. 2013).
class Level {
 public:
  Level(const std::vector<MeanDifference>& points, std::size_t begin, std::size_t end, double beyond = 0);
  [[nodiscard]] double mean() const { return mean_; }
  /// Chance that this point, if it is of a level `longer` ticks above this one, lies so high, or higher.
  [[nodiscard]] double chance_of(const MeanDifference& point, double longer = 0) const;
  /// How much less likely, as a natural logarithm, this point is of a level `longer` ticks above this one than one that lies on it.
  [[nodiscard]] double log_against(const MeanDifference& point, double longer = 0) const;
  /// How many times likelier this point is if it lies anywhere up to `most` ticks above the level than if it is of it.
  [[nodiscard]] double odds_of_above(const MeanDifference& point, double most) const;

 private:
  double mean_ = 0, variance_of_mean_ = 0, times_ = 1, freedom_ = 1;  ///< times: what variances are more than told
  [[nodiscard]] double scatter_of(const MeanDifference& point) const;
};

/// The first of the level's points, of `count`, that may lie beyond it: all before it are of the level with this confidence. Points beyond lie up
/// to `most` ticks higher, and whatever comes after one of them lies beyond, too.
std::size_t first_in_doubt(const std::vector<MeanDifference>& points, const Level& level, std::size_t count, double most, double confidence);

/// How much likelier, as a natural logarithm, some points are if each has a value of its own, above a level, than if they are of it.
double log_of_beyond(const std::vector<MeanDifference>& points, const Level& level, std::size_t begin, std::size_t end);

/// How points scatter beyond their own errors, that differ in nothing but their places: by neighbours (Rice 1984), of which the nearest quarter
/// differ in no more. A standard deviation.
double scatter_of_neighbours(const std::vector<MeanDifference>& points);

/// How many of the points, the first ones, are of one level, and natural logarithms for that beside one level of all; 0 and 0 where all
/// are. Those beyond each have a value of their own, a parameter each by BIC (Schwarz 1978): with x more of the visits miss, and further levels
/// end. A level predicts each of its points by those before it (prequential, Dawid 1984), so one that fits it badly is beyond it.
std::pair<std::size_t, double> points_of_level(const std::vector<MeanDifference>& points, double beyond);

}  // namespace gexp::infer::model
