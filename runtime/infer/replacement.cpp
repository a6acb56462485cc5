// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "runtime/infer/analysis.h"
#include "runtime/infer/policies.h"
#include "runtime/infer/set_index.h"
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
constexpr std::size_t kMaxStates = 2048;
constexpr std::size_t kHistories = 64;  // before a warm-up
constexpr std::size_t kMoreHistories = 1000;  // where some traces are explained and one is not
constexpr std::size_t kNothingNew = 12; // of them in a row end the search for states
constexpr std::size_t kMoreErrors = 4;  // than the best candidate, and a quarter of its own, refute another
constexpr std::size_t kListed = 4;      // names that a finding lists
constexpr double kEvictions = 200;    // that say something of chances
constexpr double kEvictionsPerWay = 3;
constexpr double kRarestWay = 2.5;    // its chance is at least the mean one by this
constexpr double kEven = 0.1;         // share by which chances may differ, and their ways be alike: a miss that was taken for a hit mixes up ways
constexpr double kStrange = 5;        // standard deviations that chance does not explain

/// What a warm-up did to the set where it ends with lines that are no members and took every way.
struct Flood {
  std::vector<std::uint32_t> lines;  ///< all of its lines that are of the set, in turn; empty where nobody knows which are
};

/// One run: its warm-up, then what was recorded. A long run is recorded in windows, each by a launch of its own that begins with the
/// warm-up and walks to its window: a deterministic policy is then where it would be after one long launch.
struct Trace {
  std::vector<std::uint32_t> lines;
  std::size_t warm = 0;              ///< accesses that were not recorded, at the beginning
  std::vector<bool> missed;          ///< of those after `warm`
  std::vector<bool> unsure;          ///< of the same: whether scatter may have made the one of the other
  std::vector<std::size_t> windows;  ///< where they begin in `missed`
  std::shared_ptr<const Flood> flood;  ///< before all of them; null where there is none
};

constexpr std::uint32_t kElsewhere = ~std::uint32_t{0};

struct Walk {
  std::vector<Trace> traces;
  std::size_t lines = 0;   ///< members, numbered from 0
  std::size_t others = 0;  ///< lines of the same set that are walked in warm-ups alone, numbered from there on
};

/// The members' numbers, and on from there, as they come, those of other lines of the same set.
class Numbers {
 public:
  Numbers(const std::vector<std::int64_t>& members, std::int64_t line_bytes, std::optional<SetKey> set) : line_bytes_(line_bytes), set_(std::move(set)) {
    for (const auto offset : members) member_.try_emplace(offset / line_bytes, static_cast<std::uint32_t>(member_.size()));
    if (set_ && !members.empty()) own_ = (*set_)(members.front() / line_bytes);
  }
  [[nodiscard]] std::size_t members() const { return member_.size(); }
  [[nodiscard]] std::size_t others() const { return other_.size(); }
  /// Whether it is known which lines are of the set.
  [[nodiscard]] bool know_the_set() const { return set_.has_value(); }
  /// The lines of a pattern by step; kElsewhere for those of other sets, or, without `all`, for all that are no members.
  std::vector<std::uint32_t> of(const Pattern& pattern, bool all) {
    std::vector<std::uint32_t> lines(static_cast<std::size_t>(pattern.steps), kElsewhere);
    for (std::size_t step = 0; step < lines.size(); ++step) {
      const auto line = pattern.at(0, static_cast<std::int64_t>(step)) / line_bytes_;
      if (const auto found = member_.find(line); found != member_.end()) lines[step] = found->second;
      else if (all && set_ && (*set_)(line) == own_) lines[step] = other_.try_emplace(line, static_cast<std::uint32_t>(member_.size() + other_.size())).first->second;
    }
    return lines;
  }

 private:
  std::int64_t line_bytes_;
  std::optional<SetKey> set_;
  std::uint64_t own_ = 0;
  std::map<std::int64_t, std::uint32_t> member_, other_;
};

