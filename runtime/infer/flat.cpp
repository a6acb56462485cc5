// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "runtime/infer/analysis.h"
#include "runtime/infer/confounders.h"
#include "runtime/infer/granularity.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/paired_visits.h"
#include "runtime/infer/record_functions.h"
#include "runtime/infer/slow_shares.h"
#include "runtime/infer/statistics.h"

// A footprint that fits is walked without a miss; one line more and there are misses in every lap (Mei17 section 4.2, step 1:
// "the maximum where all accesses hit"). So the column lies on a floor up to the size and above it beyond. What would fool the
// eye is refused: a sweep that never leaves the floor, or never was on it, and a column that comes back to the floor later.
// What else would look like that is asked of confounders.h.
namespace gexp::infer {
namespace {

struct Step {
  double y = 0;
  std::size_t runs = 0;  ///< repetitions that support it
};

/// y by x; where several points share an x, the largest counts: one order of access that misses is enough.
std::map<double, Step> steps_of(const Context& context, const Curve& curve) {
  std::map<double, Step> steps;
  for (const auto& sample : curve.samples) {
    auto [at, fresh] = steps.try_emplace(sample.x, Step{sample.y, 0});
    at->second.y = std::max(at->second.y, sample.y);
    at->second.runs += std::max<std::size_t>(1, context.table.points[sample.point].runs.size());  // a launch that failed has none, and was one
  }
  return steps;
}

constexpr const char* kOnlyAddressBias = "only addresses that are not walked at {} are slow at {}: they may be slow places (a far part, another slice), no misses; another order or base of the same footprint would decide";

/// Why nothing is claimed of a border between the two x, where something else explains it; empty where nothing does.
std::string other_reason(const Context& context, const Curve& curve, double quiet, double missing) {
  const auto from = show(quiet, curve.x_dimension), to = show(missing, curve.x_dimension);
  if (only_address_bias(context, curve, quiet, missing)) return fmt::format(kOnlyAddressBias, from, to);
  if (only_first_laps(context, curve, missing) || slower_in_first_laps(context, curve, missing)) {
    return fmt::format("what misses at {} misses in the first lap of a run alone, and fits from then on: something else took its place before; a longer warm-up in the same launch would decide", to);
  }
  if (const auto above = counts_a_tail(context, curve, missing)) {
    return fmt::format("what takes more than {:.0f} cycles is the tail of one latency class, and no level of its own; "
                       "a latency between two classes would decide", *above);
  }
  if (slow_more_often(context, curve, quiet)) {
    return fmt::format("accesses at {} or near it are slow more often than at the others where nothing counts as a miss: "
                       "they may be misses and no interference; more repetitions would decide", from);
  }
  if (const auto longer = only_clock_change(context, curve, quiet, missing)) {
    return fmt::format("at {} every access takes {:.1f} % longer than at {}, and no run has both kinds: a miss may cost so little, or the clock may have changed its pace between them; locked clocks, "
                       "or a footprint that misses in part, would decide", to, 100 * *longer, from);
  }
  return {};
}

/// Where first visits begin to take longer than second ones; nullopt with `above: L`, which leaves faster misses out, and where walks do not tell.
std::optional<PairedBorder> cheap_misses(const Context& context) {
  const auto* data = argument(context);
  const auto* call = data ? miss_call(*data->value) : nullptr;
  std::optional<double> above;
  if (!call || context.table.timing != records::Table::Timing::Each || !read_above(*call, context.outer, above) || above) return std::nullopt;
  return paired_border(context);
}

/// The size that misses tell which cost too little to be told one by one.
Finding by_pairs(const Context& context, const PairedBorder& border) {
  const auto dimension = border.dimension;
  const auto last = show(border.last, dimension), above = show(border.above, dimension);
  if (border.back) {
    return undetermined(context, fmt::format("no access is told apart as a miss, and the first of two visits in a row takes {:.1f} ticks longer than the second from {} on, but not at {}: no single size explains both; "
                                             "more repetitions would decide", border.ticks, above, show(*border.back, dimension)));
  }
  if (const auto rise = others_rise(context, border)) {
    return undetermined(context, fmt::format("the first of two visits in a row takes longer than the second only from {} on, but what a lap visits once does from {} on: the policy may keep what is visited twice; "
                                             "a walk that visits each address twice would decide", above, show(*rise, dimension)));
  }
  auto finding = found(context, Value(border.last, dimension), std::min(model::kSurest, border.confidence),
                       fmt::format("no access is told apart as a miss, but from {} on the first of two visits in a row takes {:.1f} ticks longer than the second, beyond what it takes up to here", above, border.ticks),
                       "means over all pairs of visits");
  finding.interval = {border.sure, dimension == kBytes ? border.above - 1 : std::nextafter(border.above, 0)};
  finding.exact = false;  // on average, a unit or two that miss do not show
  return finding;
}

/// What hides behind a quiet point. An overflowing footprint misses at least once a lap, whatever replaces lines, so without
/// interference a few laps show it; one chance in two, at worst, is left to each repetition. Interference hides misses that are no
/// more than its own scatter; `missing` misses a run tell how many there are just beyond the border.
double confidence(const Context& context, const Curve& curve, double x, double missing, std::size_t runs) {
  double sure = 1 - std::pow(0.5, static_cast<double>(runs));
  const auto range = range_of(context);
  if (!range || range->interference.share == 0) return std::min(0.9999, sure);
  for (const auto& sample : curve.samples) {
    if (sample.x != x) continue;
    const auto& point = context.table.points[sample.point];
    const double interference = range->interference.share * static_cast<double>(point.steps) * static_cast<double>(point.runs.size());
    const double shown = poisson_at_most(poisson_beyond(interference, 1e-3), interference + missing / 2 * static_cast<double>(point.runs.size()));
    sure = std::min(sure, 1 - shown);
  }
  return std::clamp(sure, 0.0, 0.9999);
}

using Steps = std::map<double, Step>;

/// Whether some walk goes from address to address at one stride, as a prefetcher of what follows expects.
bool walks_at_one_stride(const Context& context) {
  return std::any_of(context.table.points.begin(), context.table.points.end(), [](const records::Point& point) {
    const auto& walk = point.walk;
    if (!walk || walk->steps < 3) return true;  // too short to tell
    const auto stride = walk->at(0, 1) - walk->at(0, 0);
    std::int64_t same = 0;
    for (std::int64_t i = 1; i < walk->steps; ++i) same += walk->at(0, i) - walk->at(0, i - 1) == stride ? 1 : 0;
    return 2 * same > walk->steps;
  });
}

/// All latencies are of one class: what may hide the misses, and what would show them.
std::string all_of_one_class(const Context& context) {
  const bool prefetch = walks_at_one_stride(context);
  return fmt::format("all latencies are of one class: everything fits, nothing does, or a miss costs less than hits differ among themselves{}; "
                     "a larger sweep, one that begins lower{} would decide",
                     prefetch ? ", or a prefetcher hides it" : "", prefetch ? ", another load path or a shuffled ring" : " or another load path");
}

/// Nothing misses: what may hide the misses, and what would show them.
std::string never_rises(const Context& context, const Steps& steps, Dimension dimension) {
  const auto last = show(steps.rbegin()->first, dimension);
  if (const auto* data = argument(context); data && !miss_call(context.stage, *data->value)) {
    return fmt::format("the column is 0 at every x up to {}, and it counts no misses: the border lies beyond, or is none of what the column tells; a larger sweep would decide", last);
  }
  const bool prefetch = walks_at_one_stride(context);
  const auto hidden = prefetch ? ", or a prefetcher hides it" : "";
  const std::string more = prefetch ? "a larger sweep, or a shuffled ring," : "a larger sweep";
  return fmt::format("the sweep never leaves its plateau: nothing misses up to {}{}; {} would decide", last, hidden, more);
}

/// Whether walks that have no warm-up, at the first x, begin with an access that does not miss: something had visited it before.
bool begins_warm(const Context& context, const Curve& curve, double first) {
  const auto* data = argument(context);
  const auto* call = data ? miss_call(context.stage, *data->value) : nullptr;
  std::optional<double> slower_than;
  if (!call || context.table.timing != records::Table::Timing::Each || !read_above(*call, context.outer, slower_than)) return false;
  const auto range = miss_range(context.table, context.classes, slower_than);
  return range && std::any_of(curve.samples.begin(), curve.samples.end(), [&](const auto& sample) {
    const auto& point = context.table.points[sample.point];
    if (sample.x != first || point.warm_steps > 0 || point.runs.empty()) return false;
    const Misses missed(*range, point);
    const auto hit = std::count_if(point.runs.begin(), point.runs.end(), [&](const auto& run) { return !run.ticks.empty() && !missed(0, run.ticks[0]); });
    return 2 * static_cast<std::size_t>(hit) > point.runs.size();
  });
}

/// The column is above its floor from the first x on: whether it ends there later, never was a count, or needs a lower beginning.
std::string begins_above_floor(const Context& context, const Steps& steps, const Curve& curve) {
  const auto dimension = curve.x_dimension;
  const auto& [first, step] = *steps.begin();
  const auto floor = std::find_if(steps.begin(), steps.end(), [](const auto& each) { return each.second.y == 0; });
  if (floor != steps.end() && std::all_of(floor, steps.end(), [](const auto& each) { return each.second.y == 0; })) {
    return fmt::format("the column falls to its floor as x grows: {} misses and nothing does from {} on; `first_flat` would find that border", show(first, dimension), show(floor->first, dimension));
  }
  if (floor == steps.end() && begins_warm(context, curve, first)) {
    return fmt::format("the column is above its floor at every x, and the first access of all, at {}, does not miss: what is walked was cached before; a flush before the walk would decide", show(first, dimension));
  }
  if (curve.is_condition && floor == steps.end()) {
    return fmt::format("what the column asks for holds at every x, from the smallest one on, {}; a sweep that begins lower would decide", show(first, dimension));
  }
  if (!range_of(context) && floor == steps.end()) {
    return fmt::format("the column is above 0 at every x, from {:g} at {} on, and it counts no misses; a column that is 0 where all fits, as `misses(…)` is, would decide", step.y, show(first, dimension));
  }
  return fmt::format("the smallest one, {}, misses already; a sweep that begins lower would decide", show(first, dimension));
}

/// Whether a size is one that an earlier stage found, and not a parameter of the file.
bool is_found_size(const Context& context, double size) {
  if (!context.earlier) return false;
  return std::any_of(context.earlier->all().begin(), context.earlier->all().end(), [&](const MeasuredStages::Measured& measured) {
    const auto* found = context.outer.lookup(measured.stage->name);
    const auto* fields = found ? found->get<Fields>() : nullptr;
    return fields && std::any_of(fields->begin(), fields->end(), [&](const auto& field) {
      const auto* n = field.second.template get<Number>();
      return n && n->dimension == kBytes && n->number == size;
    });
  });
}

/// Bytes before the first address of a walk that may be of its line: they are there, too, and not counted.
std::int64_t begins_within_a_line(const Context& context, const Curve& curve, double x) {
  for (const auto& sample : curve.samples) {
    const auto& walk = context.table.points[sample.point].walk;
    if (sample.x == x && walk && walk->steps > 0) return *std::min_element(walk->offsets.begin(), walk->offsets.end()) % kMostLine;
  }
  return 0;
}

/// Whether two neighbouring x are footprints that differ by one unit of their walks, so that no size lies between them.
bool are_next(const Context& context, const Curve& curve, double fits, double misses) {
  std::vector<std::int64_t> smaller, larger;
  for (const auto& sample : curve.samples) {
    const auto& walk = context.table.points[sample.point].walk;
    if (!walk || walk->threads != 1 || walk->steps < 2) return true;  // x is no footprint
    if (sample.x == fits) smaller = walk->offsets;
    if (sample.x == misses) larger = walk->offsets;
  }
  std::sort(smaller.begin(), smaller.end());
  std::int64_t stride = 0;
  for (std::size_t i = 1; i < smaller.size(); ++i) stride = std::max(stride, smaller[i] - smaller[i - 1]);
  return 2 * (*std::max_element(larger.begin(), larger.end()) - smaller.back()) <= 3 * stride;
}

/// The share of what is walked at `x` that, in each lap, a level above the one asked for answered: these take no room in it. A TLB
/// behind another one seems larger by what the first keeps for good.
double kept_above(const Context& context, const Curve& curve, double x) {
  const auto* data = argument(context);
  const auto* call = data ? miss_call(context.stage, *data->value) : nullptr;
  std::optional<double> slower_than;
  if (!call || context.table.timing != records::Table::Timing::Each) return 0;
  if (!read_above(*call, context.outer, slower_than) || !slower_than) return 0;
  std::vector<const records::Point*> points;
  for (const auto& sample : curve.samples) {
    if (sample.x == x) points.push_back(&context.table.points[sample.point]);
  }
  return share_answered_faster(context.table, context.classes, points, *slower_than);
}

/// The largest power of two, as lines and pages are, below a length.
double length_before(double length) {
  return length > 1 ? static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(std::ceil(length)) - 1)) : 0;
}

