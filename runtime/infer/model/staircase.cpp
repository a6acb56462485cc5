// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/staircase.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

// A place of a rise is known to one distance of neighbouring x: between the last point of a level and the first one of the
// next. So a width that is no multiple of that distance makes rises that are now a point nearer and now further, and each
// pair of rises bounds the width from both sides.
namespace gexp::infer {
namespace {

constexpr std::size_t kProposals = 8;  // limit: widths that are tried, and first rises of each
constexpr int kParts = 4;              // limit: places of a rise that are tried between two points

using Firsts = std::vector<std::size_t>;  ///< index of each level's first point, but for the lowest level's

/// The points that `fit` jumps before.
Firsts firsts_of(const XyCurve& curve, const CurveFit& fit) {
  Firsts firsts;
  for (const double border : fit.borders) {
    firsts.push_back(static_cast<std::size_t>(std::upper_bound(curve.x.begin(), curve.x.end(), border) - curve.x.begin()));
  }
  return firsts;
}

/// At most so many of the values, from the commonest on.
std::vector<double> commonest(const std::vector<double>& values) {
  std::vector<double> kept(values);
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  std::stable_sort(kept.begin(), kept.end(), [&](double a, double b) {
    return std::count(values.begin(), values.end(), a) > std::count(values.begin(), values.end(), b);
  });
  kept.resize(std::min(kept.size(), kProposals));
  return kept;
}

/// Which step each point is on: 0 before the first rise.
std::vector<std::size_t> steps_of(const XyCurve& curve, double first, double last, double width) {
  std::vector<std::size_t> steps;
  const double most = std::floor((last - first) / width + 1e-9) + 1;
  for (const double x : curve.x) {
    steps.push_back(static_cast<std::size_t>(std::clamp(std::floor((x - first) / width + 1e-9) + 1, 0.0, most)));
  }
  return steps;
}

/// The widths that put each of these points first on its step, and the usual distance of rises.
void bound(const XyCurve& curve, const std::vector<std::size_t>& steps, Staircase& made) {
  Firsts firsts;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i] > steps[i - 1]) firsts.push_back(i);
  }
  made.low = 0, made.high = INFINITY, made.seen = true;
  for (std::size_t a = 0; a < firsts.size(); ++a) {
    for (std::size_t b = a + 1; b < firsts.size(); ++b) {
      const double rises = static_cast<double>(steps[firsts[b]] - steps[firsts[a]]);
      made.low = std::max(made.low, (curve.x[firsts[b] - 1] - curve.x[firsts[a]]) / rises);
      made.high = std::min(made.high, (curve.x[firsts[b]] - curve.x[firsts[a] - 1]) / rises);
      made.seen = made.seen && std::fabs(curve.x[firsts[b]] - curve.x[firsts[a]] - rises * made.width) < 1e-9 * curve.x.back();
    }
  }
  if (!made.seen) made.width = (made.low + made.high) / 2;
}

CurveFit levels_of(const XyCurve& curve, const std::vector<std::size_t>& steps, bool even) {
  const auto count = steps.back() + 1;
  std::vector<double> sum(count), n(count);
  for (std::size_t i = 0; i < steps.size(); ++i) sum[steps[i]] += curve.y[i], ++n[steps[i]];
  std::vector<double> level(count);
  for (std::size_t k = 0; k < count; ++k) {
    if (n[k] == 0) return {};  // no point shows this step
    level[k] = sum[k] / n[k];
  }
  if (even) {
    XyCurve by_step{{}, curve.y};
    for (const auto step : steps) by_step.x.push_back(static_cast<double>(step));
    auto line = fit_line(by_step);
    if (!fitted(line) || line.fitted.back() <= line.fitted.front()) return {};
    line.name = "equal steps";
    return line;
  }
  if (!std::is_sorted(level.begin(), level.end())) return {};
  CurveFit fit;
  fit.name = "steps of one width";
  fit.parameters = count;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    fit.fitted.push_back(level[steps[i]]);
    fit.squares += (curve.y[i] - level[steps[i]]) * (curve.y[i] - level[steps[i]]);
  }
  return fit;
}

}  // namespace

std::vector<Staircase> fit_staircases(const XyCurve& curve, const CurveFit& uneven) {
  std::vector<Staircase> made;
  const auto rises = firsts_of(curve, uneven);
  if (rises.size() < 2) return made;
  std::vector<double> distances;
  for (std::size_t i = 1; i < rises.size(); ++i) distances.push_back(curve.x[rises[i]] - curve.x[rises[i - 1]]);
  distances.push_back((curve.x[rises.back()] - curve.x[rises.front()]) / static_cast<double>(rises.size() - 1));
  std::set<std::vector<std::size_t>> known;
  for (const double width : commonest(distances)) {
    for (std::size_t r = 0; r < std::min(rises.size(), kProposals); ++r) {
      for (int part = 0; part < kParts; ++part) {
        // The rise lies after the last point of its level; the others whole widths from it, the first and the last where steps begin and end.
        const double at = curve.x[rises[r]] - (curve.x[rises[r]] - curve.x[rises[r] - 1]) * part / kParts;
        const double first = at - width * std::floor((at - curve.x[rises.front() - 1]) / width - 1e-9);
        const auto steps = steps_of(curve, first, curve.x[rises.back()], width);
        if (steps.back() < 2 || !known.insert(steps).second) continue;
        for (const bool even : {false, true}) {
          Staircase stair;
          stair.fit = levels_of(curve, steps, even);
          if (!fitted(stair.fit)) continue;
          const double end = first + width * static_cast<double>(steps.back() - 1);
          stair.fit.borders = {first, first + width};
          if (curve.x.back() >= end + width) stair.fit.borders.push_back(end);
          stair.fit.parameters += stair.fit.borders.size();
          stair.width = width;
          bound(curve, steps, stair);
          stair.fit.name += fmt::format(" {:g}", stair.width);
          made.push_back(std::move(stair));
        }
      }
    }
  }
  return made;
}

}  // namespace gexp::infer
