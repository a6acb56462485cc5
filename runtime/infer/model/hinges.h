// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "runtime/infer/model/regression.h"

namespace gexp::infer {

/// Regressions on functions that begin at some x: (x - k)+ bends there, [x > k] jumps. Sums over the points beyond each
/// x are kept, so that a regression takes as long for a million points as for ten.
class Hinges {
 public:
  explicit Hinges(const XyCurve& curve);

  /// Lines that meet at `bends` places, one or two.
  [[nodiscard]] CurveFit joined(std::size_t bends) const;
  [[nodiscard]] CurveFit line_with_step() const;
  [[nodiscard]] CurveFit parabola() const;
  [[nodiscard]] Profile profile() const;

 private:
  struct Tail {
    double n = 0, x = 0, xx = 0, y = 0, xy = 0;
  };
  [[nodiscard]] std::size_t beyond(double at) const;
  /// Squares left by lines that meet at these places, in scaled x; infinite where they cannot be told apart.
  [[nodiscard]] double squares(const std::vector<double>& bends) const;
  [[nodiscard]] double squares_of_step(std::size_t first) const;
  /// The place within the scaled x around `near` that leaves least beside the `others`.
  [[nodiscard]] double refined(std::size_t near, const std::vector<double>& others) const;
  [[nodiscard]] double best_beside(const std::vector<double>& others) const;
  /// The model of these columns, with the fit's own residuals.
  [[nodiscard]] CurveFit fit(const char* name, std::size_t parameters,
                             const std::vector<std::vector<double>>& columns) const;

  const XyCurve& curve_;
  double from_ = 0, width_ = 1, mean_ = 0, all_ = 0;  ///< of x; of y, and its sum of squares about it
  std::vector<double> x_, y_;                         ///< from 0 to 1; about the mean
  std::vector<Tail> tails_;                           ///< sums of the points from each on
};

}  // namespace gexp::infer
