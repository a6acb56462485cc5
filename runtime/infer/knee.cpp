// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/analysis.h"
#include "runtime/infer/curve_data.h"
#include "runtime/infer/model/model_choice.h"

// A knee is where one line turns into another. A curve that turns gradually has no such place: two lines through a / x
// cross somewhere, too, but a / x explains every point and they do not. So a knee is a hypothesis, two joined lines,
// and is found where it explains the curve better than all smooth curves, jumps, a second bend and none of these do;
// its confidence is its posterior weight. The interval holds the places that explain the curve nearly as well (profile
// likelihood), and is no narrower than the x beside the knee: where between two points the lines meet, a curve of a
// device does not tell.
namespace gexp::infer {
namespace {

constexpr std::size_t kFewestX = 2 * 3;  // fact: different x, as many on each side
constexpr std::size_t kEachSide = 3;  // fact: x on each side of a knee, one at it included: two make a line, the third tests it
constexpr double kProfileDrop = 3.841;  // fact: chi-square of one parameter, 95 %

struct KneeOf {
  double at = 0, low = 0, high = 0, weight = 0;
  std::string why;  ///< without a knee: why
  std::string evidence;
};

std::vector<CurveFit> rivals_of(const XyCurve& curve) {
  return {fit_joined_lines(curve),
          fit_constant(curve),
          fit_line(curve),
          fit_parabola(curve),
          fit_hyperbola(curve),
          fit_logarithm(curve),
          fit_power(curve),
          fit_saturating_hyperbola(curve),
          fit_saturating_exponential(curve),
          fit_three_joined_lines(curve),
          fit_steps(curve, 1),
          fit_steps(curve, 2),
          fit_line_with_step(curve)};
}

/// The x beside `at`: the last one before it and the first one after it.
std::pair<double, double> neighbours_of(const std::vector<double>& x, double at) {
  const auto after = std::upper_bound(x.begin(), x.end(), at), not_before = std::lower_bound(x.begin(), x.end(), at);
  return {not_before == x.begin() ? x.front() : *(not_before - 1), after == x.end() ? x.back() : *after};
}

double nearest(const std::vector<double>& x, double at) {
  const auto [low, high] = neighbours_of(x, at);
  double best = low;
  for (const double candidate : x) {
    if (candidate >= low && candidate <= high && std::fabs(candidate - at) < std::fabs(best - at)) best = candidate;
  }
  return best;
}

KneeOf knee_of(const CurveData& data, const CurvesData& all) {
  KneeOf knee;
  const auto& curve = data.curve;
  if (curve.x.size() < kFewestX) {
    knee.why = fmt::format("a knee needs {} different x or more, and there are {}", kFewestX, curve.x.size());
    return knee;
  }
  const auto weighed = weigh(curve, data.noise, rivals_of(curve));
  const auto joined = std::find_if(weighed.begin(), weighed.end(),
                                   [](const Weighed& each) { return each.fit.name == "two joined lines"; });
  knee.weight = joined == weighed.end() ? 0 : std::min(joined->weight, kMostConfidence);
  knee.evidence = fmt::format("{} x; {}", curve.x.size(), best_two(weighed));
  if (joined != weighed.begin()) {
    const auto& best = weighed[0].fit;
    if (best.name == "three joined lines") {
      knee.why = fmt::format("the curve bends twice, at {} and {}; `where` with one of them would decide",
                             show(best.borders[0], all.x_dimension), show(best.borders[1], all.x_dimension));
    } else if (best.name == kNoneOfThese) {
      knee.why =
          "no line, bend, jump or smooth curve explains the curve: each x has a y of its own; more repetitions, or "
          "another curve by `where`, would decide";
    } else {
      knee.why = fmt::format("the curve has no knee: {} explains it better than two joined lines do ({})", best.name,
                             best_two(weighed));
    }
    return knee;
  }
  const double exact = joined->fit.borders[0];
  const auto before = std::upper_bound(curve.x.begin(), curve.x.end(), exact) - curve.x.begin(),
             after = curve.x.end() - std::lower_bound(curve.x.begin(), curve.x.end(), exact);
  if (std::min(before, after) < static_cast<std::ptrdiff_t>(kEachSide)) {
    knee.why = fmt::format("the curve bends at {}, where only {} x lie {} it: a sweep that {} would decide",
                           show(nearest(curve.x, exact), all.x_dimension), std::min(before, after),
                           before < after ? "before" : "after", before < after ? "begins lower" : "goes further");
    return knee;
  }
  const double n = static_cast<double>(curve.x.size());
  const double variance = std::max(joined->fit.squares / n, data.noise.least * data.noise.least);
  knee.at = nearest(curve.x, exact);
  const auto around = neighbours_of(curve.x, exact), beside_it = neighbours_of(curve.x, knee.at);
  knee.low = std::min(around.first, beside_it.first), knee.high = std::max(around.second, beside_it.second);
  const auto profile = joined_lines_profile(curve);
  for (std::size_t i = 0; i < profile.at.size(); ++i) {
    if (profile.squares[i] - joined->fit.squares > kProfileDrop * variance) continue;
    knee.low = std::min(knee.low, profile.at[i]), knee.high = std::max(knee.high, profile.at[i]);
  }
  return knee;
}

}  // namespace

Finding knee(const Context& context) {
  const auto data = curves_data(context);
  if (!data) return undetermined(context, data.error().message);
  std::vector<KneeOf> knees;
  std::string why, evidence;
  for (const auto& each : data->curves) {
    auto found_there = knee_of(each, *data);
    const auto label = each.name.empty() ? std::string() : each.name + ": ";
    if (!found_there.why.empty()) why += (why.empty() ? "" : "; ") + label + found_there.why;
    evidence += (evidence.empty() ? "" : "; ") + label + found_there.evidence;
    if (found_there.why.empty()) knees.push_back(std::move(found_there));
  }
  if (!why.empty()) {
    auto none = undetermined(context, why);
    none.evidence = evidence;
    return none;
  }
  // Curves by `by` have one knee where their intervals have something in common.
  auto& knee = *std::max_element(knees.begin(), knees.end(),
                                 [](const KneeOf& a, const KneeOf& b) { return a.weight < b.weight; });
  double confidence = 1;
  for (const auto& each : knees) {
    confidence = std::min(confidence, each.weight);
    if (each.low <= knee.at && knee.at <= each.high) continue;
    return undetermined(context,
                        fmt::format("the curves have different knees, {} and {}; `where` with one of them would decide",
                                    show(knee.at, data->x_dimension), show(each.at, data->x_dimension)));
  }
  auto finding = found(context, Value(knee.at, data->x_dimension), confidence,
                       "two lines that meet explain the curve better than smooth curves, jumps and more bends do",
                       evidence, "smaller steps of x beside it, or a longer sweep");
  finding.interval = {knee.low, knee.high};
  return finding;
}

}  // namespace gexp::infer
