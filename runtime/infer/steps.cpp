// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/analysis.h"

// A staircase: y keeps a level for a while, then takes the next. Where a footprint grows byte by byte, misses jump when a new line
// is touched, so the width of the steps is the line (Mei14 section 3.2 step 2). Only distances between rises count: where the first
// level began is not known. Unequal widths are no staircase, and no width is given.
namespace gexp::infer {
namespace {

constexpr double kAgree = 0.8;   // share of the widths that must be the most frequent one

}  // namespace

Finding step_width(const Context& context) {
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  const auto& points = samples->samples;
  if (points.size() < 4) return undetermined(context, fmt::format("a staircase needs 4 points or more, and there are {}", points.size()));
  // A staircase never falls: by as much as the curve does fall, it may also rise without a step.
  double noise = 0;
  for (std::size_t i = 1; i < points.size(); ++i) noise = std::max(noise, points[i - 1].y - points[i].y);
  std::vector<double> rises;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].y - points[i - 1].y > std::max(0.5, 2 * noise)) rises.push_back(points[i].x);
  }
  if (rises.size() < 2) {
    const char* times = rises.empty() ? "nowhere" : "once";
    if (points.back().y < points.front().y) return undetermined(context, fmt::format("the curve falls as x grows and rises {}: a width shows on a rising staircase, as a count of what is touched is", times));
    if (2 * noise > 0.5) return undetermined(context, fmt::format("the curve rises {} by more than twice what it falls between neighbours, {:g}: noise hides its steps; more repetitions would decide", times, noise));
    return undetermined(context, fmt::format("the curve rises {}: two rises or more show a width; a longer sweep would decide", times));
  }
  std::vector<double> widths;
  for (std::size_t i = 1; i < rises.size(); ++i) widths.push_back(rises[i] - rises[i - 1]);
  std::sort(widths.begin(), widths.end());
  const double width = widths[widths.size() / 2];
  const auto agree = std::count(widths.begin(), widths.end(), width);
  const double share = static_cast<double>(agree) / static_cast<double>(widths.size());
  if (share < kAgree) {
    return undetermined(context, fmt::format("the steps are of different widths ({} to {}); they may be noise, or misses that do not come line by line", show(widths.front(), samples->x_dimension),
                                             show(widths.back(), samples->x_dimension)));
  }
  // A chance staircase repeats one width by luck only; each further one makes that less likely.
  const double confidence = 1 - std::pow(0.25, static_cast<double>(agree));
  auto finding = found(context, Value(width, samples->x_dimension), std::min(confidence, 0.999),
                       fmt::format("{} of {} distances between rises", agree, widths.size()));
  const double step = points[1].x - points[0].x;
  finding.interval = {width - step + 1, width};
  return finding;
}

}  // namespace gexp::infer
