// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/replacement_candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

namespace gexp::infer::replacing {
namespace {

constexpr double kFast = 0.001;       // share of accesses predicted to miss that may hit: nothing makes a miss fast
constexpr double kSlow = 0.03;        // share of accesses predicted to hit that interference may slow down
constexpr std::size_t kMaxStates = 2048;
constexpr std::size_t kHistories = 64;  // before a warm-up
constexpr std::size_t kMoreHistories = 1000;  // where some traces are explained and one is not
constexpr std::size_t kNothingNew = 12; // of them in a row end the search for states
constexpr std::size_t kMoreErrors = 4;  // than the best candidate, and a quarter of its own, refute another
constexpr std::size_t kMost = ~std::size_t{0} / 2;

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

std::size_t share_of(double share, std::size_t all) { return static_cast<std::size_t>(share * static_cast<double>(all)); }
std::size_t enough_to_refute(std::size_t fewest) { return fewest + fewest / 4 + kMoreErrors - 1; }

/// How many errors a candidate may make before it is given up.
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

}  // namespace

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

}  // namespace gexp::infer::replacing
