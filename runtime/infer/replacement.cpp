// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/analysis.h"
#include "runtime/infer/policies.h"
#include "runtime/infer/replacement_candidates.h"
#include "runtime/infer/replacement_walk.h"
#include "runtime/infer/same_policy.h"
#include "runtime/infer/statistics.h"
#include "runtime/infer/way_tracking.h"

// Which policy replaces lines: walk one line more than a set has ways, in an order with hits and misses mixed, and ask every
// candidate to predict each access. A deterministic policy predicts them all or it is not the one (Abel and Reineke, RTAS 2013).
// Where none does, the evictions themselves tell (Mei14 section 3.2): the victim is the line that misses next, so every way's
// share of victims is counted; equal shares without a memory are random replacement, unequal ones weighted. Victims that
// depend on age or on the victim before fit neither, and no name is given.
namespace gexp::infer {
namespace {

using namespace replacing;

constexpr std::size_t kListed = 4;      // names that a finding lists
constexpr double kEvictions = 200;    // that say something of chances
constexpr double kEvictionsPerWay = 3;
constexpr double kRarestWay = 2.5;    // its chance is at least the mean one by this
constexpr double kEven = 0.1;         // share by which chances may differ, and their ways be alike: a miss that was taken for a hit mixes up ways
constexpr double kStrange = 5;        // standard deviations that chance does not explain

Finding named(const Context& context, const std::string& name, std::size_t ways, List probabilities, double confidence, std::string why, std::string evidence) {
  Fields fields;
  fields["name"] = Value(name);
  fields["ways"] = Value(static_cast<double>(ways));
  fields["probabilities"] = Value(std::move(probabilities));
  return found(context, Value(std::move(fields)), confidence, std::move(why), std::move(evidence), kNothingMore);
}

/// Where a window begins in which only one of the lines is not in: after others had flooded the set, chance takes so many misses to
/// let go of the last of them (coupon collector's problem, three times the ways on top, and chances may differ).
std::size_t settled(const Trace& trace, std::size_t begin, std::size_t end, std::size_t lines) {
  if (!trace.flood) return begin;
  const auto ways = static_cast<double>(lines - 1);
  for (auto left = static_cast<std::size_t>(kRarestWay * ways * (std::log(ways) + 3)); begin < end && left > 0; ++begin) left -= trace.missed[begin] ? 1 : 0;
  return begin;
}

Finding from_evictions(const Context& context, const Walk& walk, const std::string& refuted) {
  std::vector<History> histories;
  std::vector<std::vector<bool>> missed(walk.traces.size());
  for (std::size_t t = 0; t < walk.traces.size(); ++t) {
    const auto& trace = walk.traces[t];
    missed[t] = trace.missed;
    for (std::size_t w = 0; w < trace.windows.size(); ++w) {
      const auto end = w + 1 < trace.windows.size() ? trace.windows[w + 1] : trace.missed.size(), begin = settled(trace, trace.windows[w], end, walk.lines);
      const bool cold = trace.warm + begin == 0 && !trace.flood;
      for (const auto& clear : clear_stretches(std::span(trace.lines).subspan(trace.warm), missed[t], trace.unsure, begin, end, walk.lines, cold)) {
        histories.push_back({{trace.lines.data() + trace.warm + clear.begin, clear.end - clear.begin}, &missed[t], clear.begin, cold && clear.begin == begin});
      }
    }
  }
  const auto seen = follow_evictions(histories, walk.lines);
  const auto ways = walk.lines - 1;
  if (seen.misses < std::max(kEvictions, kEvictionsPerWay * static_cast<double>(ways))) {
    return undetermined(context, fmt::format("no deterministic candidate fits ({}), and {} evictions are too few to tell chances of {} ways: more repetitions would decide", refuted, seen.misses, ways));
  }
  const auto strange = [](const Evictions::Against& against) { return std::fabs(against.deviations()) > kStrange && std::fabs(against.share()) > kEven; };
  if (strange(seen.older) || strange(seen.repeats)) {
    return undetermined(context, fmt::format("no deterministic candidate fits ({}), and victims are not drawn by chance alone: age counts ({:.1f} standard deviations), the victim before counts ({:.1f}); a policy that is no candidate, or lines of another set among them: a walk over fewer of them would decide", refuted, seen.older.deviations(), seen.repeats.deviations()));
  }
  const auto evidence = fmt::format("{} evictions; {}", seen.misses, refuted);
  const double p = chi_square_above(seen.uniform_chi2, seen.uniform_dof);
  // An access that scatter or an interrupt made a miss of mixes up two ways: with many evictions that shows, and weighs little.
  const double uneven = std::sqrt(std::max(0.0, seen.uniform_chi2 - seen.uniform_dof) / seen.misses);
  if (p > 0.001 || uneven < kEven) {
    List equal(ways, Value(1.0 / static_cast<double>(ways)));
    return named(context, "random", ways, std::move(equal), 0.99, fmt::format("victims are drawn by chance, every way alike (chi-square {:.1f} on {} degrees of freedom{})", seen.uniform_chi2, seen.uniform_dof, p > 0.001 ? "" : fmt::format(": chances differ by {:.1f} % of their mean", 100 * uneven)), evidence);
  }
  List shares;
  double widest = 0;
  // Ways that are alike are sorted by chance, anew in each history.
  const double counted = seen.by_way_misses / (seen.labelled ? 1 : static_cast<double>(seen.by_way_histories));
  for (const auto count : seen.by_way) {
    const double share = count / seen.by_way_misses;
    shares.emplace_back(share);
    widest = std::max(widest, 1.96 * std::sqrt(share * (1 - share) / counted));
  }
  return named(context, "weighted", ways, std::move(shares), 0.99, fmt::format("victims are drawn by chance, some ways more often; each share within {:.3f}{}", widest,
                           seen.labelled ? "; ways in the order in which they are first filled" : "; ways from the most to the least often replaced"), evidence);
}

/// One candidate explains the trace, or several that nothing tells apart: the simplest name is theirs.
Finding decided(const Context& context, const Walk& walk, const std::vector<Explains>& left, const std::string& refuted) {
  const auto ways = walk.lines - 1;
  const bool full = std::all_of(walk.traces.begin(), walk.traces.end(), [](const Trace& trace) { return trace.flood != nullptr; });
  std::string same;
  for (std::size_t i = 1; i < left.size(); ++i) {
    const auto sameness = compare(left[0].candidate, left[i].candidate, ways, full);
    if (sameness != Sameness::Same) {
      return undetermined(context, fmt::format("{} and {} explain the trace alike; {}", left[0].candidate.name(), left[i].candidate.name(),
                                               sameness == Sameness::Different ? "a walk with more hits between misses would tell them apart"
                                                                               : fmt::format("whether they are one policy in sets of {} ways is not decided", ways)));
    }
    if (i <= kListed) same += fmt::format("{}{}", same.empty() ? "" : ", ", left[i].candidate.name());
  }
  if (left.size() > kListed + 1) same += fmt::format(" and {} more", left.size() - 1 - kListed);
  if (!same.empty()) same = fmt::format("; with {} ways{} it is the same as {}", ways, full ? " that are never empty" : "", same);
  const auto& best = left[0].errors;
  const double right = 1 - static_cast<double>(best.all()) / static_cast<double>(best.judged);
  return named(context, left[0].candidate.name(), ways, {}, 0.999, fmt::format("it predicts {:.2f} % of all hits and misses, and every other candidate is refuted{}", 100 * right, same), refuted);
}

}  // namespace

Finding replacement(const Context& context) {
  const auto line_value = argument_value(context, "line");
  const auto* line = line_value.get<Number>();
  if (!line || line->number < 1) return undetermined(context, "the line is not known");
  const auto border = miss_range(context.table, context.classes);
  if (!border) return undetermined(context, "all latencies are of one class: either nothing is replaced or nothing stays; a walk over one line more than a set holds, by another load path, would decide");
  const auto line_bytes = static_cast<std::int64_t>(line->number);
  const auto set_value = argument_value(context, "set");
  const auto* set = set_value.get<Fields>();
  const bool given = set || argument(context, "members") != nullptr;
  const auto members = set     ? listed_members(set->count("members") ? set->at("members") : Value())
                       : given ? listed_members(argument_value(context, "members"))
                               : missed_lines(context, line_bytes, *border);
  if (members.empty()) return undetermined(context, given ? "the set's members are not known; `cache_sets` would tell them" : "no line misses more than interference does; a walk over more lines would decide");
  if (members.size() < 2) return undetermined(context, "a set of one line replaces nothing but that line; more members would decide");
  const auto function = set ? set_of(*set, line_bytes) : std::nullopt;
  const auto read = [&](const std::optional<SetKey>& known) {
    LineNumbers numbers(members, line_bytes, known);
    return read_walk(context, numbers, *border, !given);
  };
  auto walk = read(function);
  if (!walk) return undetermined(context, "the walk leaves the set's members; one over them alone would decide");
  const auto ways = walk->lines - 1;
  const auto expected = argument_value(context, "ways");
  if (const auto* n = expected.get<Number>(); n && n->number != static_cast<double>(ways)) {
    return undetermined(context, fmt::format("{} lines compete, and a set of {} ways would have {}", walk->lines, show(expected), n->number + 1));
  }
  const auto models = argument_value(context, "models");
  const auto allowed = [&](const std::string& name) {
    const auto* list = models.get<List>();
    return !list || std::any_of(list->begin(), list->end(), [&](const Value& v) { return v.get<std::string>() && *v.get<std::string>() == name; });
  };
  if (ways == 1) return named(context, "direct", 1, {}, 0.99, "a set of one way has no choice", "");

  std::string refuted;
  const auto may = [&](const Candidate& candidate) { return allowed(candidate.name()) || (candidate.policy == Candidate::Policy::Qlru && allowed("qlru")); };
  auto left = explaining(*walk, may, refuted);
  if (left.empty() && walk->others > 0) {  // the function that chooses sets was seen on the lines that overflowed them: it may not hold beyond
    std::string again;
    const auto alone = read(std::nullopt);
    if (auto found = explaining(*alone, may, again); !found.empty()) walk = alone, left = std::move(found), refuted = std::move(again);
  }
  if (!left.empty()) return decided(context, *walk, left, refuted);
  return from_evictions(context, *walk, refuted);
}

}  // namespace gexp::infer