std::string row(double x, Dimension dimension, const Step& step) {
  return fmt::format("{} gives {:g} ({} runs)", show(x, dimension), step.y, step.runs);
}

}  // namespace

Finding last_flat(const Context& context) {
  const auto cheaper = cheap_misses(context);
  if (one_class_only(context)) return cheaper ? by_pairs(context, *cheaper) : undetermined(context, all_of_one_class(context));
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  const auto dimension = samples->x_dimension;
  const auto steps = steps_of(context, *samples);
  const auto first_up = std::find_if(steps.begin(), steps.end(), [](const auto& step) { return step.second.y > 0; });
  if (steps.empty()) return undetermined(context, "nothing was measured");
  if (first_up == steps.end()) return cheaper ? by_pairs(context, *cheaper) : undetermined(context, never_rises(context, steps, dimension));
  // What second visits share is no miss, but a slow place: then the pairs alone tell.
  if (cheaper && repeated_visits_miss(context, *samples, first_up->first)) return by_pairs(context, *cheaper);
  if (first_up == steps.begin()) {
    // Where first visits take no longer than second ones, what is told apart is no miss.
    const bool none_missed = cheaper && std::abs(cheaper->level) < model::kHalfTick;
    return none_missed ? by_pairs(context, *cheaper) : undetermined(context, begins_above_floor(context, steps, *samples));
  }
  const auto back = std::find_if(first_up, steps.end(), [](const auto& step) { return step.second.y == 0; });
  if (back != steps.end() && cheaper) return by_pairs(context, *cheaper);  // misses that few classes tell come and go
  if (back != steps.end()) {
    return undetermined(context, fmt::format("misses begin at {} but are gone again at {}: no single size explains both; more repetitions, or points between the two, would decide",
                                             show(first_up->first, dimension), show(back->first, dimension)));
  }
  const auto last = std::prev(first_up);
  if (auto why = other_reason(context, *samples, last->first, first_up->first); !why.empty()) return undetermined(context, std::move(why));
  if (cheaper && cheaper->above < first_up->first) return by_pairs(context, *cheaper);
  if (const auto residue = common_residue(context, *samples, first_up->first)) {
    return undetermined(context, fmt::format("{} fits and {} does not, but all addresses walked are multiples of {} apart: as many may be the ways of one set of a cache as the entries of a TLB; "
                                             "addresses spread over the sets, or two lines a page, would decide",
                                             show(last->first, dimension), show(first_up->first, dimension), show(static_cast<double>(*residue), kBytes)));
  }
  auto finding = found(context, Value(last->first, dimension), confidence(context, *samples, last->first, first_up->second.y, last->second.runs + first_up->second.runs),
                       fmt::format(fmt::runtime(samples->is_condition ? "the largest one at which the condition does not hold; at the next one tried, {}, it does"
                                                                      : "the largest one without a steady-state miss; the next one tried, {}, misses"),
                                   show(first_up->first, dimension)) + caveats(context, *samples, first_up->first),
                       row(last->first, dimension, last->second) + "; " + row(first_up->first, dimension, first_up->second));
  finding.interval = {last->first, std::nextafter(first_up->first, 0)};
  if (dimension == kBytes) finding.interval->second = first_up->first - 1;
  finding.exact = dimension != kBytes || are_next(context, *samples, last->first, first_up->first);
  if (const auto before = begins_within_a_line(context, *samples, last->first); before > 0 && dimension == kBytes && range_of(context)) {
    finding.exact = false, finding.interval->second += static_cast<double>(before);
  }
  if (!finding.exact && finding.status == Finding::Status::Found) finding.why += "; it may be anywhere in the interval: the sweep went no finer, or its walk begins within a line";
  const double kept = dimension == kBytes ? kept_above(context, *samples, last->first) : 0;
  if (kept > 0 && finding.status == Finding::Status::Found) {
    finding.exact = false, finding.interval->first -= kept * last->first;
    finding.why += fmt::format("; of that, a faster level keeps {:.1f} % in every lap, which needs no room here", 100 * kept);
  }
  return finding;
}

