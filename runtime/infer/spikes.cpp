// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/infer/analysis.h"
#include "runtime/infer/column.h"
#include "runtime/infer/statistics.h"

// Where the time of a launch jumps as its threads grow, a resource that holds outstanding requests has run full (Lashgar15 section
// 4: the variance of three neighbouring points spikes there). The jumps of all groups (loads a thread, merging) must agree on one
// number of requests that still fit: each says "more than before it, fewer than at it". Groups that do not jump must not have
// asked for more than that. What they do not agree on is no limit of requests.
namespace gexp::infer {
namespace {

constexpr double kJump = 8;        // in units of the curve's usual change between neighbours
constexpr double kLeast = 0.05;    // of the curve's level
constexpr std::size_t kFewest = 8; // points of a curve

/// Points that differ only in what `over` reads, in its order.
struct Group {
  Fields at;  ///< the other sweeps
  std::vector<Curve::Sample> samples;
};

std::vector<Group> groups_of(const Context& context, const Curve& curve, const compiler::Formula& over) {
  const auto read = compiler::free_names(over);
  std::vector<Group> groups;
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

/// Index of the last sample before each jump; neighbouring jumps are one.
std::vector<std::size_t> jumps_of(const std::vector<Curve::Sample>& samples) {
  std::vector<double> changes, levels;
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    changes.push_back(samples[i + 1].y - samples[i].y);
    levels.push_back(samples[i].y);
  }
  const double usual = median(changes), level = median(levels);
  std::vector<double> apart;
  for (const auto change : changes) apart.push_back(std::fabs(change - usual));
  const double spread = median(apart);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (changes[i] - usual <= std::max(kJump * spread, kLeast * level)) continue;
    if (found.empty() || i > found.back() + 1) found.push_back(i);
  }
  return found;
}

std::string name_of(const Fields& at) {
  std::string text;
  for (const auto& [name, value] : at) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, show(value));
  return text.empty() ? "the curve" : text;
}

}  // namespace

Finding spikes(const Context& context) {
  const auto* data = argument(context);
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  List list;
  std::string evidence;
  std::size_t curves = 0;
  for (const auto& group : groups_of(context, *samples, *data->over)) {
    if (group.samples.size() < kFewest) continue;
    ++curves;
    for (const auto i : jumps_of(group.samples)) {
      Fields spike = group.at;
      spike["before"] = Value(group.samples[i].x, samples->x_dimension);
      spike["at"] = Value(group.samples[i + 1].x, samples->x_dimension);
      evidence += fmt::format("{}{}: {} then {}", evidence.empty() ? "" : "; ", name_of(group.at), show(group.samples[i].y, samples->y_dimension),
                              show(group.samples[i + 1].y, samples->y_dimension));
      list.emplace_back(std::move(spike));
    }
  }
  if (curves == 0) return undetermined(context, fmt::format("a curve needs {} points", kFewest));
  const auto number = list.size();
  return found(context, Value(std::move(list)), 0.95, fmt::format("{} jumps in {} curves, each above {} times the usual change and {} % of the level", number, curves, kJump, 100 * kLeast), evidence);
}

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
      const PointScope scope(context.table, context.classes, i, context.stage, context.outer);
      const auto y = compiler::evaluate(*data->value, scope);
      const auto* n = y ? y->get<Number>() : nullptr;
      if (n) return *n;
    }
    return std::nullopt;
  };
  double low = -INFINITY, high = INFINITY;
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
    evidence += fmt::format("{}{}: {} fit, {} do not", evidence.empty() ? "" : "; ", name_of(group), show(Value(*before)), show(Value(*at)));
  }
  if (seen.empty()) return undetermined(context, "no curve jumps: the limit is above what was asked for, or there is none");
  if (low >= high) return undetermined(context, fmt::format("the curves do not agree on one limit ({})", evidence));
  auto finding = found(context, Value(low, dimension), seen.size() > 1 ? 0.95 : 0.8, fmt::format("{} curves jump where this is passed, and nowhere before", seen.size()), evidence);
  finding.interval = {low, high - 1};
  return finding;
}

}  // namespace gexp::infer
