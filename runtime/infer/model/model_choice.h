// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/regression.h"

/// What rivals are worth beside one another, given a curve.
namespace gexp::infer {

using model::kMostConfidence;

struct Weighed {
  CurveFit fit;
  double bic = 0;
  double weight = 0;  ///< posterior, of all rivals together 1
};

/// How far a y may be off though the model is right.
struct CurveNoise {
  double least = 0;       ///< standard deviation, which no repetition lowers; above 0
  bool repeated = false;  ///< repetitions show it: what is larger is no noise
};

/// Bayesian information criterion (Schwarz 1978) of each model. All have the same weight beforehand, but for their
/// borders: where a border lies costs one of n places (minimum description length; Davis, Lee and Rodriguez-Yam 2006),
/// so that a border more must explain more. The noise of a model is what it leaves over, and at least `noise.least`:
/// repetitions that agree do not make it less. Where repetitions show the noise, none of the models is a rival, too:
/// each x has a mean of its own, and pays for it; without repetitions any curve may be noise. What neighbours have in
/// common is not counted as often as there are neighbours: the evidence is tempered by the lag-1 autocorrelation of
/// what the best model leaves (effective sample size of an AR(1) series). Best first; models that were not fitted are
/// left out.
std::vector<Weighed> weigh(const XyCurve& curve, const CurveNoise& noise, std::vector<CurveFit> rivals);

/// Both parts of the criterion, of a model of n points: -2 log likelihood, which is tempered, and what parameters and borders cost.
double deviance_of(const CurveFit& fit, double n, double noise);
double penalty_of(const CurveFit& fit, double n);

/// The name of the rival in which each x has its own mean.
constexpr const char* kNoneOfThese = "none of these";

/// What the models that `wanted` accepts weigh together.
template <typename Wanted>
double weight_of(const std::vector<Weighed>& weighed, Wanted wanted) {
  double sum = 0;
  for (const auto& each : weighed) sum += wanted(each.fit) ? each.weight : 0;
  return sum;
}

/// "a + b / x (98 %) or two joined lines (2 %)": the two best, with their weights.
std::string best_two(const std::vector<Weighed>& weighed);

/// By how much the evidence of the curve's points counts: 1 where what a model leaves is independent from point to
/// point.
double independent_share(const std::vector<double>& left);

}  // namespace gexp::infer
