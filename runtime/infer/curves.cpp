// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "runtime/infer/analysis.h"
#include "runtime/infer/curve_data.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/model_choice.h"
#include "runtime/infer/model/value_groups.h"
#include "runtime/infer/record_functions.h"
#include "runtime/infer/statistics.h"

// The plain shapes of a curve: a line, a period, an upper plateau, the knee between two lines, one value, the highest one, all of them, groups of values.
namespace gexp::infer {
namespace {

struct Line {
  double slope = 0, intercept = 0, squares = 0, r2 = 1;
};

/// Sums over samples about their mean, in one pass.
struct Sums {
  double n = 0, mx = 0, my = 0, sxx = 0, sxy = 0, syy = 0;
  explicit Sums(const std::vector<Curve::Sample>& samples) {
    for (const auto& sample : samples) {
      const double dx = sample.x - mx, dy = sample.y - my;
      ++n;
      mx += dx / n, my += dy / n;
      sxx += dx * (sample.x - mx), sxy += dx * (sample.y - my), syy += dy * (sample.y - my);
    }
  }
};

Line fit(const Sums& sums) {
  Line line;
  const auto& [n, mx, my, sxx, sxy, syy] = sums;
  line.slope = sxx > 0 ? sxy / sxx : 0;
  line.intercept = my - line.slope * mx;
  line.squares = std::max(0.0, syy - line.slope * sxy);
  line.r2 = syy > 0 ? 1 - line.squares / syy : 1;
  return line;
}

/// Posterior that a curve is a straight line, beside bends, jumps and smooth curves. Who asks for a line knows as a rule that it is one.
struct Straight {
  double weight = 1;
  std::string rivals;  ///< what explains it best
  [[nodiscard]] bool refuted() const { return weight < 0.5; }
  [[nodiscard]] std::string why(const std::string& curve) const {
    return fmt::format("{} is no line, as what explains it shows: {}; `where` with a straight part of it would decide", curve, rivals);
  }
};
Straight straight(const Context& context, const std::vector<Curve::Sample>& samples) {
  const auto data = curve_data(context, "", samples);
  const auto& curve = data.curve;
  const auto weighed = weigh(curve, data.noise, {fit_line(curve), fit_constant(curve), fit_parabola(curve), fit_hyperbola(curve), fit_logarithm(curve), fit_power(curve),
                                            fit_joined_lines(curve), fit_steps(curve, 1), fit_line_with_step(curve)});
  const auto is_line = [](const CurveFit& fit) { return fit.name == "a straight line" || fit.name == "a constant"; };
  const double lines = weight_of(weighed, is_line);
  const auto others = static_cast<double>(std::count_if(weighed.begin(), weighed.end(), [&](const Weighed& each) { return !is_line(each.fit); }));
  if (others == 0) return {};
  return {lines * model::kSurest / (lines * model::kSurest + (1 - lines) * (1 - model::kSurest) / others), best_two(weighed)};
}

constexpr double kAsHigh = 1 - 3 * model::kTextbook;  // made of: what is within 3 % of the top is as high

/// The sweep at whose end a curve's highest sample is, more than 3 % above what precedes it there, and above all points before that end;
/// empty: there is none.
std::string still_rises(const records::Table& table, const Curve& curve, const Curve::Sample& top) {
  const auto number = [&](const records::Point& point, const std::string& column) {
    const auto* n = point.at.at(column).get<Number>();
    return n ? n->number : 0;
  };
  const auto& best = table.points[top.point];
  for (const auto& column : table.columns) {
    const Curve::Sample* before = nullptr;
    bool last = true, reached = false;
    for (const auto& sample : curve.samples) {
      const auto& point = table.points[sample.point];
      reached |= number(point, column) < number(best, column) && sample.y >= kAsHigh * top.y;
      const bool alike = std::all_of(table.columns.begin(), table.columns.end(), [&](const auto& other) { return other == column || point.at.at(other) == best.at.at(other); });
      if (!alike || sample.point == top.point) continue;
      if (number(point, column) > number(best, column)) last = false;
      else if (!before || number(point, column) > number(table.points[before->point], column)) before = &sample;
    }
    if (last && !reached && before && before->y < kAsHigh * top.y) return column;
  }
  return {};
}

}  // namespace

Finding linear(const Context& context) {
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  const auto& points = samples->samples;
  if (points.size() < 3 || points.front().x == points.back().x) return undetermined(context, "a line needs three points, not all at one x");
  const auto line = fit(Sums(points));
  Fields fields;
  fields["slope"] = Value(line.slope, samples->y_dimension / samples->x_dimension);
  fields["intercept"] = Value(line.intercept, samples->y_dimension);
  fields["r2"] = Value(line.r2);
  const auto of_it = straight(context, points);
  if (of_it.refuted()) return undetermined(context, of_it.why("the curve"));
  return found(context, Value(std::move(fields)), std::clamp(line.r2, 0.0, std::min(of_it.weight, kMostConfidence)),
               fmt::format("least squares over {} points", points.size()), {}, "points that lie nearer to one line");
}

Finding slopes(const Context& context) {
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  const auto& by = argument(context)->by;
  const auto group = [&](std::size_t point) {
    const auto& at = context.table.points[point].at;
    const auto found = at.find(by);
    return found == at.end() ? Value() : found->second;
  };
  std::vector<std::pair<std::size_t, std::vector<Curve::Sample>>> parts;  // the first point of each curve, in the order of the table
  for (const auto& sample : samples->samples) {
    const auto here = group(sample.point);
    auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& known) { return group(known.first) == here; });
    if (part == parts.end()) part = parts.insert(parts.end(), {sample.point, {}});
    part->first = std::min(part->first, sample.point);
    part->second.push_back(sample);
  }
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  List lines;
  double sure = kMostConfidence;
  for (const auto& [point, own] : parts) {
    const auto name = group(point);
    const Sums sums(own);
    if (sums.n < 3 || sums.sxx <= 0) return undetermined(context, fmt::format("a line needs three points, not all at one x{}", by.empty() ? "" : fmt::format(", also at {} = {}", by, show(name))));
    const auto line = fit(sums);
    sure = std::min(sure, line.r2);
    lines.emplace_back(Fields{{"at", name}, {"slope", Value(line.slope, samples->y_dimension / samples->x_dimension)},
                              {"intercept", Value(line.intercept, samples->y_dimension)}, {"r2", Value(line.r2)}});
  }
  if (lines.empty()) return undetermined(context, "there are no values");
  const auto count = lines.size();
  for (const auto& [point, own] : parts) {
    const auto of_it = straight(context, own);
    if (of_it.refuted()) return undetermined(context, of_it.why(by.empty() ? "the curve" : fmt::format("{} = {}", by, show(group(point)))));
    sure = std::min(sure, of_it.weight);
  }
  return found(context, Value(std::move(lines)), std::max(sure, 0.0), fmt::format("least squares over {} points, {} line{}", samples->samples.size(), count, count == 1 ? "" : "s"),
               {}, "points that lie nearer to their lines");
}

