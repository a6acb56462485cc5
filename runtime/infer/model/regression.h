// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

/// Textbook models of a curve, each fitted by least squares. What one of them is worth beside the others says
/// model_choice.h.
namespace gexp::infer {

/// A curve to be explained: x ascending, each once, and one y of each.
struct XyCurve {
  std::vector<double> x, y;
};

/// A model with its parameters fitted.
struct CurveFit {
  std::string name;             ///< "a straight line"
  std::vector<double> borders;  ///< x at which it bends or jumps, in the curve's own x; a smooth model has none
  std::vector<double> fitted;   ///< y of the model, point by point
  std::size_t parameters = 0;   ///< fitted to the data
  double squares = 0;           ///< left over
};

/// y = a
CurveFit fit_constant(const XyCurve& curve);
/// y = a + b x
CurveFit fit_line(const XyCurve& curve);
/// y = a + b x + c x²
CurveFit fit_parabola(const XyCurve& curve);
/// y = a + b / x; nothing where an x is not above 0, as for all that follow up to the power
CurveFit fit_hyperbola(const XyCurve& curve);
/// y = a + b log x
CurveFit fit_logarithm(const XyCurve& curve);
/// y = a + b x^c
CurveFit fit_power(const XyCurve& curve);
/// y = a + b x / (c + x): requests that meet by chance (Michaelis and Menten)
CurveFit fit_saturating_hyperbola(const XyCurve& curve);
/// y = a + b exp(-x / c)
CurveFit fit_saturating_exponential(const XyCurve& curve);
/// Two lines that meet: y = a + b x + c max(0, x - k), with points on both sides of k (Hudson 1966).
CurveFit fit_joined_lines(const XyCurve& curve);
/// The same with three lines.
CurveFit fit_three_joined_lines(const XyCurve& curve);
/// `steps` jumps between constant levels, by binary segmentation.
CurveFit fit_steps(const XyCurve& curve, std::size_t steps);
/// A line with one jump: y = a + b x + c [x > k]
CurveFit fit_line_with_step(const XyCurve& curve);

/// What is left over by two joined lines that meet at each of so many places, and the places: the profile of
/// `fit_joined_lines`.
struct Profile {
  std::vector<double> at, squares;
};
Profile joined_lines_profile(const XyCurve& curve);

/// A model that cannot be fitted to a curve, because it has more parameters than the curve has points, or no x above 0.
[[nodiscard]] inline bool fitted(const CurveFit& fit) { return !fit.fitted.empty(); }

}  // namespace gexp::infer
