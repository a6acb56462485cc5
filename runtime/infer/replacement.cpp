// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
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

using Policy = PolicySet::Policy;

constexpr double kFast = 0.001;       // share of accesses predicted to miss that may hit: nothing makes a miss fast
constexpr double kSlow = 0.03;        // share of accesses predicted to hit that interference may slow down
constexpr std::size_t kMaxHistories = 400;
constexpr std::size_t kMaxStates = 4096;
constexpr double kEvictions = 200;    // that say something of chances
constexpr double kEvictionsPerWay = 3;
constexpr double kStrange = 5;        // standard deviations that chance does not explain

struct Launch {
  History history;
  std::vector<std::size_t> before;  ///< accesses of the launch that were not recorded, oldest first
  bool flooded = false;             ///< before them, lines that do not matter took every way
};

struct Walk {
  std::vector<Launch> launches;
  std::size_t lines = 0;
};

/// Windows as launches: each starts with the warm-up, goes through the unrecorded part of the walk, then is recorded.
/// `others`: the walk also visits lines of other sets, which do not matter to this one.
std::optional<Walk> read_walk(const Context& context, const std::vector<std::int64_t>& members, std::int64_t line_bytes, const MissRange& border, bool others) {
  std::map<std::int64_t, std::size_t> number;
  for (const auto offset : members) number.try_emplace(offset / line_bytes, number.size());
  Walk walk;
  walk.lines = number.size();
  const auto line_at = [&](const Pattern& pattern, std::int64_t step) -> std::optional<std::size_t> {
    const auto found = number.find(pattern.at(0, step % pattern.steps) / line_bytes);
    if (found == number.end()) return std::nullopt;
    return found->second;
  };
  const auto floods = [&](const Pattern& pattern) {
    for (std::int64_t step = 0; step < pattern.steps; ++step) {
      if (line_at(pattern, step)) return false;
    }
    return pattern.steps > static_cast<std::int64_t>(walk.lines);
  };
  for (const auto& point : context.table.points) {
    if (!point.walk || point.walk->steps == 0) continue;
    const bool flooded = !others && point.warm_walk && floods(*point.warm_walk);
    for (const auto& run : point.runs) {
      for (std::size_t w = 0; w < run.windows.size() && walk.launches.size() < kMaxHistories; ++w) {
        const auto begin = static_cast<std::int64_t>(run.windows[w]);
        const auto end = static_cast<std::int64_t>(w + 1 < run.windows.size() ? run.windows[w + 1] : run.ticks.size());
        Launch launch;
        launch.flooded = flooded;
        for (std::int64_t i = 0; i < point.warm_steps && point.warm_walk && !flooded; ++i) {
          const auto line = line_at(*point.warm_walk, i);
          if (!line && others) continue;
          if (!line) return std::nullopt;
          launch.before.push_back(*line);
        }
        for (std::int64_t i = 0; i < end; ++i) {
          const auto line = line_at(*point.walk, i);
          if (!line && others) continue;
          if (!line) return std::nullopt;
          if (i < begin) {
            launch.before.push_back(*line);
            continue;
          }
          launch.history.lines.push_back(*line);
          launch.history.missed.push_back(border(run.ticks[static_cast<std::size_t>(i)]));
        }
        launch.history.cold = launch.before.empty() && !flooded;
        walk.launches.push_back(std::move(launch));
      }
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
    for (const auto& run : point.runs) {
      accesses += run.ticks.size();
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        if (border(run.ticks[i])) ++misses[point.walk->at(0, static_cast<std::int64_t>(i) % point.walk->steps) / line_bytes];
      }
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

/// How a candidate does on one launch from one state of the set; accesses before the first `burn_in` are not judged. Ends early
/// once there are more than `most` errors.
struct Count {
  std::size_t slow = 0, fast = 0, judged = 0;
};
Count errors_on(const Launch& launch, PolicySet set, std::size_t burn_in, std::size_t most) {
  Count count;
  for (const auto line : launch.before) set.access(line);
  for (std::size_t i = 0; i < launch.history.lines.size() && count.slow + count.fast <= most; ++i) {
    const bool hit = set.access(launch.history.lines[i]);
    if (launch.before.size() + i < burn_in) continue;
    ++count.judged;
    count.slow += hit && launch.history.missed[i] ? 1 : 0;
    count.fast += !hit && !launch.history.missed[i] ? 1 : 0;
  }
  return count;
}

/// Every state that a set may be in after many other lines, but for the names of its ways: misses alone fill the ways in turn, so
/// only NRU's marks are open, and they recur.
std::vector<PolicySet> flooded_sets(Policy policy, std::size_t lines) {
  std::vector<PolicySet> states;
  PolicySet set(policy, lines - 1, lines, true);
  for (std::size_t i = 0; i < 2 * lines; ++i) set.flood();
  std::set<std::vector<bool>> seen;
  while (seen.insert(set.marks()).second && states.size() < kMaxStates) {
    states.push_back(set);
    set.flood();
  }
  return states;
}

/// From a cold or flooded start every access is judged; from a stale one only those after a burn-in that lets any sensible policy
/// forget what it held.
Errors errors_of(const Walk& walk, Policy policy, bool stale) {
  Count all;
  const auto flooded = flooded_sets(policy, walk.lines);
  for (const auto& launch : walk.launches) {
    Count best;
    if (launch.flooded) {
      std::size_t least = launch.history.lines.size();
      for (const auto& state : flooded) {
        const auto count = errors_on(launch, state, 0, least);
        if (best.judged == 0 || count.slow + count.fast < least) best = count, least = count.slow + count.fast;
        if (least == 0) break;
      }
    } else {
      best = errors_on(launch, PolicySet(policy, walk.lines - 1, walk.lines, stale), stale ? 8 * walk.lines : 0, launch.history.lines.size());
    }
    all.slow += best.slow, all.fast += best.fast, all.judged += best.judged;
  }
  if (all.judged == 0) return {};
  return {static_cast<double>(all.slow) / static_cast<double>(all.judged), static_cast<double>(all.fast) / static_cast<double>(all.judged)};
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

/// The part of a launch in which only one of the lines is not in: after others had flooded the set, chance takes so many misses to
/// let go of the last of them (coupon collector's problem, and three times the ways on top).
History settled(const Launch& launch, std::size_t lines) {
  if (!launch.flooded) return launch.history;
  const auto ways = static_cast<double>(lines - 1);
  auto left = static_cast<std::size_t>(ways * (std::log(ways) + 3));
  std::size_t begin = 0;
  while (begin < launch.history.lines.size() && left > 0) left -= launch.history.missed[begin++] ? 1 : 0;
  History rest;
  rest.lines.assign(launch.history.lines.begin() + static_cast<std::ptrdiff_t>(begin), launch.history.lines.end());
  rest.missed.assign(launch.history.missed.begin() + static_cast<std::ptrdiff_t>(begin), launch.history.missed.end());
  rest.cold = false;
  return rest;
}

Finding from_evictions(const Context& context, const Walk& walk, const std::string& refuted) {
  std::vector<History> histories;
  for (const auto& launch : walk.launches) histories.push_back(settled(launch, walk.lines));
  const auto seen = follow_evictions(histories, walk.lines);
  const auto ways = walk.lines - 1;
  if (seen.misses < std::max(kEvictions, kEvictionsPerWay * static_cast<double>(ways))) {
    return undetermined(context, fmt::format("no deterministic candidate fits ({}), and {} evictions are too few to tell chances of {} ways: more repetitions would decide", refuted, seen.misses, ways));
  }
  if (std::fabs(seen.recency_z) > kStrange || std::fabs(seen.repeat_z) > kStrange) {
    return undetermined(context, fmt::format("no deterministic candidate fits ({}), and victims are not drawn by chance alone: age counts ({:.1f} standard deviations), the victim before counts ({:.1f})", refuted, seen.recency_z, seen.repeat_z));
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

}  // namespace

Finding replacement(const Context& context) {
  const auto line_value = argument_value(context, "line");
  const auto* line = line_value.get<Number>();
  if (!line || line->number < 1) return undetermined(context, "the line is not known");
  const auto border = miss_range(context.table, context.classes);
  if (!border) return undetermined(context, "all latencies are of one class: either nothing is replaced or nothing stays");
  const bool given = argument(context, "members") != nullptr;
  const auto members = given ? listed_members(argument_value(context, "members")) : missed_lines(context, static_cast<std::int64_t>(line->number), *border);
  if (members.empty()) return undetermined(context, given ? "the set's members are not known" : "no line misses more than interference does");
  if (members.size() < 2) return undetermined(context, "a set of one line replaces nothing but that line");
  const auto walk = read_walk(context, members, static_cast<std::int64_t>(line->number), *border, !given);
  if (!walk) return undetermined(context, "the walk leaves the set's members");
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

  std::vector<Policy> left;
  double right = 0;
  std::string refuted;
  for (const auto policy : candidate_policies(ways)) {
    if (!allowed(word(policy))) continue;
    const auto cold = errors_of(*walk, policy, false), stale = errors_of(*walk, policy, true);
    const auto& better = stale.all() < cold.all() ? stale : cold;
    refuted += fmt::format("{}{} fails on {:.1f} %", refuted.empty() ? "" : ", ", word(policy), better.all() * 100);
    if (!better.explain()) continue;
    left.push_back(policy);
    right = 1 - better.all();
  }
  if (left.size() > 1) {
    return undetermined(context, fmt::format("{} and {} explain the trace alike; a walk with more hits between misses would tell them apart", word(left[0]), word(left[1])));
  }
  if (left.size() == 1) {
    return named(context, word(left[0]), ways, {}, 0.999, fmt::format("it predicts {:.2f} % of all hits and misses, and every other candidate is refuted", 100 * right), refuted);
  }
  return from_evictions(context, *walk, refuted);
}

}  // namespace gexp::infer
