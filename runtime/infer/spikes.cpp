// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <numbers>

#include "runtime/infer/analysis.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/model_choice.h"
#include "runtime/infer/record_functions.h"
#include "runtime/infer/spikes.h"
#include "runtime/infer/statistics.h"

// Where the time of a launch jumps as its threads grow, a resource that holds outstanding requests has run full (Lashgar15 section
// 4: the variance of three neighbouring points spikes there). The jumps of all groups (loads a thread, merging) must agree on one
// number of requests that still fit: each says "more than before it, fewer than at it". Groups that do not jump must not have
// asked for more than that. What they do not agree on is no limit of requests. A jump is told from noise by what the curve usually
// does between neighbours (Student's t, as a few are wild), and from a steep slope, as threads of a first warp that are served one by one
// make it (Lashgar15 section 3.2), by what it does right beside it. Ratios are compared, not differences: noise grows with the time, and a jump that is large where a curve
// is low must not drown in what the same curve does where it is high.
namespace gexp::infer {
namespace {

/// The larger of the changes next to one; a jump may take two steps, and these are one then.
double beside(const std::vector<double>& changes, const std::vector<double>& odds, std::size_t i) {
  const auto jumps = [&](std::size_t k) { return k < changes.size() && odds[k] > 0; };
  std::size_t begin = i, end = i + 1;
  while (begin > 0 && jumps(begin - 1)) --begin;
  while (jumps(end)) ++end;
  if (end - begin != 2) begin = i, end = i + 1;
  return std::max(begin > 0 ? changes[begin - 1] : 0, end < changes.size() ? changes[end] : 0);
}

/// By change: logarithm of the odds of a jump, of anything up to the curve's whole rise, against the curve's noise. A curve has one jump as
/// likely as none, and it may lie anywhere.
std::vector<double> odds_of_jumps(const std::vector<double>& logs, const std::vector<double>& changes, double usual, double spread) {
  const auto [low, high] = std::minmax_element(logs.begin(), logs.end());
  const double whole = std::max(*high - *low, spread);
  const boost::math::students_t noise(model::kOutlierFreedom);
  std::vector<double> odds;
  for (const auto change : changes) {
    const double by_noise = boost::math::pdf(noise, (change - usual) / spread) / spread;
    odds.push_back(change > usual ? -std::log(by_noise * whole * static_cast<double>(changes.size())) : -INFINITY);
  }
  return odds;
}

/// The same of the levels beside it, as far as they lie apart beyond the usual rise: a jump keeps what it rose by, and one wild point does
/// not.
double odds_of_levels(const std::vector<double>& logs, std::size_t i, double usual, double jump, double spread) {
  const auto from = i + 1 - std::min(i + 1, model::kBeside), to = std::min(logs.size(), i + 1 + model::kBeside);
  const auto at = [&](std::size_t k) { return logs.begin() + static_cast<std::ptrdiff_t>(k); };
  const auto before = static_cast<double>(i + 1 - from), after = static_cast<double>(to - i - 1);
  const double apart = median({at(i + 1), at(to)}) - median({at(from), at(i + 1)}) - usual * (before + after) / 2;
  // Of two medians; a change, whose spread is known, is the difference of two points.
  const double error = spread * std::sqrt(std::numbers::pi / 4 * (1 / before + 1 / after));
  const boost::math::students_t noise(model::kOutlierFreedom);
  return std::log(boost::math::pdf(noise, (apart - jump) / error) / boost::math::pdf(noise, apart / error));
}

}  // namespace

std::vector<CurveSeries> series_of(const Context& context, const Curve& curve, const compiler::Formula& over) {
  const auto read = compiler::free_names(over);
  std::vector<CurveSeries> groups;
  std::map<std::string, std::size_t> known;  // by what they have in common
  for (const auto& sample : curve.samples) {
    Fields at;
    std::string key;
    for (const auto& column : context.table.columns) {
      if (std::find(read.begin(), read.end(), column) != read.end()) continue;
      const auto& value = context.table.points[sample.point].at.at(column);
      const auto* n = value.get<Number>();
      key += (n ? fmt::format("{}", n->number) : show(value)) + '\n';
      at[column] = value;
    }
    const auto [group, fresh] = known.try_emplace(key, groups.size());
    if (fresh) groups.push_back({std::move(at), {}});
    groups[group->second].samples.push_back(sample);
  }
  return groups;
}

Jumps jumps_of(const std::vector<Curve::Sample>& samples) {
  Jumps jumps;
  const auto n = samples.size();
  if (n < model::kFewestAlike) return jumps;
  std::vector<double> logs;
  for (const auto& sample : samples) logs.push_back(sample.y > 0 ? std::log(sample.y) : 0);
  std::vector<double> changes;
  for (std::size_t i = 0; i + 1 < n; ++i) changes.push_back(logs[i + 1] - logs[i]);
  const double usual = median(changes);
  const double spread = std::max(robust_spread(changes), model::kTextbook);
  const auto odds = odds_of_jumps(logs, changes, usual, spread);
  for (std::size_t i = 0; i + model::kFewest < n; ++i) {
    if (changes[i] - usual <= model::kMinority || changes[i] <= model::kUnlike * beside(changes, odds, i)) continue;
    const double of_it = odds[i] + odds_of_levels(logs, i, usual, changes[i] - usual, spread);
    const double weight = 1 / (1 + std::exp(-of_it));
    const bool jump = weight > 0.5;
    // What no noise makes and no level keeps may be either.
    if (jump || odds[i] > 0) jumps.confidence = std::min(jumps.confidence, std::max(weight, 1 - weight));
    if (jump && (jumps.before.empty() || i > jumps.before.back() + 1)) jumps.before.push_back(i);
  }
  return jumps;
}

std::string name_of(const Fields& at) {
  std::string text;
  for (const auto& [name, value] : at) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, show(value));
  return text.empty() ? "the curve" : text;
}