/// `others`: the walk also visits lines of other sets, which do not matter to this one.
std::optional<Walk> read_walk(const Context& context, Numbers& numbers, const MissRange& border, bool others) {
  Walk walk;
  walk.lines = numbers.members();
  std::size_t histories = 0;
  for (const auto& point : context.table.points) {
    if (!point.walk || point.walk->steps == 0) continue;
    const auto lines = numbers.of(*point.walk, false);
    Trace warm;
    if (point.warm_walk && point.warm_walk->steps > 0) {
      auto warm_lines = numbers.of(*point.warm_walk, true);
      const auto other = [&](auto line) { return line >= walk.lines; };
      const auto last = std::find_if_not(warm_lines.rbegin(), warm_lines.rend(), other).base();
      if (!others && static_cast<std::size_t>(warm_lines.end() - last) > walk.lines) {
        auto flood = std::make_shared<Flood>();
        for (std::int64_t i = 0; numbers.know_the_set() && i < point.warm_steps; ++i) {
          const auto line = warm_lines[static_cast<std::size_t>(i) % warm_lines.size()];
          if (line != kElsewhere) flood->lines.push_back(line);
        }
        warm.flood = !walk.traces.empty() && walk.traces.back().flood && walk.traces.back().flood->lines == flood->lines ? walk.traces.back().flood : flood;
      }
      for (std::int64_t i = 0; i < point.warm_steps && !warm.flood; ++i) {
        const auto line = warm_lines[static_cast<std::size_t>(i) % warm_lines.size()];
        if (line >= walk.lines && !others) return std::nullopt;
        if (line < walk.lines) warm.lines.push_back(line);
      }
    }
    warm.warm = warm.lines.size();
    const Misses missed(border, point);
    for (const auto& run : point.runs) {
      if (histories == kMaxHistories) break;
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
        trace.unsure.push_back(missed.unsure(i, run.ticks[i]));
      }
      walk.traces.push_back(std::move(trace));
    }
  }
  walk.others = numbers.others();
  return walk;
}

/// Of what `cache_sets` found; nullopt where its sets are chosen by what it could not tell.
std::optional<SetKey> set_of(const Fields& sets, std::int64_t line_bytes) {
  const auto number = [](const Value& value) { const auto* n = value.get<Number>(); return n ? static_cast<std::int64_t>(n->number) : 0; };
  const auto field = [&](const char* name) { const auto found = sets.find(name); return found == sets.end() ? Value() : found->second; };
  const auto name = field("mapping"), count = field("sets"), functions = field("bits");
  const auto* mapping = name.get<std::string>();
  if (!mapping) return std::nullopt;
  if (*mapping == "one set") return SetKey([](std::int64_t) { return 0; });
  if (*mapping == "modulo") return SetKey([sets = number(count)](std::int64_t line) { return static_cast<std::uint64_t>(line % sets); });
  const auto* list = functions.get<List>();
  if (!list || list->empty()) return std::nullopt;
  std::vector<std::uint64_t> masks;
  for (const auto& function : *list) {
    std::uint64_t mask = 0;
    if (const auto* bits = function.get<List>()) {
      for (const auto& bit : *bits) mask |= std::uint64_t{1} << number(bit);
    } else {
      mask = std::uint64_t{1} << number(function);
    }
    masks.push_back(mask);
  }
  return SetKey([masks, line_bytes](std::int64_t line) { return set_number(masks, static_cast<std::uint64_t>(line * line_bytes)); });
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
    if (static_cast<double>(count) > std::max(1.0, border.interference.share * static_cast<double>(accesses))) members.push_back(line * line_bytes);
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

/// Interference is spread over all traces: so many errors of one refute a candidate at once.
std::size_t most_of_one(double share, const Trace& trace) { return kMoreErrors + static_cast<std::size_t>(4 * share * static_cast<double>(trace.missed.size())); }

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
    if (i < trace.warm || i < burn_in || trace.unsure[i - trace.warm]) continue;
    const bool missed = trace.missed[i - trace.warm];
    ++count.judged;
    count.slow += hit && missed ? 1 : 0;
    count.fast += !hit && !missed ? 1 : 0;
  }
  return count;
}

