// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/analysis.h"
#include "runtime/infer/curve_data.h"
#include "runtime/infer/model/staircase.h"

// A staircase: y keeps a level for a while, then takes the next. Where a footprint grows byte by byte, misses jump when a new line
// is touched, so the width of the steps is the line (Mei14 section 3.2 step 2). Steps of one width, each with its own rise or all with
// the same, are hypotheses beside steps of any widths, smooth curves, bends and none of these; a third rise tells them from steps of any
// widths, because it comes where the first two say. A width is told from another by the points at which y rises, and to as much as
// they are apart.
namespace gexp::infer {
namespace {

constexpr std::size_t kMostSteps = 64;  // limit: steps of any widths, whose cost grows with the square of their number

std::vector<CurveFit> smooth_rivals(const XyCurve& curve) {
  return {fit_constant(curve), fit_line(curve), fit_parabola(curve), fit_hyperbola(curve), fit_logarithm(curve), fit_power(curve), fit_joined_lines(curve), fit_three_joined_lines(curve), fit_line_with_step(curve)};
}

/// Without steps of one width: why, and what would decide.
Finding no_width(const Context& context, const CurveData& data, const std::vector<Weighed>& weighed) {
  const auto& y = data.curve.y;
  const auto& best = weighed[0].fit;
  auto why = [&]() -> std::string {
    std::size_t rises = 0;
    for (std::size_t i = 1; i < y.size(); ++i) rises += best.fitted[i] > best.fitted[i - 1] ? 1 : 0;
    if (rises == 0 && best.fitted.back() < best.fitted.front()) return "the curve falls as x grows: a width shows on a rising staircase, as a count of what is touched is";
    if (best.name == kNoneOfThese) return "each x has a y of its own: neither steps nor a smooth curve explain the curve; more repetitions would decide";
    if (best.name == "a constant") return "the curve rises nowhere by more than its noise; a longer sweep or more repetitions would decide";
    if (best.name == "one step") return "the curve rises once: three rises show a width; a longer sweep would decide";
    return fmt::format("the curve has no steps of one width: {} explain it better; a longer sweep with smaller steps of x, or more repetitions where it is noisy, would decide", best.name);
  }();
  auto none = undetermined(context, why);
  none.evidence = best_two(weighed);
  return none;
}

}  // namespace

Finding step_width(const Context& context) {
  const auto all = curves_data(context);
  if (!all) return undetermined(context, all.error().message);
  const auto& data = all->curves[0];
  const auto& curve = data.curve;
  if (curve.x.size() < 4) return undetermined(context, fmt::format("a staircase needs 4 points or more, and there are {}", curve.x.size()));
  auto rivals = smooth_rivals(curve);
  CurveFit uneven;
  double least = INFINITY;
  for (std::size_t steps = 1; steps <= std::min(kMostSteps, curve.x.size() / 2); ++steps) {
    auto fit = fit_steps(curve, steps);
    if (!fitted(fit) || fit.borders.size() < steps) break;
    const double n = static_cast<double>(curve.x.size()), bic = deviance_of(fit, n, data.noise.least) + penalty_of(fit, n);
    if (bic < least) least = bic, uneven = fit;
    rivals.push_back(std::move(fit));
  }
  const auto stairs = fit_staircases(curve, uneven);
  for (const auto& stair : stairs) rivals.push_back(stair.fit);
  const auto weighed = weigh(curve, data.noise, std::move(rivals));
  const auto of = [&](const CurveFit& fit) { return std::find_if(stairs.begin(), stairs.end(), [&](const Staircase& stair) { return stair.fit.name == fit.name; }); };
  const auto best = of(weighed[0].fit);
  if (best == stairs.end()) return no_width(context, data, weighed);
  double finest = INFINITY;
  for (std::size_t i = 1; i < curve.x.size(); ++i) finest = std::min(finest, curve.x[i] - curve.x[i - 1]);
  if (best->width < 2 * finest) {
    return undetermined(context, fmt::format("the steps are no wider than twice what neighbouring x are apart, {}: smaller steps of x would decide", show(finest, all->x_dimension)));
  }
  const double weight = weight_of(weighed, [&](const CurveFit& fit) {
    const auto stair = of(fit);
    return stair != stairs.end() && stair->width == best->width;
  });
  auto finding = found(context, Value(best->width, all->x_dimension), std::min(kMostConfidence, weight),
                       "steps of one width explain the curve better than steps of any widths, smooth curves and bends do", best_two(weighed), "a longer sweep");
  finding.interval = {best->low, best->high};
  finding.exact = best->seen;
  return finding;
}

}  // namespace gexp::infer