namespace {

/// y repeats after `shift` points: one level for each place within the period.
CurveFit fit_periodic(const XyCurve& curve, std::size_t shift) {
  CurveFit fit;
  fit.name = "a period";
  fit.parameters = shift;
  std::vector<double> level(shift), count(shift);
  for (std::size_t i = 0; i < curve.y.size(); ++i) level[i % shift] += curve.y[i], ++count[i % shift];
  for (std::size_t i = 0; i < curve.y.size(); ++i) {
    fit.fitted.push_back(level[i % shift] / count[i % shift]);
    fit.squares += (curve.y[i] - fit.fitted[i]) * (curve.y[i] - fit.fitted[i]);
  }
  return fit;
}

}  // namespace

Finding period(const Context& context) {
  constexpr std::size_t kMostShift = 4096;  // limit: points of a period that is tried, so that a long curve takes no longer
  const auto data = curves_data(context);
  if (!data) return undetermined(context, data.error().message);
  if (data->curves.empty() || data->curves[0].curve.x.size() < 4) {
    return undetermined(context, fmt::format("a period needs 4 points or more, and there are {}", data->curves.empty() ? 0 : data->curves[0].curve.x.size()));
  }
  const auto& [name, curve, noise, points] = data->curves[0];
  std::vector<CurveFit> rivals{fit_constant(curve),     fit_line(curve),           fit_parabola(curve), fit_hyperbola(curve), fit_logarithm(curve),
                               fit_joined_lines(curve), fit_line_with_step(curve), fit_steps(curve, 1), fit_steps(curve, 2)};
  for (std::size_t shift = 2; shift <= std::min(kMostShift, curve.x.size() / 2); ++shift) rivals.push_back(fit_periodic(curve, shift));
  const auto weighed = weigh(curve, noise, std::move(rivals));
  const auto& best = weighed[0];
  if (best.fit.name == "a period") {
    const auto shift = best.fit.parameters;
    return found(context, Value(curve.x[shift] - curve.x[0], data->x_dimension), std::min(kMostConfidence, best.weight),
                 fmt::format("the curve repeats {:.1f} times: a period explains it better than lines, bends, jumps and other periods do", static_cast<double>(curve.x.size()) / static_cast<double>(shift)),
                 best_two(weighed), "a longer sweep");
  }
  if (best.fit.name == "a constant") return undetermined(context, "the curve is constant: any period fits");
  const bool rises = std::is_sorted(curve.y.begin(), curve.y.end()), falls = std::is_sorted(curve.y.rbegin(), curve.y.rend());
  if (rises || falls) return undetermined(context, fmt::format("the curve {} from end to end: it has no period, or one longer than the sweep", rises ? "rises" : "falls"));
  return undetermined(context, fmt::format("the curve does not repeat twice within the sweep: {}; a longer sweep, or more repetitions where it is noisy, would decide", best_two(weighed)));
}

