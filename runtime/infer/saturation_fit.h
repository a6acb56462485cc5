// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

/// The shape of a throughput that rises with parallelism until something is full.
namespace gexp::infer {

/// Two asymptotes, y = slope * x and y = plateau, and how sharply one turns into the other.
struct Saturation {
  double plateau = 0, slope = 0;
  double knee = 0;            ///< the x at which the asymptotes meet: plateau / slope
  std::size_t rising = 0;     ///< points well below the knee: the first so many
  std::size_t flat = 0;       ///< points at the plateau: the last so many
  std::vector<double> model;  ///< logarithm of y, point by point
};

/// Fits log y = log(plateau) - log(1 + (knee / x)^m) / m, m from 1 (a hyperbola) to infinity (a corner), so that the absolute
/// deviations are least: noise of a throughput is a share of it, and wild points do not count by their size. Made for the x of one
/// curve, ascending and above 0, and used again for each resample of its y.
class SaturationModel {
 public:
  explicit SaturationModel(std::vector<double> x);
  [[nodiscard]] Saturation fit(const std::vector<double>& log_y) const;

 private:
  struct Shape {
    double knee = 0, sharpness = 0;
    std::vector<double> below;  ///< logarithm of y over plateau, point by point
  };
  std::vector<double> x_;
  std::vector<Shape> shapes_;  ///< sharpest first
};

}  // namespace gexp::infer