Finding spikes(const Context& context) {
  const auto* data = argument(context);
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  List list;
  std::string evidence;
  std::size_t curves = 0;
  double confidence = 1;
  for (const auto& group : series_of(context, *samples, *data->over)) {
    if (group.samples.size() < model::kFewestAlike) continue;
    ++curves;
    const auto jumps = jumps_of(group.samples);
    confidence = std::min(confidence, jumps.confidence);
    for (const auto i : jumps.before) {
      Fields spike = group.at;
      spike["before"] = Value(group.samples[i].x, samples->x_dimension);
      spike["at"] = Value(group.samples[i + 1].x, samples->x_dimension);
      evidence += fmt::format("{}{}: {} then {}", evidence.empty() ? "" : "; ", name_of(group.at), show(group.samples[i].y, samples->y_dimension),
                              show(group.samples[i + 1].y, samples->y_dimension));
      list.emplace_back(std::move(spike));
    }
  }
  if (curves == 0) return undetermined(context, fmt::format("a curve needs {} points", model::kFewestAlike));
  const auto number = list.size();
  return found(context, Value(std::move(list)), std::min(confidence, model::kGivenPart),
               fmt::format("{} jumps in {} curves, each likelier than that the curve's noise made it", number, curves), evidence, "more repetitions, or finer steps");
}

namespace {

/// Indices of the points that differ from each other only in what is not part of the group.
std::vector<std::size_t> points_of(const records::Table& table, const Fields& group) {
  work(table.points.size());
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < table.points.size(); ++i) {
    const auto& at = table.points[i].at;
    if (std::all_of(group.begin(), group.end(), [&](const auto& fixed) { return at.at(fixed.first) == fixed.second; })) all.push_back(i);
  }
  return all;
}

/// A curve without a jump that asks for `limit` and goes on for as long as a jump needs to be seen; empty where there is none.
std::string passes_silently(const Context& context, const std::vector<Fields>& jumping, double limit) {
  std::vector<Fields> known = jumping;
  for (const auto& point : context.table.points) {
    Fields group;
    for (const auto& [name, value] : jumping.front()) group[name] = point.at.at(name);
    if (std::find(known.begin(), known.end(), group) != known.end()) continue;
    known.push_back(group);
    const auto points = points_of(context.table, group);
    std::size_t beyond = 0;
    for (const auto i : points) {
      const auto y = number_at(context, *argument(context)->value, i);
      beyond += y && y->number >= limit;
    }
    if (points.size() >= model::kFewestAlike && beyond > model::kFewest) return name_of(group);
  }
  return {};
}

}  // namespace

Finding common_limit(const Context& context) {
  const auto* data = argument(context);
  if (!data || !data->over) return undetermined(context, "the analysis has no data");
  const auto spikes_value = compiler::evaluate(*data->over, context.outer);
  const auto* jumps = spikes_value ? spikes_value->get<List>() : nullptr;
  if (!jumps) return undetermined(context, "the spikes were not found");
  const auto y_at = [&](const Fields& jump, const char* where) -> std::optional<Number> {
    for (std::size_t i = 0; i < context.table.points.size(); ++i) {
      const auto& point = context.table.points[i];
      const bool here = std::all_of(context.table.columns.begin(), context.table.columns.end(), [&](const std::string& column) {
        const auto fixed = jump.find(column);
        return point.at.at(column) == (fixed == jump.end() ? jump.at(where) : fixed->second);
      });
      if (!here || point.runs.empty()) continue;
      if (const auto n = number_at(context, *data->value, i)) return n;
    }
    return std::nullopt;
  };
  double low = -INFINITY, high = INFINITY, by_luck = 1, places = 0;
  Dimension dimension;
  std::vector<Fields> seen;
  std::string evidence;
  for (const auto& value : *jumps) {
    const auto* jump = value.get<Fields>();
    if (!jump) return undetermined(context, "what follows `over` is no finding of spikes");
    Fields group = *jump;
    group.erase("before");
    group.erase("at");
    if (std::find(seen.begin(), seen.end(), group) != seen.end()) continue;  // the first jump of a curve is where it runs full first
    const auto before = y_at(*jump, "before"), at = y_at(*jump, "at");
    if (!before || !at) return undetermined(context, "the value is not known at a spike");
    seen.push_back(group);
    dimension = at->dimension;
    low = std::max(low, before->number);
    high = std::min(high, at->number);
    const auto points = static_cast<double>(points_of(context.table, group).size());
    by_luck /= points, places += points;
    evidence += fmt::format("{}{}: {} fit, {} do not", evidence.empty() ? "" : "; ", name_of(group), show(Value(*before)), show(Value(*at)));
  }
  if (seen.empty()) return undetermined(context, "no curve jumps: the limit is above what was asked for, or there is none");
  if (low >= high) return undetermined(context, fmt::format("the curves do not agree on one limit ({})", evidence));
  if (const auto silent = passes_silently(context, seen, high); !silent.empty()) {
    return undetermined(context, fmt::format("{} asks for more than {} and does not jump, so that the jumps of the others have another cause ({})", silent, show(low, dimension), evidence));
  }
  // One limit may lie at any of their points, and each curve alone at any of its own. One curve agrees with itself: that is no evidence.
  const double weight = seen.size() > 1 ? std::min(kMostConfidence, 1 / (1 + places * by_luck)) : model::kOneCurveAlone;
  auto finding = found(context, Value(low, dimension), weight, fmt::format("{} curves jump where this is passed, and nowhere before", seen.size()), evidence, "another curve that jumps");
  finding.interval = {low, high - 1};
  return finding;
}

}  // namespace gexp::infer