Finding plateau(const Context& context) {
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  std::vector<double> ys;
  for (const auto& sample : samples->samples) ys.push_back(sample.y);
  if (ys.size() < 4) return undetermined(context, fmt::format("a plateau needs 4 points or more, and there are {}", ys.size()));
  const double top = *std::max_element(ys.begin(), ys.end());
  const auto near_top = std::count_if(ys.begin(), ys.end(), [&](double y) { return y >= kAsHigh * top; });
  if (near_top < 3) {
    const auto& points = samples->samples;
    const auto at = std::find_if(points.begin(), points.end(), [&](const auto& sample) { return sample.y == top; });
    const auto best = show(top, samples->y_dimension), where = show(at->x, samples->x_dimension);
    // Where few points are near the top, it is no plateau; what would show one depends on where it stands.
    if (at->x == points.back().x) return undetermined(context, fmt::format("the curve still rises at its end ({}); a longer sweep would decide", best));
    if (at->x == points.front().x) return undetermined(context, fmt::format("the curve falls from its first point ({} at {}); a sweep that begins lower would decide", best, where));
    return undetermined(context, fmt::format("the top, {} at {}, is a peak: only {} of {} points are within 3 % of it; smaller steps about it would decide", best, where, near_top, ys.size()));
  }
  return found(context, Value(top, samples->y_dimension), 0.95, fmt::format("{} of {} points within 3 % of the top", near_top, ys.size()), {}, kNothingMore);
}

