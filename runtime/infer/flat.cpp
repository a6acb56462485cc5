// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/infer/analysis.h"
#include "runtime/infer/statistics.h"

// A footprint that fits is walked without a miss; one line more and there are misses in every lap (Mei17 section 4.2, step 1:
// "the maximum where all accesses hit"). So the column lies on a floor up to the size and above it beyond. What would fool the
// eye is refused: a sweep that never leaves the floor, or never was on it, and a column that comes back to the floor later.
// And slow places are no misses: an address in the far part of an L2 is slow whenever it is walked. What tells them apart is an
// address walked on both sides of the border that hits on one and misses on the other.
namespace gexp::infer {
namespace {

struct Step {
  double y = 0;
  std::size_t runs = 0;  ///< repetitions that support it
};

/// y by x; where several points share an x, the largest counts: one order of access that misses is enough.
Result<std::map<double, Step>> steps_of(const Context& context, Dimension& dimension) {
  auto samples = curve(context);
  if (!samples) return samples.error();
  dimension = samples->x_dimension;
  std::map<double, Step> steps;
  for (const auto& sample : samples->samples) {
    auto [at, fresh] = steps.try_emplace(sample.x, Step{sample.y, 0});
    at->second.y = std::max(at->second.y, sample.y);
    at->second.runs += context.table.points[sample.point].runs.size();
  }
  return steps;
}

/// The call of misses or missed that a column is made of; null when it is made of something else.
const compiler::Formula* miss_call(const compiler::Formula& formula) {
  if (formula.kind == compiler::Formula::Kind::Call && (formula.text == "misses" || formula.text == "missed")) return &formula;
  for (const auto& operand : formula.operands) {
    if (const auto* call = miss_call(*operand)) return call;
  }
  for (const auto& inner : formula.arguments) {
    if (const auto* call = inner.value ? miss_call(*inner.value) : nullptr) return call;
  }
  return nullptr;
}

struct Address {
  double visits[2] = {0, 0}, misses[2] = {0, 0};  ///< in the quiet points, in the missing ones
  /// Whether it misses more in the missing points than one rate on both sides explains.
  [[nodiscard]] bool moved(double chance) const {
    return share_at_least(misses[1], misses[0] + misses[1], visits[1] / (visits[0] + visits[1])) < chance;
  }
};

/// What counts as a miss in the column; nullopt when it counts none.
std::optional<MissRange> range_of(const Context& context) {
  const auto* data = argument(context);
  const auto* call = data ? miss_call(*data->value) : nullptr;
  if (!call || context.table.timing != Table::Timing::Each) return std::nullopt;
  std::optional<double> slower_than;
  for (const auto& each : call->arguments) {
    if (each.label != "above") continue;
    const auto value = compiler::evaluate(*each.value, context.outer);
    const auto* n = value ? value->get<Number>() : nullptr;
    if (!n) return std::nullopt;
    slower_than = n->number;
  }
  return miss_range(context.table, context.classes, slower_than);
}

/// Whether only addresses that are not walked on both sides of the border make the difference.
bool only_places(const Context& context, double quiet, double missing) {
  const auto range = range_of(context);
  const auto samples = curve(context);
  if (!range || !samples) return false;
  std::map<std::int64_t, Address> addresses;
  for (const auto& sample : samples->samples) {
    if (sample.x != quiet && sample.x != missing) continue;
    const auto& point = context.table.points[sample.point];
    if (!point.walk || point.walk->steps == 0) return false;
    const auto lap = static_cast<std::size_t>(point.walk->steps);
    const int side = sample.x == missing ? 1 : 0;
    const auto misses = misses_by_step(point, *range);
    std::vector<std::uint32_t> visits(lap);
    for (const auto& run : point.runs) {
      for (std::size_t i = 0; i < lap; ++i) visits[i] += static_cast<std::uint32_t>(run.ticks.size() / lap + (i < run.ticks.size() % lap ? 1 : 0));
    }
    for (std::size_t i = 0; i < lap; ++i) {
      auto& address = addresses[point.walk->at(0, static_cast<std::int64_t>(i))];
      address.visits[side] += visits[i], address.misses[side] += misses[i];
    }
  }
  Address both, fresh;  // walked on both sides; only in the missing points
  for (const auto& [offset, address] : addresses) {
    if (address.visits[1] == 0) continue;
    auto& into = address.visits[0] == 0 ? fresh : both;
    for (const int side : {0, 1}) into.visits[side] += address.visits[side], into.misses[side] += address.misses[side];
    if (address.visits[0] > 0 && address.moved(1e-5)) return false;
  }
  if (both.visits[0] == 0) return false;  // nothing to compare
  if (range->strays == 0 && both.misses[0] == 0 && both.misses[1] >= 2) return false;
  return !both.moved(0.01) && poisson_at_least(fresh.misses[1], range->strays * fresh.visits[1]) < 1e-3;
}

constexpr const char* kOnlyPlaces = "only addresses that are not walked at {} are slow at {}: they may be slow places (a far part, another slice), no misses; another order or base of the same footprint would decide";

/// What hides behind a quiet point. An overflowing footprint misses at least once a lap, whatever replaces lines, so without
/// interference a few laps show it; one chance in two, at worst, is left to each repetition. Interference hides misses that are no
/// more than its own scatter; `missing` misses a run tell how many there are just beyond the border.
double confidence(const Context& context, double x, double missing, std::size_t runs) {
  double sure = 1 - std::pow(0.5, static_cast<double>(runs));
  const auto range = range_of(context);
  const auto samples = curve(context);
  if (!range || range->strays == 0 || !samples) return std::min(0.9999, sure);
  for (const auto& sample : samples->samples) {
    if (sample.x != x) continue;
    const auto& point = context.table.points[sample.point];
    const double strays = range->strays * static_cast<double>(point.steps) * static_cast<double>(point.runs.size());
    const double shown = poisson_at_most(poisson_beyond(strays, 1e-3), strays + missing / 2 * static_cast<double>(point.runs.size()));
    sure = std::min(sure, 1 - shown);
  }
  return std::clamp(sure, 0.0, 0.9999);
}

std::string row(double x, Dimension dimension, const Step& step) {
  return fmt::format("{} gives {:g} ({} runs)", show(x, dimension), step.y, step.runs);
}

}  // namespace

Finding last_flat(const Context& context) {
  Dimension dimension;
  const auto steps = steps_of(context, dimension);
  if (!steps) return undetermined(context, steps.error().message);
  const auto first_up = std::find_if(steps->begin(), steps->end(), [](const auto& step) { return step.second.y > 0; });
  if (steps->empty()) return undetermined(context, "nothing was measured");
  if (first_up == steps->end() && context.table.timing == Table::Timing::Each && context.classes.list.size() < 2) {
    return undetermined(context, fmt::format("all latencies up to {} are of one class: either everything fits, or a miss costs less than hits differ among themselves; a larger sweep or another load path would decide",
                                             show(steps->rbegin()->first, dimension)));
  }
  if (first_up == steps->end()) {
    return undetermined(context, fmt::format("the sweep never leaves its plateau: nothing misses up to {}; a larger one would decide",
                                             show(steps->rbegin()->first, dimension)));
  }
  if (first_up == steps->begin()) {
    return undetermined(context, fmt::format("the smallest one, {}, misses already; a sweep that begins lower would decide",
                                             show(first_up->first, dimension)));
  }
  const auto back = std::find_if(first_up, steps->end(), [](const auto& step) { return step.second.y == 0; });
  if (back != steps->end()) {
    return undetermined(context, fmt::format("misses begin at {} but are gone again at {}: no single size explains both",
                                             show(first_up->first, dimension), show(back->first, dimension)));
  }
  const auto last = std::prev(first_up);
  if (only_places(context, last->first, first_up->first)) {
    return undetermined(context, fmt::format(kOnlyPlaces, show(last->first, dimension), show(first_up->first, dimension)));
  }
  auto finding = found(context, Value(last->first, dimension), confidence(context, last->first, first_up->second.y, last->second.runs + first_up->second.runs),
                       fmt::format("the largest one without a steady-state miss; the next one tried, {}, misses", show(first_up->first, dimension)),
                       row(last->first, dimension, last->second) + "; " + row(first_up->first, dimension, first_up->second));
  finding.interval = {last->first, std::nextafter(first_up->first, 0)};
  if (dimension == kBytes) finding.interval->second = first_up->first - 1;
  return finding;
}

Finding first_flat(const Context& context) {
  Dimension dimension;
  const auto steps = steps_of(context, dimension);
  if (!steps) return undetermined(context, steps.error().message);
  const auto flat = std::find_if(steps->begin(), steps->end(), [](const auto& step) { return step.second.y == 0; });
  if (flat == steps->end()) return undetermined(context, "the column never reaches its floor; a longer sweep would decide");
  if (flat == steps->begin()) return undetermined(context, "the column lies on its floor from the first point on: nothing missed before");
  const auto up = std::find_if(flat, steps->end(), [](const auto& step) { return step.second.y > 0; });
  if (up != steps->end()) {
    return undetermined(context, fmt::format("the column is on its floor at {} but not at {}: no single size explains both",
                                             show(flat->first, dimension), show(up->first, dimension)));
  }
  const auto before = std::prev(flat);
  if (only_places(context, flat->first, before->first)) {
    return undetermined(context, fmt::format(kOnlyPlaces, show(flat->first, dimension), show(before->first, dimension)));
  }
  auto finding = found(context, Value(flat->first, dimension), confidence(context, flat->first, before->second.y, before->second.runs + flat->second.runs),
                       fmt::format("from here on nothing misses; at {} something does", show(before->first, dimension)),
                       row(before->first, dimension, before->second) + "; " + row(flat->first, dimension, flat->second));
  finding.interval = {std::nextafter(before->first, 1e300), flat->first};
  if (dimension == kBytes) finding.interval->first = before->first + 1;
  return finding;
}

}  // namespace gexp::infer
