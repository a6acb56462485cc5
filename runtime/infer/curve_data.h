// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "runtime/infer/analysis.h"
#include "runtime/infer/model/model_choice.h"

/// A stage's curve as the models of runtime/infer/model take it.
namespace gexp::infer {

/// One curve: the points of a stage, or those of one value after `by`.
struct CurveData {
  std::string name;  ///< "k = 4"; empty where there is no `by`
  XyCurve curve;     ///< each x once, with the median of its y
  /// Of a y about the best model that there could be: the spread of repetitions and of points that share an x, the
  /// clock's tick, and what no textbook's curve is exact to.
  CurveNoise noise;
  std::size_t points = 0;  ///< of the table
};

struct CurvesData {
  std::vector<CurveData> curves;
  Dimension x_dimension, y_dimension;
};

/// One curve of these samples, in the order of x.
CurveData curve_data(const Context& context, std::string name, const std::vector<Curve::Sample>& samples);
/// The curves of the first argument. An error says why there is none.
Result<CurvesData> curves_data(const Context& context);

/// What repetitions of the samples and the clock's tick show; `least` is 0 where all repetitions agree and no tick
/// counts.
CurveNoise measurement_noise(const Context& context, const std::vector<Curve::Sample>& samples);

/// What a textbook's curve through `y` may be off at the samples: the above, and a share of the height.
double textbook_noise(const Context& context, const std::vector<Curve::Sample>& samples, const std::vector<double>& y);

}  // namespace gexp::infer