/// States that a set may be in after a warm-up, whatever was before: histories are random ones. Where it is known which of its lines are
/// of the set, they are followed. Otherwise it is other lines that come in alone, and how many is not known: misses fill the ways in
/// turn, so only NRU's marks and QLRU's ages are open; they recur. QLRU's may then be any of thousands: two groups of ways that once
/// differed in age take turns in being old for ever. What makes them one is a long walk over twice the set's ways with visits repeated.
class FloodedSets {
 public:
  FloodedSets(const Candidate& candidate, const Walk& walk, const Flood& flood) : candidate_(candidate), walk_(walk), flood_(flood), random_(walk.lines) { search(kHistories, kNothingNew); }
  [[nodiscard]] const Flood* flood() const { return &flood_; }
  [[nodiscard]] std::size_t size() const { return states_.size(); }
  [[nodiscard]] const PolicySet& operator[](std::size_t i) const { return states_[i]; }
  /// Looks among more histories, once; false: it did before.
  bool search_further() {
    if (searched_further_) return false;
    searched_further_ = true;
    search(kMoreHistories, kMoreHistories);
    return true;
  }

 private:
  void search(std::size_t histories, std::size_t nothing_new) {
    for (std::size_t i = 0, old = 0; i < histories && old < nothing_new; ++i) {
      PolicySet set(candidate_, walk_.lines - 1, walk_.lines + walk_.others, true);
      for (std::size_t visit = 0; !states_.empty() && visit < 8 * walk_.lines; ++visit) set.access(static_cast<std::size_t>(random_() % walk_.lines));
      bool news = false;
      if (flood_.lines.empty()) {
        for (std::size_t line = 0; line < 8 * walk_.lines; ++line) set.flood();
        for (; add(set); set.flood()) news = true;
      } else {
        for (const auto line : flood_.lines) set.access(line);
        news = add(set);
      }
      old = news ? 0 : old + 1;
    }
  }
  bool add(const PolicySet& set) {
    if (states_.size() == kMaxStates || !seen_.insert({set.marks().begin(), set.marks().end()}).second) return false;
    states_.push_back(set);
    return true;
  }

  Candidate candidate_;
  const Walk& walk_;
  const Flood& flood_;
  std::mt19937_64 random_;
  std::vector<PolicySet> states_;
  std::set<std::string> seen_;
  bool searched_further_ = false;
};

/// From a cold or flooded start every access is judged; from a stale one only those after a burn-in that lets any sensible policy
/// forget what it held. nullopt: more errors than `most`.
std::optional<Count> errors_of(const Walk& walk, const Candidate& candidate, bool stale, const Bounds& most) {
  Count all;
  std::optional<FloodedSets> flooded;
  for (const auto& trace : walk.traces) {
    if (trace.flood && (!flooded || trace.flood.get() != flooded->flood())) flooded.emplace(candidate, walk, *trace.flood);
    auto rest = Bounds{most.slow - all.slow, most.fast - all.fast, most.all - all.all()};
    if (most.slow < kMost) rest.slow = std::min(rest.slow, most_of_one(kSlow, trace)), rest.fast = std::min(rest.fast, most_of_one(kFast, trace));
    std::optional<Count> best;
    if (trace.flood) {
      const auto look = [&](std::size_t from) {
        for (auto i = from; i < flooded->size() && (!best || best->all() > 0); ++i) {
          auto better = rest;
          if (best) better.all = std::min(better.all, best->all());
          const auto count = errors_on(trace, (*flooded)[i], 0, better);
          if (better.within(count)) best = count;
        }
      };
      look(0);
      if (const auto known = flooded->size(); !best && all.judged > 0 && flooded->search_further()) look(known);
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
  const double p = chi2_tail(seen.uniform_chi2, seen.uniform_dof);
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
    Numbers numbers(members, line_bytes, known);
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
