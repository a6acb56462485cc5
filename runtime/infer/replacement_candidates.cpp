// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/replacement_candidates.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"

namespace gexp::infer::replacing {
namespace {

// Limits of computation: states of a set after a warm-up, and random histories before it that find them.
constexpr std::size_t kMaxStates = 2048;  // limit: states of ways that are followed at once
constexpr std::size_t kHistories = 64;  // limit: of random accesses that are tried
constexpr std::size_t kMoreHistories = 1000;  // limit: where some traces are explained and one is not
constexpr std::size_t kNothingNew = 12;       // limit: of them in a row end the search

/// States that a set may be in after a warm-up, whatever was before: histories are random ones. Where it is known which of its lines are
/// of the set, they are followed. Otherwise it is other lines that come in alone, and how many is not known: misses fill the ways in
/// turn, so only NRU's marks and QLRU's ages are open; they recur. QLRU's may then be any of thousands: two groups of ways that once
/// differed in age take turns in being old for ever. What makes them one is a long walk over twice the set's ways with visits repeated.
class FloodedSets {
 public:
  FloodedSets(const Candidate& candidate, const Walk& walk, const Flood& flood)
      : candidate_(candidate), walk_(walk), flood_(flood), random_(walk.lines) {
    search(kHistories, kNothingNew);
  }
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
      work(16 * walk_.lines);
      PolicySet set(candidate_, walk_.lines - 1, walk_.lines + walk_.others, true);
      for (std::size_t visit = 0; !states_.empty() && visit < 8 * walk_.lines; ++visit)
        set.access(static_cast<std::size_t>(random_() % walk_.lines));
      bool news = false;
      if (flood_.lines.empty()) {
        for (std::size_t line = 0; line < 8 * walk_.lines; ++line) set.flood();
        for (; add(set); set.flood()) work(), news = true;
      } else {
        for (const auto line : flood_.lines) set.access(line);
        news = add(set);
      }
      old = news ? 0 : old + 1;
    }
  }
  bool add(const PolicySet& set) {
    const auto marks = set.marks();
    if (states_.size() == kMaxStates || !seen_.insert({marks.begin(), marks.end()}).second) return false;
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

/// A hypothesis on its way through the walk.
struct Course {
  Outcomes outcomes;
  Outcomes forgotten;            ///< accesses whose beginning nobody knows: they may come out in any way
  double beginnings = 0;         ///< tempered nats that the choice of a beginning took, in all traces so far
  Bits hits;                     ///< of this trace
  std::vector<double> by_block;  ///< log-likelihood, of this trace
  [[nodiscard]] double log_likelihood() const { return replacing::log_likelihood(outcomes) + log_of_any_errors(forgotten) + beginnings; }
};

/// What a candidate predicts from one state of the set on, as far as anyone asked. Runs of one point walk the same lines.
class Prediction {
 public:
  Prediction(PolicySet set, const Trace& trace) : set_(std::move(set)) {
    work(trace.warm);
    for (std::size_t i = 0; i < trace.warm; ++i) set_.access(trace.lines[i]);
  }
  std::uint64_t hits(const Trace& trace, std::size_t block) {
    while (hits_.size() <= block) {
      const auto first = kBlock * hits_.size(), count = std::min(kBlock, trace.missed.size() - first);
      work(count / 2);
      hits_.push_back(0);
      for (std::size_t i = 0; i < count; ++i) hits_.back() |= std::uint64_t{set_.access(trace.lines[trace.warm + first + i])} << i;
    }
    return hits_[block];
  }

 private:
  PolicySet set_;
  Bits hits_;
};

/// One candidate with one idea of what a set is like when a launch begins.
class Follower {
 public:
  /// `seen`: of each trace.
  Follower(const Walk& walk, const std::vector<Seen>& seen, const Candidate& candidate, bool stale, const Reference& reference)
      : walk_(walk), seen_(seen), candidate_(candidate), stale_(stale), reference_(reference) {}

  Scored follow() {
    Scored scored{candidate_, {}, 0, 0, true};
    for (std::size_t t = 0; t < walk_.traces.size(); ++t) {
      const auto& trace = walk_.traces[t];
      if (t > 0 && !trace.walks_as(walk_.traces[t - 1])) predictions_.clear();
      auto next = trace.flood ? from_any_state(t) : from(t, 0, PolicySet(candidate_, walk_.lines - 1, walk_.lines, stale_), {});
      scored.followed = next.has_value();
      if (!next) break;
      by_block.insert(by_block.end(), next->by_block.begin(), next->by_block.end());
      scored.hits.push_back(std::move(next->hits));
      at_ = std::move(*next);
    }
    const auto& last = scored.followed ? at_ : furthest_;
    scored.outcomes = last.outcomes;
    scored.log_likelihood = last.log_likelihood();
    scored.accesses = static_cast<std::size_t>(last.outcomes.judged() + last.forgotten.judged());
    return scored;
  }

  std::vector<double> by_block;  ///< its log-likelihood at the end of each

 private:
  /// Through one trace, from the state of this number on. nullopt: left behind by other hypotheses, or by `best`, of another state.
  std::optional<Course> from(std::size_t t, std::size_t state, const PolicySet& set, const std::vector<double>& best) {
    const auto& trace = walk_.traces[t];
    Course course{at_.outcomes, at_.forgotten, at_.beginnings, {}, {}};
    course.hits.reserve(trace.missed.size() / kBlock + 1);
    if (state == predictions_.size()) predictions_.emplace_back(set, trace);
    auto& prediction = predictions_[state];
    const auto left_behind = [&](std::size_t block) {
      course.by_block.push_back(course.log_likelihood());
      const auto own = course.by_block.size() - 1;
      return reference_.left_behind(block, course.by_block[own]) || (!best.empty() && course.by_block[own] < best[own] - Reference::kBehind);
    };
    // What is left of other lines is forgotten by any sensible policy after so many accesses.
    const std::size_t burn_in = stale_ ? 8 * walk_.lines : 0;
    const auto judged = trace.missed.size();
    for (std::size_t i = 0; i < judged; i += kBlock) {
      work(kBlock / 4);
      const auto block = i / kBlock;
      const auto hits = prediction.hits(trace, block), missed = seen_[t].missed[block], sure = seen_[t].judged[block];
      const auto forgotten = trace.warm + i < burn_in ? first_of_block(burn_in - trace.warm - i) : 0;
      course.hits.push_back(hits);
      course.forgotten.add(hits, missed, sure & forgotten);
      course.outcomes.add(hits, missed, sure & ~forgotten);
      if (i + kBlock <= judged && left_behind(reference_.block(t, i))) return furthest_ = std::move(course), std::nullopt;
    }
    if (left_behind(reference_.block(t + 1, 0) - 1)) return furthest_ = std::move(course), std::nullopt;
    return course;
  }

  /// Through a trace that begins in any of many states, each as likely: the likeliest one is gone on with.
  std::optional<Course> from_any_state(std::size_t t) {
    const auto& flood = *walk_.traces[t].flood;
    if (!flooded_ || flooded_->flood() != &flood) flooded_.emplace(candidate_, walk_, flood);
    std::optional<Course> best;
    std::vector<double> all;
    const auto look = [&](std::size_t first) {
      for (auto i = first; i < flooded_->size(); ++i) {
        auto course = from(t, i, (*flooded_)[i], best ? best->by_block : std::vector<double>{});
        if (!course) continue;
        all.push_back(model::kTemper * course->by_block.back());
        if (!best || course->by_block.back() > best->by_block.back()) best = std::move(course);
      }
    };
    look(0);
    if (const auto known = flooded_->size(); !best && t > 0 && flooded_->search_further()) look(known);
    if (!best) return std::nullopt;
    const double choice = (log_sum(all) - std::log(static_cast<double>(flooded_->size()))) / model::kTemper - best->by_block.back();
    best->beginnings += choice;
    best->by_block.back() += choice;
    return best;
  }

  const Walk& walk_;
  const std::vector<Seen>& seen_;
  Candidate candidate_;
  bool stale_;
  const Reference& reference_;
  Course at_, furthest_;
  std::vector<Prediction> predictions_;  // by state, of the point that the last trace was of
  std::optional<FloodedSets> flooded_;
};

}  // namespace

std::vector<Scored> scored(const Walk& walk, const std::function<bool(const Candidate&)>& allowed, Reference& reference) {
  const bool flooded = std::all_of(walk.traces.begin(), walk.traces.end(), [](const Trace& trace) { return trace.flood != nullptr; });
  const std::vector<Seen> seen(walk.traces.begin(), walk.traces.end());
  std::vector<Scored> all;
  std::size_t best = 0;
  for (const auto& candidate : candidate_policies(walk.lines - 1)) {
    if (!allowed(candidate)) continue;
    std::optional<Scored> better;
    // Ages that nobody knows are not forgotten.
    for (const bool stale : {false, true}) {
      if (stale && (candidate.policy == Candidate::Policy::Qlru || flooded)) continue;
      Follower follower(walk, seen, candidate, stale, reference);
      auto each = follower.follow();
      if (each.followed) reference.offer(follower.by_block);
      if (!better || std::tuple(each.followed, each.followed ? each.log_likelihood : 0, each.accesses) >
                         std::tuple(better->followed, better->followed ? better->log_likelihood : 0, better->accesses))
        better = std::move(each);
    }
    if (better->followed && (all.empty() || !all[best].followed || better->log_likelihood > all[best].log_likelihood)) {
      if (!all.empty()) all[best].hits.clear();
      best = all.size();
    } else if (!all.empty()) {
      better->hits.clear();
    }
    all.push_back(std::move(*better));
  }
  return all;
}

}  // namespace gexp::infer::replacing
