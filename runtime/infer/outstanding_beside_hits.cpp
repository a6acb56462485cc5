// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/model_choice.h"
#include "runtime/infer/requests.h"
#include "runtime/infer/statistics.h"

// Where a latency is short, issuing the loads that fill a table, and using what they brought, takes as long as the wait for an entry,
// and warps of a scheduler delay one another in rises of their own. The same launches with hits issue and use as much, and hold no
// entry. What misses take beyond hits is flat, then, until the table is full, and rises there, in every curve at the same number:
//   mshr  of lines;
//   prt   of warp instructions.
// Each number of either kind is a hypothesis: of the curves that reach it, or twice as many, many rise just there. A rise is local and
// lasts: the least of the points after it lies above the highest of those before. Some rise anywhere, by chance or by how warps are
// scheduled; how often is counted, over all points of all curves. That is the rival, no table.
//
// Curves of more loads than a warp may have under way begin higher, and what they show is the warp's own limit: they are left out.
// Where hits alone take long, entries come free while loads are still issued: no rise is looked for there.
//
// It abstains when no number weighs enough beside chance and the other kind, and when hits are no faster. Where nothing
// is seen it says what fits: what takes less than the shortest launch and most of a latency waited for nothing.
namespace gexp::infer {
namespace {


/// Misses beside hits, as threads grow.
struct Pair {
  std::string name;
  double loads = 0;               ///< of a thread
  std::vector<double> added;      ///< what misses take beyond hits, in latencies
  std::vector<double> hits;       ///< what hits take beyond their shortest, in latencies
  std::vector<double> misses;     ///< what misses take beyond the shortest of all, in latencies
  std::vector<RequestCounts> asked;
};

/// By how much what misses add rises behind `last`; nullopt where that cannot be told.
std::optional<double> rise_behind(const Pair& pair, std::size_t last) {
  if (last < model::kFewest || last + model::kFewest >= pair.added.size() || pair.hits[last] > model::kUnlike) return std::nullopt;
  const auto at = pair.added.begin() + static_cast<std::ptrdiff_t>(last) + 1;
  constexpr auto beside = static_cast<std::ptrdiff_t>(model::kFewest);
  return *std::min_element(at, at + beside) - *std::max_element(at - beside - 1, at);
}

/// A number of lines or warp instructions that would explain rises.
struct CountCandidate {
  double number = 0;
  std::size_t reached = 0, rising = 0;  ///< places that it predicts, and those at which a curve rises
  double low = 0, high = INFINITY;      ///< of the curves that rise at it: low fits, high does not
  double evidence = 0;                  ///< logarithm, beside no table
  std::string curves;                   ///< that rise at it
};

/// What all numbers of one kind weigh beside no table, which weighs 1, and the likeliest.
struct CountKind {
  double weight = 0, best_weight = 0;
  CountCandidate best;
};

class Rises {
 public:
  explicit Rises(const std::vector<Pair>& pairs) : pairs_(pairs) {
    double all = 0, rising = 0;
    for (const auto& pair : pairs) {
      for (std::size_t i = 0; i < pair.added.size(); ++i) {
        const auto rise = rise_behind(pair, i);
        if (!rise) continue;
        ++all, rising += *rise >= model::kHidden;
      }
    }
    places_ = all, share_ = (rising + 1) / (all + 2);
  }

  [[nodiscard]] double places() const { return places_; }

