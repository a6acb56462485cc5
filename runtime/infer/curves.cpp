// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "runtime/infer/analysis.h"
#include "runtime/infer/column.h"
#include "runtime/infer/statistics.h"

// The plain shapes of a curve: a line, a period, an upper plateau, the knee between two lines, one value, groups of values.
namespace gexp::infer {
namespace {

struct Line {
  double slope = 0, intercept = 0, squares = 0, r2 = 1;
};

Line fit(const std::vector<Curve::Sample>& samples, std::size_t begin, std::size_t end) {
  Line line;
  const double n = static_cast<double>(end - begin);
  double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  for (std::size_t i = begin; i < end; ++i) {
    sx += samples[i].x, sy += samples[i].y;
  }
  const double mx = sx / n, my = sy / n;
  for (std::size_t i = begin; i < end; ++i) {
    const double dx = samples[i].x - mx, dy = samples[i].y - my;
    sxx += dx * dx, sxy += dx * dy, syy += dy * dy;
  }
  line.slope = sxx > 0 ? sxy / sxx : 0;
  line.intercept = my - line.slope * mx;
  line.squares = std::max(0.0, syy - line.slope * sxy);
  line.r2 = syy > 0 ? 1 - line.squares / syy : 1;
  return line;
}

bool near(double a, double b) { return std::fabs(a - b) <= std::max(0.5, 0.01 * std::max(std::fabs(a), std::fabs(b))); }

}  // namespace

Finding linear(const Context& context) {
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  const auto& points = samples->samples;
  if (points.size() < 3 || points.front().x == points.back().x) return undetermined(context, "a line needs three points at different places");
  const auto line = fit(points, 0, points.size());
  Fields fields;
  fields["slope"] = Value(line.slope, samples->y_dimension / samples->x_dimension);
  fields["intercept"] = Value(line.intercept, samples->y_dimension);
  fields["r2"] = Value(line.r2);
  return found(context, Value(std::move(fields)), std::clamp(line.r2, 0.0, 0.999), fmt::format("least squares over {} points", points.size()));
}

Finding period(const Context& context) {
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  const auto& points = samples->samples;
  if (points.size() < 4) return undetermined(context, "a period needs more points");
  const double step = points[1].x - points[0].x;
  for (std::size_t shift = 1; 2 * shift <= points.size(); ++shift) {
    bool repeats = true;
    for (std::size_t i = 0; i + shift < points.size() && repeats; ++i) repeats = near(points[i].y, points[i + shift].y);
    if (repeats) {
      if (shift == 1) return undetermined(context, "the curve is constant: any period fits");
      return found(context, Value(step * static_cast<double>(shift), samples->x_dimension), 0.99,
                   fmt::format("the curve repeats {:.1f} times", static_cast<double>(points.size()) / static_cast<double>(shift)));
    }
  }
  return undetermined(context, "the curve does not repeat twice within the sweep; a longer sweep would decide");
}

Finding plateau(const Context& context) {
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  std::vector<double> ys;
  for (const auto& sample : samples->samples) ys.push_back(sample.y);
  if (ys.size() < 4) return undetermined(context, "a plateau needs more points");
  const double top = *std::max_element(ys.begin(), ys.end());
  const auto near_top = std::count_if(ys.begin(), ys.end(), [&](double y) { return y >= 0.97 * top; });
  if (near_top < 3) return undetermined(context, fmt::format("the curve still rises at its end ({}); a longer sweep would decide", show(top, samples->y_dimension)));
  return found(context, Value(top, samples->y_dimension), 0.95, fmt::format("{} of {} points within 3 % of the top", near_top, ys.size()));
}

Finding knee(const Context& context) {
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  const auto& points = samples->samples;
  if (points.size() < 6) return undetermined(context, "a knee needs more points");
  const auto whole = fit(points, 0, points.size());
  double least = INFINITY;
  std::size_t at = 0;
  for (std::size_t i = 2; i + 2 < points.size(); ++i) {
    const double squares = fit(points, 0, i + 1).squares + fit(points, i, points.size()).squares;
    if (squares < least) least = squares, at = i;
  }
  if (whole.squares <= 0 || least > 0.25 * whole.squares) return undetermined(context, "one line explains the curve as well as two do");
  auto finding = found(context, Value(points[at].x, samples->x_dimension), 0.95,
                       fmt::format("two lines leave {:.1f} % of one line's error", 100 * least / whole.squares));
  finding.interval = {points[at - 1].x, points[at + 1].x};
  return finding;
}

Finding value(const Context& context) {
  const auto* data = argument(context);
  if (!data) return undetermined(context, "the analysis has no data");
  for (std::size_t i = 0; i < context.table.points.size(); ++i) {
    const auto& point = context.table.points[i];
    const PointScope scope(context.table, context.classes, i, context.stage, context.outer);
    const bool here = !point.runs.empty() && std::all_of(context.question.arguments.begin(), context.question.arguments.end(), [&](const compiler::Formula::Argument& each) {
      if (each.label.empty()) return true;
      const auto at = point.at.find(each.label);
      const auto wanted = compiler::evaluate(*each.value, context.outer);
      if (at == point.at.end() || !wanted) return false;
      const auto* have = at->second.get<Number>();
      const auto* want = wanted->get<Number>();
      return have && want ? have->number == want->number : at->second == *wanted;
    });
    if (!here) continue;
    auto y = compiler::evaluate(*data->value, scope);
    if (!y) return undetermined(context, y.error().message);
    if (!y->known()) return undetermined(context, "the value is not known at this point");
    return found(context, std::move(*y), point.converged ? 0.99 : 0.9, fmt::format("measured in {} runs", point.runs.size()));
  }
  return undetermined(context, "the sweep has no such point");
}

namespace {

/// `clusters(lat by seg)`: the median of each labelled part of the walk, over all points.
std::optional<Curve> by_segment(const Context& context, std::string& evidence) {
  const auto* data = argument(context);
  if (!data || data->by != "seg" || data->value->kind != compiler::Formula::Kind::Name || data->value->text != context.table.timed) return std::nullopt;
  std::vector<std::pair<std::string, std::vector<double>>> parts;
  for (const auto& point : context.table.points) {
    if (!point.walk || point.walk->segments.empty()) continue;
    for (const auto& run : point.runs) {
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        const auto step = static_cast<std::int64_t>(i) % point.walk->steps;
        const auto after = std::upper_bound(point.walk->segments.begin(), point.walk->segments.end(), step, [](auto value, const Segment& segment) { return value < segment.first; });
        const auto& label = std::prev(after)->label;
        auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.first == label; });
        if (part == parts.end()) part = parts.insert(parts.end(), {label, {}});
        part->second.push_back(run.ticks[i] - point.overhead);
      }
    }
  }
  Curve made;
  made.y_dimension = kCycles;
  for (auto& [label, values] : parts) {
    made.samples.push_back({0, static_cast<double>(made.samples.size()), median(std::move(values))});
    evidence += fmt::format("{}{}: {}", evidence.empty() ? "" : ", ", label, made.samples.back().y);
  }
  return made;
}

}  // namespace

Finding clusters(const Context& context) {
  std::string evidence;
  auto segments = by_segment(context, evidence);
  const auto samples = segments ? Result<Curve>(std::move(*segments)) : curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  std::vector<double> ys;
  for (const auto& sample : samples->samples) ys.push_back(sample.y);
  std::sort(ys.begin(), ys.end());
  List centres;
  for (std::size_t i = 0; i < ys.size();) {
    std::size_t end = i + 1;
    while (end < ys.size() && near(ys[end - 1], ys[end])) ++end;
    centres.emplace_back(ys[(i + end) / 2], samples->y_dimension);
    i = end;
  }
  if (centres.empty()) return undetermined(context, "there are no values");
  const auto number = centres.size();
  return found(context, Value(std::move(centres)), 0.95, fmt::format("{} groups of {} values, each within 1 %", number, ys.size()), evidence);
}

}  // namespace gexp::infer