Finding first_flat(const Context& context) {
  if (one_class_only(context)) return undetermined(context, all_of_one_class(context));
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  const auto dimension = samples->x_dimension;
  const auto steps = steps_of(context, *samples);
  if (steps.empty()) return undetermined(context, "nothing was measured");
  const auto is_floor = [](const auto& step) { return step.second.y == 0; };
  const auto flat = std::find_if(steps.begin(), steps.end(), is_floor);
  if (flat == steps.end()) {
    if (samples->is_condition) return undetermined(context, "the condition holds at every point; a longer sweep, or a condition that fails where all fits, would decide");
    return undetermined(context, range_of(context) ? "the column never reaches its floor; a longer sweep would decide"
                                                   : "the column never is 0, and it counts no misses; a column that is 0 where all fits, as `misses(…)` is, would decide");
  }
  if (flat == steps.begin()) {
    const auto rises = std::find_if_not(steps.begin(), steps.end(), is_floor);
    if (rises == steps.end()) return undetermined(context, "the column lies on its floor from the first point on: nothing missed before; a sweep that begins lower would decide");
    return undetermined(context, fmt::format("the column begins on its floor and rises as x grows, at {}; `last_flat` would find that border", show(rises->first, dimension)));
  }
  const auto up = std::find_if(flat, steps.end(), [](const auto& step) { return step.second.y > 0; });
  if (up != steps.end()) {
    return undetermined(context, fmt::format("the column is on its floor at {} but not at {}: no single size explains both; more repetitions would decide",
                                             show(flat->first, dimension), show(up->first, dimension)));
  }
  const auto range = range_of(context);
  if (const auto step = range ? earlier_step(context, *range, *samples, flat->first) : std::nullopt) {
    return undetermined(context, fmt::format("the misses go in two steps, some at {} and the rest at {}: two structures seem to overflow at this footprint, as a cache and a TLB may; "
                                             "`above: L` with the latency of the faster misses, which counts one of them alone, or another stride, which moves one and not the other, would decide",
                                             show(*step, dimension), show(flat->first, dimension)));
  }
  const auto before = std::prev(flat);
  if (auto why = other_reason(context, *samples, flat->first, before->first); !why.empty()) return undetermined(context, std::move(why));
  if (before->first == 0 && dimension == kBytes && range && flat->first > kLeastLine && !is_found_size(context, flat->first)) {
    return undetermined(context, fmt::format("it is {} or less: that is the smallest hole that was tried, and no size that was found before; smaller ones, over addresses that near to each other, would decide",
                                             show(flat->first, dimension)));
  }
  auto finding = found(context, Value(flat->first, dimension), confidence(context, *samples, flat->first, before->second.y, before->second.runs + flat->second.runs),
                       fmt::format("from here on nothing misses; at {} something does", show(before->first, dimension)),
                       row(before->first, dimension, before->second) + "; " + row(flat->first, dimension, flat->second));
  finding.interval = {std::nextafter(before->first, 1e300), flat->first};
  if (dimension != kBytes) return finding;
  finding.interval->first = before->first + 1;
  // A hole begins with nothing, and what it is told in was found before: no line is smaller.
  const double least = before->first == 0 ? flat->first : finding.interval->first;
  if (const auto shorter = length_before(flat->first); shorter >= std::max<double>(least, kLeastLine)) {
    finding.exact = false;
    if (finding.status == Finding::Status::Found) finding.why += fmt::format("; it may be {}, too: the sweep went no finer", show(shorter, dimension));
  }
  return finding;
}

}  // namespace gexp::infer