  /// The likeliest number of this kind that is `fits` or more.
  [[nodiscard]] CountKind weigh(RequestCount measure, double fits) const {
    std::vector<double> numbers;
    for (const auto& pair : pairs_) {
      for (const auto& asked : pair.asked) {
        if (asked.*measure >= fits) numbers.push_back(asked.*measure);
      }
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    CountKind kind;
    std::vector<CountCandidate> all;
    for (const double number : numbers) {
      work(pairs_.size());
      const auto& tried = all.emplace_back(candidate(measure, number));
      kind.weight += std::exp(tried.evidence) / static_cast<double>(numbers.size());
      if (all.size() == 1 || tried.evidence > kind.best.evidence) kind.best = tried;
    }
    for (const auto& each : all) {  // numbers that nothing tells apart from it are the same answer
      if (kind.best.low <= each.number && each.number < kind.best.high) kind.best_weight += std::exp(each.evidence) / static_cast<double>(numbers.size());
    }
    return kind;
  }

 private:
  /// The rise of one curve where it passes a number; nullopt where it does not, or that cannot be told.
  struct Passed {
    const RequestCounts *last, *next;
    double rise;
  };
  [[nodiscard]] static std::optional<Passed> passed(const Pair& pair, RequestCount measure, double number) {
    const auto beyond = std::partition_point(pair.asked.begin(), pair.asked.end(), [&](const RequestCounts& asked) { return asked.*measure <= number; });
    if (beyond == pair.asked.begin() || beyond == pair.asked.end()) return std::nullopt;
    const auto rise = rise_behind(pair, static_cast<std::size_t>(beyond - pair.asked.begin()) - 1);
    return rise ? std::optional(Passed{&*(beyond - 1), &*beyond, *rise}) : std::nullopt;
  }

  /// A full table makes curves rise at it and at twice as many, each with a chance that is not known (Beta-binomial, flat beforehand);
  /// without one they rise there as often as anywhere.
  [[nodiscard]] CountCandidate candidate(RequestCount measure, double number) const {
    CountCandidate tried;
    tried.number = number;
    for (const auto& pair : pairs_) {
      for (const double times : {1.0, 2.0}) {
        const auto at = passed(pair, measure, times * number);
        if (!at) continue;
        ++tried.reached;
        if (at->rise < model::kHidden) continue;
        ++tried.rising;
        if (times > 1) continue;
        tried.low = std::max(tried.low, at->last->*measure), tried.high = std::min(tried.high, at->next->*measure);
        tried.curves += fmt::format("{}{} by {:.2f}", tried.curves.empty() ? "" : ", ", pair.name, at->rise);
      }
    }
    const auto rising = static_cast<double>(tried.rising), flat = static_cast<double>(tried.reached - tried.rising);
    tried.evidence = std::lgamma(rising + 1) + std::lgamma(flat + 1) - std::lgamma(rising + flat + 2) - rising * std::log(share_) - flat * std::log(1 - share_);
    return tried;
  }

  const std::vector<Pair>& pairs_;
  double places_ = 0, share_ = 1;
};

/// Every curve of misses that has hits beside it, or why there is none.
std::string collect(const Context& context, std::vector<Pair>& pairs) {
  const auto* data = argument(context);
  if (!data || !data->over || !argument(context, "requests") || !argument(context, "instructions")) return "the analysis has no data";
  const auto times = curve(context);
  if (!times) return times.error().message;
  const auto& hits = *argument(context, "hits")->value;
  const auto told_by = compiler::free_names(hits);
  struct Both {
    const CurveSeries* misses = nullptr;
    const CurveSeries* hits = nullptr;
  };
  const auto groups = series_of(context, *times, *data->over);
  std::map<std::string, Both> by_name;
  for (const auto& group : groups) {
    auto at = group.at;
    for (const auto& name : told_by) at.erase(name);
    const auto hit = number_at(context, hits, group.samples.front().point);
    if (!hit) continue;
    auto& both = by_name[name_of(at)];
    (hit->number != 0 ? both.hits : both.misses) = &group;
  }
  double shortest = INFINITY;
  for (const auto& [name, both] : by_name) {
    if (both.misses) shortest = std::min(shortest, both.misses->samples.front().y);
  }
  const auto one = latency_of(context, shortest);
  if (!one) return "the latency after `latency:` is not known";
  const double latency = *one;
  for (const auto& [name, both] : by_name) {
    if (!both.misses || !both.hits) continue;
    Pair pair;
    pair.name = name;
    auto hit = both.hits->samples.begin();
    for (const auto& sample : both.misses->samples) {
      while (hit != both.hits->samples.end() && hit->x < sample.x) ++hit;
      const auto asked = requests_at(context, sample.point);
      if (hit == both.hits->samples.end() || hit->x != sample.x || !asked) continue;
      pair.added.push_back((sample.y - hit->y) / latency);
      pair.hits.push_back(hit->y / latency);
      pair.misses.push_back((sample.y - shortest) / latency);
      pair.asked.push_back(*asked);
    }
    if (pair.asked.empty()) continue;
    pair.loads = pair.asked.front().instructions;
    const double least = *std::min_element(pair.hits.begin(), pair.hits.end());
    for (auto& time : pair.hits) time -= least;
    pairs.push_back(std::move(pair));
  }
  return pairs.empty() ? "no curve was measured with misses and with hits" : "";
}

/// What a miss adds with the fewest loads.
double added_by_few(const std::vector<Pair>& pairs) {
  double fewest = INFINITY;
  for (const auto& pair : pairs) fewest = std::min(fewest, pair.loads);
  std::vector<double> first;
  for (const auto& pair : pairs) {
    if (pair.loads == fewest) first.push_back(pair.added.front());
  }
  return median(std::move(first));
}

/// The most of each that waited for nothing.
RequestCounts fitting(const std::vector<Pair>& pairs) {
  RequestCounts most;
  for (const auto& pair : pairs) {
    for (std::size_t i = 0; i < pair.asked.size(); ++i) {
      if (pair.misses[i] >= kNoWait) continue;
      most.lines = std::max(most.lines, pair.asked[i].lines), most.instructions = std::max(most.instructions, pair.asked[i].instructions);
    }
  }
  return most;
}

}  // namespace

Finding outstanding_beside_hits(const Context& context) {
  std::vector<Pair> pairs;
  if (const auto why = collect(context, pairs); !why.empty()) return undetermined(context, why);
  const double usual = added_by_few(pairs);
  if (usual < model::kHidden) return undetermined(context, fmt::format("hits are faster by {:.0f} % of a latency only: what misses add does not show", 100 * usual));
  std::erase_if(pairs, [&](const Pair& pair) { return pair.added.front() > (1 + model::kOneThing) * usual; });
  const RequestCounts fits = fitting(pairs);
  const Rises rises(pairs);
  const auto lines = rises.weigh(&RequestCounts::lines, fits.lines), instructions = rises.weigh(&RequestCounts::instructions, fits.instructions);
  const bool by_lines = lines.weight > instructions.weight;
  const auto& likelier = by_lines ? lines : instructions;
  const auto& other = by_lines ? instructions : lines;
  const auto& best = likelier.best;
  const auto* what = by_lines ? "lines" : "warp instructions";
  const auto* other_what = by_lines ? "warp instructions" : "lines";
  const double all = 1 + lines.weight + instructions.weight;
  const auto evidence = fmt::format("{} curves beside hits, {} points; rises in latencies: {}", pairs.size(), rises.places(), best.curves.empty() ? "none" : best.curves);
  if (1 / all > 0.5 || best.curves.empty()) return none_seen(context, fits, model::kGivenPart, "what misses take beyond hits rises at no number of lines or warp instructions", evidence);
  const auto seen = fmt::format("what misses take beyond hits rises behind {} {}, and twice as many, at {} of the {} places where curves reach that ({:.1f} %; behind {} {}: {:.1f} %; by chance: {:.1f} %)",
                                range(best.low, best.high), what, best.rising, best.reached, 100 * std::min(kMostConfidence, likelier.best_weight / all), range(other.best.low, other.best.high), other_what,
                                100 * other.weight / all, 100 / all);
  Fields fields;
  fields["kind"] = Value(by_lines ? "mshr" : "prt");
  fields["entries"] = Value(best.low);
  fields["most"] = Value(best.high - 1);
  if (by_lines) fields["requests"] = Value(best.low);
  return found(context, Value(std::move(fields)), std::min(kMostConfidence, likelier.best_weight / all), seen, evidence, "more loads of a thread, or curves of fewer lines an instruction");
}

}  // namespace gexp::infer