namespace {

/// Of the first of the highest samples what `answer` takes: its value, or where it is.
Finding top_of(const Context& context, Value (*answer)(const Curve&, const Curve::Sample&)) {
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  if (samples->samples.empty()) return undetermined(context, "there are no values");
  const auto top = *std::max_element(samples->samples.begin(), samples->samples.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
  const auto rising = still_rises(context.table, *samples, top);
  const auto why = fmt::format("the highest of {} points{}", samples->samples.size(), rising.empty() ? "" : "; it is at the end of " + rising + " and still rises there: there may be more");
  return found(context, answer(*samples, top), rising.empty() ? 0.95 : 0.5, why, "at " + records::coordinates_text(context.table, context.table.points[top.point]),
               rising.empty() ? kNothingMore : "a longer sweep");
}

}  // namespace

Finding highest(const Context& context) {
  return top_of(context, [](const Curve& curve, const Curve::Sample& top) { return Value(top.y, curve.y_dimension); });
}

Finding highest_at(const Context& context) {
  return top_of(context, [](const Curve& curve, const Curve::Sample& top) { return Value(top.x, curve.x_dimension); });
}

Finding values(const Context& context) {
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  if (samples->samples.empty()) return undetermined(context, "there are no values");
  List list;
  for (const auto& sample : samples->samples) list.emplace_back(sample.y, samples->y_dimension);
  const auto [low, high] = std::minmax_element(samples->samples.begin(), samples->samples.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
  return found(context, Value(std::move(list)), 0.99, fmt::format("{} points, from {} to {}", samples->samples.size(), show(low->y, samples->y_dimension), show(high->y, samples->y_dimension)), {}, kNothingMore);
}

namespace {

/// A list with an item that is not known is not known.
bool known_throughout(const Value& value) {
  const auto* list = value.get<List>();
  return value.known() && (!list || std::all_of(list->begin(), list->end(), known_throughout));
}

}  // namespace

Finding value(const Context& context) {
  const auto* data = argument(context);
  if (!data) return undetermined(context, "the analysis has no data");
  for (std::size_t i = 0; i < context.table.points.size(); ++i) {
    const auto& point = context.table.points[i];
    const auto scope = scope_at(context, i);
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
    if (!known_throughout(*y)) return undetermined(context, why_unknown(context));
    return found(context, std::move(*y), point.converged ? 0.99 : 0.9, fmt::format("measured in {} runs", point.runs.size()), {}, point.converged ? kNothingMore : "repetitions until the stopping rule is met");
  }
  return undetermined(context, "the sweep has no such point");
}

namespace {

/// The value in the middle, and one that was seen: between two levels there is none.
double seen_middle(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Values {
  std::vector<double> of;
  CurveNoise noise;
  std::string evidence;
};

/// `clusters(lat by seg)`: each labelled part of each point's walk, by its middle access.
std::optional<Values> by_segment(const Context& context) {
  const auto* data = argument(context);
  if (!data || data->by != "seg" || data->value->kind != compiler::Formula::Kind::Name || data->value->text != context.table.timed) return std::nullopt;
  Values made;
  double squares = 0, freedom = 0;
  for (const auto& point : context.table.points) {
    if (!point.walk || point.walk->segments.empty() || point.walk->steps == 0) continue;
    std::vector<std::string> labels;
    std::vector<std::size_t> part_of(static_cast<std::size_t>(point.walk->steps));  // by step
    for (const auto& segment : point.walk->segments) {
      auto label = std::find(labels.begin(), labels.end(), segment.label);
      if (label == labels.end()) label = labels.insert(labels.end(), segment.label);
      std::fill(part_of.begin() + segment.first, part_of.end(), static_cast<std::size_t>(label - labels.begin()));
    }
    std::vector<std::vector<double>> all(labels.size()), of_runs(labels.size());
    for (const auto& run : point.runs) {
      std::vector<std::vector<double>> of_run(labels.size());
      for (std::size_t i = 0; i < run.ticks.size(); ++i) of_run[part_of[i % part_of.size()]].push_back(run.ticks[i] - point.overhead);
      for (std::size_t k = 0; k < labels.size(); ++k) {
        if (of_run[k].empty()) continue;
        all[k].insert(all[k].end(), of_run[k].begin(), of_run[k].end());
        of_runs[k].push_back(seen_middle(std::move(of_run[k])));
      }
    }
    for (std::size_t k = 0; k < labels.size(); ++k) {
      if (all[k].empty()) continue;
      made.of.push_back(seen_middle(std::move(all[k])));
      const auto at = context.table.points.size() > 1 ? records::coordinates_text(context.table, point) + " " : std::string();
      made.evidence += fmt::format("{}{}{}: {}", made.evidence.empty() ? "" : ", ", at, labels[k], made.of.back());
      if (of_runs[k].size() < 2) continue;
      const double spread = robust_spread(of_runs[k]);
      squares += spread * spread, ++freedom;
    }
  }
  constexpr double kTick = 0.2887;  // fact: standard deviation of a whole number's rounding
  made.noise = {std::hypot(kTick, freedom > 0 ? std::sqrt(squares / freedom) : 0), freedom > 0};
  return made;
}

}  // namespace

Finding clusters(const Context& context) {
  auto values = by_segment(context);
  Dimension dimension = kCycles;
  if (!values) {
    const auto samples = curve(context);
    if (!samples) return undetermined(context, samples.error().message);
    values.emplace();
    for (const auto& sample : samples->samples) values->of.push_back(sample.y);
    dimension = samples->y_dimension;
    if (!values->of.empty()) values->noise = {textbook_noise(context, samples->samples, values->of), true};
  }
  if (values->of.empty()) return undetermined(context, "there are no values");
  const bool parts = !values->evidence.empty();
  const auto made = value_groups(values->of, values->noise);
  const auto& groups = made.groups;
  if (!parts && made.all_alone && groups.size() > 2) {
    return undetermined(context, fmt::format("each value, from {} to {}, is one of its own: they form no levels; smaller steps, or a longer sweep where a level lasts, would decide", show(groups.front().centre, dimension),
                                             show(groups.back().centre, dimension)));
  }
  List centres;
  for (const auto& group : groups) {
    centres.emplace_back(group.centre, dimension);
    if (!parts) values->evidence += fmt::format("{}{} of {}", values->evidence.empty() ? "" : ", ", group.count, show(group.centre, dimension));
  }
  return found(context, Value(std::move(centres)), made.weight, fmt::format("{} groups of {} values; within a group they differ by noise alone, {:.2g} {}", groups.size(), values->of.size(), values->noise.least, name(dimension)),
               values->evidence, "more repetitions");
}

}  // namespace gexp::infer
