// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "runtime/infer/alike_groups.h"
#include "runtime/infer/analysis.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/place_vectors.h"

// Which points are alike. Of a record of lines, those that see them alike (alike_groups.h). With `within`, those whose values lie near to each
// other.
namespace gexp::infer {
namespace {

/// The answer, of the groups by point in order; SIZE_MAX: a point that was not measured, or is like no other. Groups are numbered as points come to them.
Fields fields_of(const std::vector<std::size_t>& groups) {
  std::map<std::size_t, std::size_t> number;
  std::vector<double> sizes;
  List of, counts;
  for (const auto group : groups) {
    if (group == SIZE_MAX) {
      of.emplace_back(-1.0);
      continue;
    }
    const auto [at, is_new] = number.emplace(group, number.size());
    if (is_new) sizes.push_back(0);
    sizes[at->second] += 1;
    of.emplace_back(static_cast<double>(at->second));
  }
  for (const double size : sizes) counts.emplace_back(size);
  Fields fields;
  fields["count"] = Value(static_cast<double>(number.size()));
  fields["of"] = Value(std::move(of));
  fields["sizes"] = Value(std::move(counts));
  return fields;
}

/// The table's points by what stands after `over`, in that order; the reason why they have none in `problem`.
std::vector<std::pair<double, std::size_t>> points_in_order(const Context& context, std::string& problem) {
  std::vector<std::pair<double, std::size_t>> order;
  const auto* data = argument(context);
  for (std::size_t i = 0; i < context.table.points.size() && data && data->over; ++i) {
    work();
    const auto x = compiler::evaluate(*data->over, scope_at(context, i));
    const auto* n = x ? x->get<Number>() : nullptr;
    if (!n) return problem = "what stands after `over` has no number", order;
    order.emplace_back(n->number, i);
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i].first == order[i - 1].first) return problem = "several points are of one value after `over`; `where` would choose one of them", order;
  }
  return order;
}

/// Points whose values lie within W of each other, for clocks that multiprocessors read in one launch: those of one register differ by what
/// the blocks' begins are apart, those of two by whatever lies between the times at which these were set to 0.
Finding near_values(const Context& context) {
  const auto width = number_of(context.question, "within", context.outer);
  if (!width || !(*width > 0)) return undetermined(context, "what stands after `within:` is no number above 0");
  const auto points = curve(context);
  if (!points) return undetermined(context, points.error().message);
  const auto& samples = points->samples;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    if (samples[i].x == samples[i - 1].x) return undetermined(context, "several points are of one value after `over`; `where` would choose one of them");
  }
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return samples[a].y < samples[b].y; });
  std::vector<std::size_t> rank(samples.size(), 0);  // of a value's group
  double widest = 0, nearest = INFINITY, first = samples[order[0]].y;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const double gap = samples[order[i]].y - samples[order[i - 1]].y;
    const bool parts = gap > *width;
    rank[order[i]] = rank[order[i - 1]] + (parts ? 1 : 0);
    if (parts) nearest = std::min(nearest, gap), first = samples[order[i]].y;
    else widest = std::max(widest, samples[order[i]].y - first);
  }
  const double range = samples[order.back()].y - samples[order[0]].y;
  const auto groups = static_cast<double>(rank[order.back()] + 1);
  if (widest > *width || nearest < 2 * *width)
    return undetermined(context, fmt::format("values are up to {} apart within a group, and from {} on between groups: {} is no width that tells them apart",
                                             show(widest, points->y_dimension), show(nearest, points->y_dimension), show(*width, points->y_dimension)));
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < samples.size(); ++i) of.push_back(rank[i]);
  auto fields = fields_of(of);
  const auto why = groups == 1 ? fmt::format("{} values lie within {}", samples.size(), show(widest, points->y_dimension))
                               : fmt::format("{} values; those of one group lie within {}, those of two are at least {} apart", samples.size(), show(widest, points->y_dimension), show(nearest, points->y_dimension));
  // Two groups whose values lie so near by chance would have been taken for one.
  const double hidden = groups == 1 ? 0 : groups * (groups - 1) * *width / range;
  return found(context, Value(std::move(fields)), std::min(model::kSurest, 1 - std::min(1.0, hidden)), why, {}, kNothingMore);
}

}  // namespace

Finding alike(const Context& context) {
  if (argument(context, "within")) return near_values(context);
  if (context.table.timing != records::Table::Timing::Each) return undetermined(context, "the record does not tell accesses apart; `each` would");
  std::string problem;
  const auto order = points_in_order(context, problem);
  if (!problem.empty()) return undetermined(context, problem);
  const auto vectors = place_vectors(context.table);
  if (!vectors.problem.empty()) return undetermined(context, vectors.problem);
  auto groups = find_alike(vectors);
  if (!groups.problem.empty()) return undetermined(context, groups.problem);
  const auto seen = fmt::format("{} lines seen from {} points", vectors.offsets.size(), vectors.views);
  if (groups.count < 2) {
    if (groups.differ < 1)
      return undetermined(context, fmt::format("{}: all points see them alike, within {:.2g} times the noise; more lines, or more laps, would decide", seen, groups.differ));
    return undetermined(context, fmt::format("{}: points differ by {:.2g} times the noise, but no groups of them predict their members' latencies to lines that they were not made of; "
                                             "each sees them in a way of its own, or all but a few see them alike",
                                             seen, groups.differ));
  }
  std::vector<std::size_t> view_of(context.table.points.size(), SIZE_MAX);
  for (std::size_t view = 0; view < vectors.points.size(); ++view) view_of[vectors.points[view]] = view;
  std::vector<std::size_t> of;
  for (const auto& [x, point] : order) of.push_back(view_of[point] == SIZE_MAX ? SIZE_MAX : groups.of_view[view_of[point]]);
  auto fields = fields_of(of);
  fields["predicted"] = Value(groups.predicted);
  auto why = fmt::format("{}; groups that one half of the lines makes predict the other half's latencies{}", seen, groups.places_apart ? ", and the halves share no place" : "");
  why += fmt::format("; {} of {} points are of the same group in both", groups.agreed, vectors.views);
  if (groups.more > groups.count) why += fmt::format(", where one half parts them into {}", groups.more);
  const auto evidence = fmt::format("points differ by {:.2g} times the noise; their groups predict {:.1f} % of its square", groups.differ, 100 * groups.predicted);
  // Both halves put a point into the same group, and there are no more groups than one of them tells.
  const double confidence = static_cast<double>(groups.agreed) / static_cast<double>(vectors.views) * static_cast<double>(groups.count) / static_cast<double>(groups.more);
  return found(context, Value(std::move(fields)), std::min(model::kSurest, confidence), why, evidence, "more lines, or more laps,");
}

}  // namespace gexp::infer
