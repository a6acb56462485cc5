// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "runtime/infer/analysis.h"
#include "runtime/infer/policies.h"
#include "runtime/infer/way_tracking.h"

// Which policy replaces lines: walk one line more than a set has ways, in an order with hits and misses mixed, and ask every
// candidate to predict each access. A deterministic policy predicts them all or it is not the one (Abel and Reineke, RTAS 2013).
// Where none does, the evictions themselves tell (Mei14 section 3.2): the victim is the line that misses next, so every way's
// share of victims is counted; equal shares without a memory are random replacement, unequal ones weighted. Victims that
// depend on age or on the victim before fit neither, and no name is given.
namespace gexp::infer {
namespace {

constexpr double kFast = 0.001;       // share of accesses predicted to miss that may hit: nothing makes a miss fast
constexpr double kSlow = 0.03;        // share of accesses predicted to hit that interference may slow down
constexpr std::size_t kMaxHistories = 400;
constexpr std::size_t kMaxStates = 4096;
constexpr std::size_t kHistories = 16;  // before a flood
constexpr std::size_t kMoreErrors = 4;  // than the best candidate, and a quarter of its own, refute another
constexpr std::size_t kListed = 4;      // names that a finding lists
constexpr double kEvictions = 200;    // that say something of chances
constexpr double kEvictionsPerWay = 3;
constexpr double kStrange = 5;        // standard deviations that chance does not explain

/// One run: its warm-up, then what was recorded. A long run is recorded in windows, each by a launch of its own that begins with the
/// warm-up and walks to its window: a deterministic policy is then where it would be after one long launch.
struct Trace {
  std::vector<std::uint32_t> lines;
  std::size_t warm = 0;              ///< accesses that were not recorded, at the beginning
  std::vector<bool> missed;          ///< of those after `warm`
  std::vector<std::size_t> windows;  ///< where they begin in `missed`
  bool flooded = false;              ///< before them, lines that do not matter took every way
};

struct Walk {
  std::vector<Trace> traces;
  std::size_t lines = 0;
};

constexpr std::uint32_t kElsewhere = ~std::uint32_t{0};

/// The lines of a pattern, numbered, by step; kElsewhere for those that are no members.
std::vector<std::uint32_t> lines_of(const Pattern& pattern, const std::map<std::int64_t, std::uint32_t>& number, std::int64_t line_bytes) {
  std::vector<std::uint32_t> lines(static_cast<std::size_t>(pattern.steps), kElsewhere);
  for (std::size_t step = 0; step < lines.size(); ++step) {
    const auto found = number.find(pattern.at(0, static_cast<std::int64_t>(step)) / line_bytes);
    if (found != number.end()) lines[step] = found->second;
  }
  return lines;
}

/// `others`: the walk also visits lines of other sets, which do not matter to this one.
std::optional<Walk> read_walk(const Context& context, const std::vector<std::int64_t>& members, std::int64_t line_bytes, const MissRange& border, bool others) {
  std::map<std::int64_t, std::uint32_t> number;
  for (const auto offset : members) number.try_emplace(offset / line_bytes, static_cast<std::uint32_t>(number.size()));
  Walk walk;
  walk.lines = number.size();
  std::size_t histories = 0;
  for (const auto& point : context.table.points) {
    if (!point.walk || point.walk->steps == 0) continue;
    const auto lines = lines_of(*point.walk, number, line_bytes);
    Trace warm;
    if (point.warm_walk && point.warm_walk->steps > 0) {
      const auto warm_lines = lines_of(*point.warm_walk, number, line_bytes);
      warm.flooded = !others && warm_lines.size() > walk.lines && std::all_of(warm_lines.begin(), warm_lines.end(), [](auto line) { return line == kElsewhere; });
      for (std::int64_t i = 0; i < point.warm_steps && !warm.flooded; ++i) {
        const auto line = warm_lines[static_cast<std::size_t>(i) % warm_lines.size()];
        if (line == kElsewhere && !others) return std::nullopt;
        if (line != kElsewhere) warm.lines.push_back(line);
      }
    }
    warm.warm = warm.lines.size();
    const Misses missed(border, point);
    for (const auto& run : point.runs) {
      if (histories == kMaxHistories) return walk;
      auto trace = warm;
      auto window = run.windows.begin();
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        if (window != run.windows.end() && *window == i) {
          if (histories == kMaxHistories) break;
          trace.windows.push_back(trace.missed.size());
          ++histories, ++window;
        }
        const auto line = lines[i % lines.size()];
        if (line == kElsewhere && !others) return std::nullopt;
        if (line == kElsewhere) continue;
        trace.lines.push_back(line);
        trace.missed.push_back(missed(i, run.ticks[i]));
      }
      walk.traces.push_back(std::move(trace));
    }
  }
  return walk;
}

std::vector<std::int64_t> listed_members(const Value& value) {
  std::vector<std::int64_t> members;
  if (const auto* list = value.get<List>()) {
    for (const auto& item : *list) {
      if (const auto* n = item.get<Number>()) members.push_back(static_cast<std::int64_t>(n->number));
    }
  }
  return members;
}

/// The lines that miss again and again: those of the one set that overflows, where the footprint is a line larger than the cache.
std::vector<std::int64_t> missed_lines(const Context& context, std::int64_t line_bytes, const MissRange& border) {
  std::map<std::int64_t, std::size_t> misses;
  std::size_t accesses = 0;
  for (const auto& point : context.table.points) {
    if (!point.walk || point.walk->steps == 0) continue;
    const auto counts = misses_by_step(point, border);
    for (const auto& run : point.runs) accesses += run.ticks.size();
    for (std::size_t step = 0; step < counts.size(); ++step) {
      if (counts[step]) misses[point.walk->at(0, static_cast<std::int64_t>(step)) / line_bytes] += counts[step];
    }
  }
  std::vector<std::int64_t> members;
  for (const auto& [line, count] : misses) {
    if (static_cast<double>(count) > std::max(1.0, border.strays * static_cast<double>(accesses))) members.push_back(line * line_bytes);
  }
  return members;
}

/// How a candidate's prediction fails, as shares of all judged accesses. Interference makes hits look slow, it never makes misses
/// look fast: a wrong policy errs both ways.
struct Errors {
  double slow = 1;  ///< predicted to hit, seen to miss
  double fast = 1;  ///< predicted to miss, seen to hit
  [[nodiscard]] bool explain() const { return fast <= kFast && slow <= kSlow; }
  [[nodiscard]] double all() const { return slow + fast; }
};

constexpr std::size_t kMost = ~std::size_t{0} / 2;
std::size_t share_of(double share, std::size_t all) { return static_cast<std::size_t>(share * static_cast<double>(all)); }
std::size_t enough_to_refute(std::size_t fewest) { return fewest + fewest / 4 + kMoreErrors - 1; }

/// Errors of a candidate, and how many it may make before it is given up.
struct Count {
  std::size_t slow = 0, fast = 0, judged = 0;
  [[nodiscard]] std::size_t all() const { return slow + fast; }
};
struct Bounds {
  std::size_t slow, fast, all;
  [[nodiscard]] bool within(const Count& count) const { return count.slow <= slow && count.fast <= fast && count.all() <= all; }
};

/// How a candidate does on one trace from one state of the set; accesses before the first `burn_in` are not judged. Ends early beyond
/// the bounds.
Count errors_on(const Trace& trace, PolicySet set, std::size_t burn_in, const Bounds& most) {
  Count count;
  for (std::size_t i = 0; i < trace.lines.size() && most.within(count); ++i) {
    const bool hit = set.access(trace.lines[i]);
    if (i < trace.warm || i < burn_in) continue;
    const bool missed = trace.missed[i - trace.warm];
    ++count.judged;
    count.slow += hit && missed ? 1 : 0;
    count.fast += !hit && !missed ? 1 : 0;
  }
  return count;
}

/// Every state that a set may be in after many other lines, but for the names of its ways: misses alone fill the ways in turn, so
/// only NRU's marks and QLRU's ages are open, and they recur, whatever the history before. Histories are random ones.
std::vector<PolicySet> flooded_sets(const Candidate& candidate, std::size_t lines) {
  std::vector<PolicySet> states;
  std::set<std::string> seen;
  std::mt19937_64 random(lines);
  for (std::size_t history = 0; history < (candidate.policy == Candidate::Policy::Qlru ? kHistories : 1); ++history) {
    PolicySet set(candidate, lines - 1, lines, true);
    for (std::size_t i = 0; i < 8 * lines * std::min<std::size_t>(history, 1); ++i) set.access(static_cast<std::size_t>(random() % lines));
    for (std::size_t i = 0; i < 8 * lines; ++i) set.flood();
    while (states.size() < kMaxStates && seen.insert({set.marks().begin(), set.marks().end()}).second) {
      states.push_back(set);
      set.flood();
    }
  }
  return states;
}

/// From a cold or flooded start every access is judged; from a stale one only those after a burn-in that lets any sensible policy
/// forget what it held. nullopt: more errors than `most`.
std::optional<Count> errors_of(const Walk& walk, const Candidate& candidate, bool stale, const Bounds& most) {
  Count all;
  std::vector<PolicySet> flooded;
  for (const auto& trace : walk.traces) {
    if (trace.flooded && flooded.empty()) flooded = flooded_sets(candidate, walk.lines);
    const Bounds rest{most.slow - all.slow, most.fast - all.fast, most.all - all.all()};
    std::optional<Count> best;
    if (trace.flooded) {
      for (const auto& state : flooded) {
        auto better = rest;
        if (best) better.all = std::min(better.all, best->all());
        const auto count = errors_on(trace, state, 0, better);
        if (better.within(count)) best = count;
        if (best && best->all() == 0) break;
      }
    } else {
      const auto count = errors_on(trace, PolicySet(candidate, walk.lines - 1, walk.lines, stale), stale ? 8 * walk.lines : 0, rest);
      if (rest.within(count)) best = count;
    }
    if (!best) return std::nullopt;
    all.slow += best->slow, all.fast += best->fast, all.judged += best->judged;
  }
  return all;
}

/// A candidate that explains the trace.
struct Explains {
  Candidate candidate;
  Count errors;
};

/// The candidates among the allowed that explain the trace, the simplest first. `refuted`: how the others fail.
std::vector<Explains> explaining(const Walk& walk, const std::function<bool(const Candidate&)>& allowed, std::string& refuted) {
  std::size_t judged = 0, fewest = walk.traces.empty() ? 0 : kMost;
  for (const auto& trace : walk.traces) judged += trace.missed.size();
  std::vector<Explains> left;
  std::size_t aged = 0;
  for (const auto& candidate : candidate_policies(walk.lines - 1)) {
    if (!allowed(candidate)) continue;
    const bool qlru = candidate.policy == Candidate::Policy::Qlru;
    Bounds most{kMost, kMost, kMost};
    if (qlru) most = {share_of(kSlow, judged), share_of(kFast, judged), fewest == kMost ? kMost : enough_to_refute(fewest)};
    std::optional<Count> better;
    Errors least;
    for (const bool stale : {false, true}) {
      if (stale && qlru) continue;  // ages that nobody knows are not forgotten
      const auto count = errors_of(walk, candidate, stale, most);
      if (!count || count->judged == 0) continue;
      const Errors errors{static_cast<double>(count->slow) / static_cast<double>(count->judged), static_cast<double>(count->fast) / static_cast<double>(count->judged)};
      if (!better || errors.all() < least.all()) better = count, least = errors;
    }
    aged += qlru ? 1 : 0;
    if (!qlru) refuted += fmt::format("{}{} fails on {:.1f} %", refuted.empty() ? "" : ", ", candidate.name(), least.all() * 100);
    if (!better || !least.explain()) continue;
    left.push_back({candidate, *better});
    fewest = std::min(fewest, better->all());
  }
  // What errs more often than the best, where the two disagree, is refuted by just those accesses.
  std::erase_if(left, [&](const Explains& each) { return each.errors.all() > enough_to_refute(fewest); });
  const bool found_aged = !left.empty() && left[0].candidate.policy == Candidate::Policy::Qlru;
  if (aged > 0 && (left.empty() || found_aged)) {
    const auto failed = aged - (found_aged ? left.size() : 0);
    refuted += fmt::format("{}{} {}variants of QLRU fail", refuted.empty() ? "" : ", ", failed, found_aged ? "other " : "");
  }
  return left;
}

/// Chance that chi-square with so many degrees of freedom is larger (Wilson and Hilferty's approximation).
double chi2_tail(double chi2, double dof) {
  if (dof <= 0) return 1;
  const double z = (std::cbrt(chi2 / dof) - (1 - 2 / (9 * dof))) / std::sqrt(2 / (9 * dof));
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

Finding named(const Context& context, const std::string& name, std::size_t ways, List probabilities, double confidence, std::string why, std::string evidence) {
  Fields fields;
  fields["name"] = Value(name);
  fields["ways"] = Value(static_cast<double>(ways));
  fields["probabilities"] = Value(std::move(probabilities));
  return found(context, Value(std::move(fields)), confidence, std::move(why), std::move(evidence));
}

/// Where a window begins in which only one of the lines is not in: after others had flooded the set, chance takes so many misses to
/// let go of the last of them (coupon collector's problem, and three times the ways on top).
std::size_t settled(const Trace& trace, std::size_t begin, std::size_t end, std::size_t lines) {
  if (!trace.flooded) return begin;
  const auto ways = static_cast<double>(lines - 1);
  for (auto left = static_cast<std::size_t>(ways * (std::log(ways) + 3)); begin < end && left > 0; ++begin) left -= trace.missed[begin] ? 1 : 0;
  return begin;
}

Finding from_evictions(const Context& context, const Walk& walk, const std::string& refuted) {
  std::vector<History> histories;
  for (const auto& trace : walk.traces) {
    for (std::size_t w = 0; w < trace.windows.size(); ++w) {
      const auto end = w + 1 < trace.windows.size() ? trace.windows[w + 1] : trace.missed.size(), begin = settled(trace, trace.windows[w], end, walk.lines);
      histories.push_back({{trace.lines.data() + trace.warm + begin, end - begin}, &trace.missed, begin, trace.warm + begin == 0 && !trace.flooded});
    }
  }
  const auto seen = follow_evictions(histories, walk.lines);
  const auto ways = walk.lines - 1;
  if (seen.misses < std::max(kEvictions, kEvictionsPerWay * static_cast<double>(ways))) {
    return undetermined(context, fmt::format("no deterministic candidate fits ({}), and {} evictions are too few to tell chances of {} ways: more repetitions would decide", refuted, seen.misses, ways));
  }
  if (std::fabs(seen.recency_z) > kStrange || std::fabs(seen.repeat_z) > kStrange) {
    return undetermined(context, fmt::format("no deterministic candidate fits ({}), and victims are not drawn by chance alone: age counts ({:.1f} standard deviations), the victim before counts ({:.1f}); a policy that is no candidate, or lines of another set among them: a walk over fewer of them would decide", refuted, seen.recency_z, seen.repeat_z));
  }
  const auto evidence = fmt::format("{} evictions; {}", seen.misses, refuted);
  const double p = chi2_tail(seen.uniform_chi2, seen.uniform_dof);
  if (p > 0.001) {
    List equal(ways, Value(1.0 / static_cast<double>(ways)));
    return named(context, "random", ways, std::move(equal), 0.99, fmt::format("victims are drawn by chance, every way alike (chi-square {:.1f} on {} degrees of freedom)", seen.uniform_chi2, seen.uniform_dof), evidence);
  }
  List shares;
  double widest = 0;
  for (const auto count : seen.by_way) {
    const double share = count / seen.misses;
    shares.emplace_back(share);
    widest = std::max(widest, 1.96 * std::sqrt(share * (1 - share) / seen.misses));
  }
  return named(context, "weighted", ways, std::move(shares), 0.99, fmt::format("victims are drawn by chance, some ways more often; each share within {:.3f}{}", widest,
                           seen.labelled ? "; ways in the order in which they are first filled" : "; ways from the most to the least often replaced"), evidence);
}

/// One candidate explains the trace, or several that nothing tells apart: the simplest name is theirs.
Finding decided(const Context& context, const Walk& walk, const std::vector<Explains>& left, const std::string& refuted) {
  const auto ways = walk.lines - 1;
  const bool full = std::all_of(walk.traces.begin(), walk.traces.end(), [](const Trace& trace) { return trace.flooded; });
  std::string same;
  for (std::size_t i = 1; i < left.size(); ++i) {
    if (!alike(left[0].candidate, left[i].candidate, ways, full)) {
      return undetermined(context, fmt::format("{} and {} explain the trace alike; a walk with more hits between misses would tell them apart", left[0].candidate.name(), left[i].candidate.name()));
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
  const bool given = argument(context, "members") != nullptr;
  const auto members = given ? listed_members(argument_value(context, "members")) : missed_lines(context, static_cast<std::int64_t>(line->number), *border);
  if (members.empty()) return undetermined(context, given ? "the set's members are not known; `cache_sets` would tell them" : "no line misses more than interference does; a walk over more lines would decide");
  if (members.size() < 2) return undetermined(context, "a set of one line replaces nothing but that line; more members would decide");
  const auto walk = read_walk(context, members, static_cast<std::int64_t>(line->number), *border, !given);
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
  const auto left = explaining(*walk, [&](const Candidate& candidate) { return allowed(candidate.name()) || (candidate.policy == Candidate::Policy::Qlru && allowed("qlru")); }, refuted);
  if (!left.empty()) return decided(context, *walk, left, refuted);
  return from_evictions(context, *walk, refuted);
}

}  // namespace gexp::infer
