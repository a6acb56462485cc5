// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "runtime/infer/model/model_choice.h"

/// Whether curves have a step at one x that is common to all of them.
namespace gexp::infer {

/// A curve, and what its y may be off though the model is right.
struct SteppedCurve {
  XyCurve curve;
  CurveNoise noise;
};

struct CommonStep {
  double before = 0, after = 0;  ///< neighbours among the x of all curves: the step lies between them
  double weight = 0;             ///< posterior of this place, beside all other places and no step
  double none = 0;               ///< posterior of no step
};

/// Hypotheses: all curves rise at one place, each by as much as it likes, once or again at each multiple of that x; each
/// curve rises where it likes; none has a step: each is constant, a line, a parabola or two joined lines. By BIC, as in
/// model_choice.h.
CommonStep common_step(const std::vector<SteppedCurve>& curves);

}  // namespace gexp::infer
