// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "runtime/infer/model/regression.h"

namespace gexp::infer {

/// Steps of one width, as a hypothesis beside those of regression.h.
struct Staircase {
  CurveFit fit;
  double width = 0;            ///< of a step: what most rises of the fit are apart, or the middle of the interval
  double low = 0, high = 0;    ///< widths under which the same points would be the first ones of their step
  bool seen = false;           ///< all rises are apart by whole widths, as far as the curve's x show
};

/// Constant levels that rise at x = first, first + w, first + 2w … up to a last one, each by as much as it likes, and the
/// same with equal rises. The width and the first rise are borders, and so is the last one where the sweep goes on behind
/// it. `uneven` proposes them: steps wherever they fit best. Falling steps are no staircase. Each set of rises once.
std::vector<Staircase> fit_staircases(const XyCurve& curve, const CurveFit& uneven);

}  // namespace gexp::infer
