// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/infer/requests.h"
#include "runtime/infer/statistics.h"

// Where a latency is short, issuing the loads that fill a table, and using what they brought, takes as long as the wait for an entry,
// and warps of a scheduler delay one another in rises of their own. The same launches with hits issue and use as much, and hold no
// entry. What misses take beyond hits is flat, then, until the table is full, and rises there, in every curve at the same number:
//   mshr  of lines;
//   prt   of warp instructions.
// Each number of either kind is tried: of the curves that reach it, how many rise just there? A rise is local and lasts: the least of
// the points after it lies above the highest of those before. Some rise anywhere, by chance or by how warps are scheduled; how often
// is counted, over all points of all curves. So the chance that as many curves rise at one of the numbers tried, without a table, is
// known, and it is the only threshold. A full table delays the next multiple of its entries, too: the smallest number counts.
//
// Curves of more loads than a warp may have under way begin higher, and what they show is the warp's own limit: they are left out.
// Where hits alone take long, entries come free while loads are still issued: no rise is looked for there.
//
// It abstains when chance may do as much, when lines and warp instructions both explain it, and when hits are no faster. Where nothing
// is seen it says what fits: what takes less than the shortest launch and most of a latency waited for nothing.
namespace gexp::infer {
namespace {

constexpr double kLeastRise = 0.1;              // latencies
constexpr std::size_t kBeside = 3;         // points after a rise, and before its last low one
constexpr double kIssued = 1.5;            // latencies that hits take beyond their shortest: entries come free by then
constexpr double kLimited = 1.35;          // times what a miss adds with the fewest loads: the warp's own limit
constexpr double kFaster = 0.1;            // latencies by which hits are faster, at least
constexpr double kByLuck = 0.005;          // chance below which a number is believed
constexpr double kNothing = 0.1;           // above which nothing is seen
constexpr double kOtherKind = 100;         // times likelier by luck than the kind that is believed: the other does not explain it
constexpr std::size_t kFewestCurves = 2;

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
  if (last < kBeside || last + kBeside >= pair.added.size() || pair.hits[last] > kIssued) return std::nullopt;
  const auto at = pair.added.begin() + static_cast<std::ptrdiff_t>(last) + 1;
  constexpr auto beside = static_cast<std::ptrdiff_t>(kBeside);
  return *std::min_element(at, at + beside) - *std::max_element(at - beside - 1, at);
}

/// A number of lines or warp instructions that would explain rises.
struct CountCandidate {
  std::size_t reached = 0, rising = 0;  ///< curves
  double low = 0, high = INFINITY;      ///< of those that rise: low fits, high does not
  double luck = 1;                      ///< chance that as many rise there without a table
  std::string curves;                   ///< that rise
};

class Rises {
 public:
  explicit Rises(const std::vector<Pair>& pairs) : pairs_(pairs) {
    double all = 0, rising = 0;
    for (const auto& pair : pairs) {
      for (std::size_t i = 0; i < pair.added.size(); ++i) {
        const auto rise = rise_behind(pair, i);
        if (!rise) continue;
        ++all, rising += *rise >= kLeastRise;
      }
    }
    places_ = all, share_ = all > 0 ? std::max(rising, 1.0) / all : 1;
  }

  [[nodiscard]] double places() const { return places_; }

  /// The likeliest number of this kind, or the smaller one of which it is a multiple; none with less than `fits`.
  [[nodiscard]] CountCandidate best(RequestCount measure, double fits) const {
    std::vector<double> numbers;
    for (const auto& pair : pairs_) {
      for (const auto& asked : pair.asked) {
        if (asked.*measure >= fits) numbers.push_back(asked.*measure);
      }
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    std::vector<CountCandidate> all;
    for (const double number : numbers) {
      auto tried = candidate(measure, number);
      if (tried.rising < kFewestCurves) continue;
      tried.luck = std::min(1.0, static_cast<double>(numbers.size()) * share_at_least(static_cast<double>(tried.rising), static_cast<double>(tried.reached), share_));
      all.push_back(tried);
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.luck < b.luck; });
    CountCandidate chosen;
    if (all.empty()) return chosen;
    chosen = all[0];
    for (const auto& other : all) {
      if (other.luck < kByLuck && other.high <= chosen.low && std::log(other.luck) <= std::log(chosen.luck) / 2) chosen = other;
    }
    return chosen;
  }

 private:
  [[nodiscard]] CountCandidate candidate(RequestCount measure, double number) const {
    CountCandidate tried;
    for (const auto& pair : pairs_) {
      const auto beyond = std::partition_point(pair.asked.begin(), pair.asked.end(), [&](const RequestCounts& asked) { return asked.*measure <= number; });
      if (beyond == pair.asked.begin() || beyond == pair.asked.end()) continue;
      const auto& last = *(beyond - 1);
      const auto rise = rise_behind(pair, static_cast<std::size_t>(beyond - pair.asked.begin()) - 1);
      if (!rise) continue;
      ++tried.reached;
      if (*rise < kLeastRise) continue;
      ++tried.rising;
      tried.low = std::max(tried.low, last.*measure), tried.high = std::min(tried.high, (*beyond).*measure);
      tried.curves += fmt::format("{}{} by {:.2f}", tried.curves.empty() ? "" : ", ", pair.name, *rise);
    }
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
      if (pair.misses[i] >= kNoWaitLimit) continue;
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
  if (usual < kFaster) return undetermined(context, fmt::format("hits are faster by {:.0f} % of a latency only: what misses add does not show", 100 * usual));
  std::erase_if(pairs, [&](const Pair& pair) { return pair.added.front() > kLimited * usual; });
  const RequestCounts fits = fitting(pairs);
  const Rises rises(pairs);
  const auto lines = rises.best(&RequestCounts::lines, fits.lines), instructions = rises.best(&RequestCounts::instructions, fits.instructions);
  const bool by_lines = lines.luck < instructions.luck;
  const auto& likelier = by_lines ? lines : instructions;
  const auto& other = by_lines ? instructions : lines;
  const auto* what = by_lines ? "lines" : "warp instructions";
  const auto evidence = fmt::format("{} curves beside hits, {} points; rises in latencies: {}", pairs.size(), rises.places(), likelier.curves.empty() ? "none in two curves" : likelier.curves);
  if (likelier.luck >= kNothing) return none_seen(context, fits, "what misses take beyond hits rises at no number of lines or warp instructions", evidence);
  const auto seen = fmt::format("what misses take beyond hits rises behind {} {} in {} of the {} curves that reach them", range(likelier.low, likelier.high), what, likelier.rising, likelier.reached);
  if (likelier.luck >= kByLuck) return undetermined(context, fmt::format("{}, which chance does once in {:.0f}; more loads of a thread, or more ways to share a line, would decide", seen, 1 / likelier.luck));
  if (other.luck < kOtherKind * likelier.luck) {
    return undetermined(context, fmt::format("{}; so it does behind {} {}, in {} of {}; curves of fewer lines an instruction would decide", seen, range(other.low, other.high), by_lines ? "warp instructions" : "lines", other.rising, other.reached));
  }
  Fields fields;
  fields["kind"] = Value(by_lines ? "mshr" : "prt");
  fields["entries"] = Value(likelier.low);
  fields["most"] = Value(likelier.high - 1);
  if (by_lines) fields["requests"] = Value(likelier.low);
  return found(context, Value(std::move(fields)), std::min(0.999, 1 - likelier.luck), seen, evidence);
}

}  // namespace gexp::infer
