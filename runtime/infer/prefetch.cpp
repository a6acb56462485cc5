// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/infer/address_bias.h"
#include "runtime/infer/analysis.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/model_choice.h"
#include "runtime/infer/statistics.h"

// A slow first touch is where the prefetched data ends, the first one of a unit or a page, the first one that a full cache takes, or an
// accident. Walks from several beginnings tell them apart: the first moves with the beginning, units and pages stay, accidents do not recur.
//
// Upwards through an empty cache at one stride, the first touches that are slow tell what a miss brings along. Mei17 section 4.6 sees
// one miss in an array of 2/3 of the L2: that much comes after it. But first touches are slow for other reasons, too: a page is
// translated for the first time, the next fetched unit begins. Those are tied to addresses: they stay where they are when the walk
// begins elsewhere. What a prefetcher fetches is tied to the miss that sets it off, and moves with the beginning. So walks from
// several beginnings are laid over one another twice: by address, and by distance from where each began. The distance of the first
// slow touch that moves with the beginning is what comes with a miss, to within one stride. Later ones must not be further apart;
// they may be closer, for a cache that is full takes nothing ahead of time.
//
// Only accesses that are slow in most runs count, and in more of them than interference explains. Rivals are that one of them is an accident
// all the same, and that touches which are slow for causes of their own lie at one distance by luck. It abstains with one beginning
// when there is anything to tell apart, when nothing but the first touch is slow, and when the distances differ between beginnings.
namespace gexp::infer {
namespace {

/// First touches of the walks that begin at one address.
struct Start {
  std::int64_t first = 0, stride = 0, last = 0;
  std::map<std::int64_t, std::size_t> visits, slow;  ///< by address
  std::size_t runs = 0;
  std::set<std::int64_t> missing;  ///< addresses that are slow again and again
};

/// The first lap of a walk upwards at one stride; nullopt of any other walk.
std::optional<Start> first_lap(const records::Point& point) {
  const auto& walk = point.walk;
  if (!walk || walk->threads != 1 || walk->steps < 3 || point.runs.empty() || point.warm_steps > 0) return std::nullopt;
  Start start{walk->at(0, 0), walk->at(0, 1) - walk->at(0, 0), walk->at(0, walk->steps - 1), {}, {}, 0, {}};
  if (start.stride <= 0) return std::nullopt;
  for (std::int64_t i = 1; i < walk->steps; ++i) {
    if (walk->at(0, i) - walk->at(0, i - 1) != start.stride) return std::nullopt;
  }
  return start;
}

void count(Start& start, const records::Point& point, const MissRange& range) {
  const auto lap = static_cast<std::size_t>(point.walk->steps);
  for (const auto& run : point.runs) {
    for (std::size_t i = 0; i < std::min(lap, run.ticks.size()); ++i) {
      const auto address = point.walk->at(0, static_cast<std::int64_t>(i));
      ++start.visits[address];
      if (range.has(run.ticks[i])) ++start.slow[address];
    }
    ++start.runs;
  }
  start.last = std::max(start.last, point.walk->at(0, point.walk->steps - 1));
}

std::string bytes(std::int64_t value) { return show(static_cast<double>(value), kBytes); }

std::string list_of(const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 4); ++i) text += (i ? ", " : "") + bytes(values[i]);
  return text + (values.size() > 4 ? ", …" : "");
}

/// The nearest slow touch that moves with the beginning, by beginnings.
struct Moving {
  std::map<std::int64_t, std::vector<std::int64_t>> distances;  ///< by beginning; without those whose next slow touch no other walk passes
  std::size_t tied = 0;                                         ///< slow addresses that stay
};

/// Another walk that passes an address and does not begin there tells whether the address itself is what is slow.
Moving moving_of(const std::map<std::int64_t, Start>& starts) {
  Moving moving;
  for (const auto& [first, start] : starts) {
    std::vector<std::int64_t> distances;
    bool hidden = false;
    for (const auto address : start.missing) {
      if (address == first) continue;
      work(starts.size());
      std::size_t passed = 0, slow = 0;
      for (const auto& [other, walk] : starts) {
        if (other == first || address == other || !walk.visits.contains(address)) continue;
        ++passed, slow += walk.missing.contains(address) ? 1 : 0;
      }
      if (passed == 0 && distances.empty()) hidden = !starts.contains(address) || hidden;
      if (passed > 0 && slow == passed) ++moving.tied;
      if (passed > slow && !hidden) distances.push_back(address - first);
    }
    if (!hidden) moving.distances.emplace(first, std::move(distances));
  }
  return moving;
}

/// The commonest distance of neighbouring slow touches when all others are multiples of it; 0 when not.
std::int64_t even_spacing(const Start& start) {
  std::map<std::int64_t, std::size_t> spacings;
  std::size_t all = 0;
  std::optional<std::int64_t> last;
  for (const auto address : start.missing) {
    // The first unit may have been entered in its middle.
    if (last && *last != start.first) ++spacings[address - *last], ++all;
    last = address;
  }
  if (all < 3) return 0;
  const auto most = std::max_element(spacings.begin(), spacings.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return std::all_of(spacings.begin(), spacings.end(), [&](const auto& each) { return each.first % most->first == 0; }) ? most->first : 0;
}

/// Chance that something else made this touch slow as often as it was.
double by_accident(const Start& start, std::int64_t address, double interference) {
  const auto slow = start.slow.find(address);
  if (slow == start.slow.end()) return 1;
  return share_at_least(static_cast<double>(slow->second), static_cast<double>(start.visits.at(address)), std::max(interference, model::kLeastInterference));
}

/// Posterior of an answer whose rivals are that likely together.
double beside(double rivals) { return std::min(kMostConfidence, 1 / (1 + rivals)); }

/// Its rival: what comes with a miss reaches the next slow touch, which is an accident in each of the walks.
Finding nothing_ahead(const Context& context, const std::map<std::int64_t, Start>& starts, std::int64_t unit, double interference,
                      const std::string& why, const std::string& evidence) {
  double accidents = 1;
  for (const auto& [first, start] : starts) {
    const auto next = start.missing.upper_bound(first);
    if (next != start.missing.end()) accidents *= by_accident(start, *next, interference);
  }
  const auto stride = starts.begin()->second.stride;
  auto finding = found(context, Value(0.0, kBytes), beside(accidents), why, evidence);
  finding.interval = {0, static_cast<double>(std::max(unit, stride) - 1)};
  return finding;
}

/// Whether units of this size do not come whole: another cold walk, such as one downwards, goes on in a unit that it has touched, and what
/// it touches there for the first time is slower than its next visit to the same place, which hits.
bool refuted_by_other_walks(const Context& context, std::int64_t unit) {
  double pairs = 0, slower = 0;
  for (const auto& point : context.table.points) {
    if (!point.walk || point.walk->threads != 1 || point.warm_steps > 0 || first_lap(point)) continue;
    const auto lap = static_cast<std::size_t>(point.walk->steps);
    const auto again = repeated_sector_steps(*point.walk);
    for (const auto& run : point.runs) {
      work(lap);
      std::set<std::int64_t> units;
      for (std::size_t i = 0; i + 1 < std::min(lap, run.ticks.size()); ++i) {
        const bool touched = !units.insert(point.walk->at(0, static_cast<std::int64_t>(i)) / unit).second;
        if (touched && !again[i] && again[i + 1]) ++pairs, slower += run.ticks[i] > run.ticks[i + 1] ? 1 : 0;
      }
    }
  }
  return slower > model::kMostly * pairs;
}

/// Nothing moves with the beginning: units that are fetched whole, or pages and what reaches further than the walk.
Finding of_tied(const Context& context, const std::map<std::int64_t, Start>& starts, const MissRange& range, const std::string& said) {
  const auto& one = starts.begin()->second;
  const auto unit = even_spacing(one);
  if (unit == 0 || std::any_of(starts.begin(), starts.end(), [&](const auto& start) { return even_spacing(start.second) != unit; })) {
    return undetermined(context, "the slow first touches are tied to their addresses and not evenly spaced: pages or places, and what comes with a miss reaches further than the walk; a longer walk would decide");
  }
  if (std::all_of(starts.begin(), starts.end(), [&](const auto& start) { return (start.first - one.first) % unit == 0; })) {
    return undetermined(context, fmt::format("slow first touches are {} apart, and so are the beginnings: units or a prefetch; beginnings that are no multiple of it apart would decide", bytes(unit)));
  }
  // Pages are as even as units. A few of them do not show that nothing reaches from one to the next.
  if (one.missing.size() < model::kFewestAlike) {
    return undetermined(context, fmt::format("slow first touches are {} apart and tied to their addresses: pages or large units, and only {} of them; a longer walk would decide", bytes(unit), one.missing.size()));
  }
  if (refuted_by_other_walks(context, unit)) {
    return undetermined(context, fmt::format("slow first touches are {} apart and tied to their addresses, and another walk misses more than once within {}: pages, "
                                             "and what comes with a miss reaches further than the walk; a longer walk would decide", bytes(unit), bytes(unit)));
  }
  return nothing_ahead(context, starts, unit, range.interference.share,
                       fmt::format("slow first touches are {} apart and stay where they are whatever the beginning: units that are fetched whole, and nothing beyond comes with them", bytes(unit)), said);
}

Finding of_beginnings(const Context& context, const std::map<std::int64_t, Start>& starts, const MissRange& range, const std::string& said) {
  const auto moving = moving_of(starts);
  const auto stride = starts.begin()->second.stride;
  std::vector<std::int64_t> nearest;
  std::int64_t silent = 0;  // how far walks go in which nothing moves
  double accidents = 0, luck = 1;
  for (const auto& [first, distances] : moving.distances) {
    const auto& start = starts.at(first);
    if (distances.empty()) {
      silent = std::max(silent, start.last - first);
      continue;
    }
    // Any touch may be an accident; and a slow one of another cause lies anywhere, within a stride of the others' distance by luck.
    accidents += static_cast<double>(start.visits.size()) * by_accident(start, first + distances.front(), range.interference.share);
    if (!nearest.empty()) luck *= std::min(1.0, 2 * static_cast<double>(stride) / static_cast<double>(start.last - first));
    nearest.push_back(distances.front());
  }
  if (nearest.empty() && !moving.distances.empty()) return of_tied(context, starts, range, said);
  if (nearest.size() < 2) {
    return undetermined(context, "a second slow touch lies where only one walk passes: beginnings that are closer together, or a longer walk, would tell a prefetch from a place");
  }
  const auto [low, high] = std::minmax_element(nearest.begin(), nearest.end());
  if (*high - *low >= 2 * stride) {
    return undetermined(context, fmt::format("the second miss comes at different distances from different beginnings ({}): a prefetch that depends on the address, or noise", list_of(nearest)));
  }
  if (silent >= *high) {
    return undetermined(context, fmt::format("one walk goes {} without a second miss, and another misses after {}", bytes(silent), bytes(*low)));
  }
  for (const auto& [first, distances] : moving.distances) {
    for (std::size_t i = 1; i < distances.size(); ++i) {
      // One that falls on a slow address counts as tied, but it is there.
      auto from = distances[i - 1];
      while (distances[i] - from > *high + stride && starts.at(first).missing.contains(first + from + *high)) from += *high;
      if (distances[i] - from <= *high + stride) continue;
      return undetermined(context, fmt::format("misses lie {} from the beginning: a later one brings more than the first, as where a prefetcher learns", list_of(distances)));
    }
  }
  const auto reach = *high;
  auto finding = found(context, Value(static_cast<double>(reach), kBytes), beside(accidents + luck),
                       fmt::format("the second miss comes {} after the first, whatever the beginning", bytes(reach)), fmt::format("{}; {} of them are tied to their addresses", said, moving.tied));
  finding.interval = {static_cast<double>(reach - stride + 1), static_cast<double>(reach)};
  return finding;
}

}  // namespace

Finding prefetch(const Context& context) {
  const auto range = raw_miss_range(context.table, context.classes, above_of(context));
  if (!range) {
    const bool again = std::any_of(context.table.points.begin(), context.table.points.end(), [](const records::Point& point) { return point.walk && point.steps > point.walk->steps; });
    return undetermined(context, again ? "all latencies are of one class, in later laps too: nothing was cold, or nothing was cached; a flush before the walk, or another load path, would decide"
                                       : "all latencies are of one class: nothing was cold, or nothing was cached; a second lap would show what a hit is");
  }
  std::map<std::int64_t, Start> starts;
  for (const auto& point : context.table.points) {
    const auto lap = first_lap(point);
    if (!lap) continue;
    auto& start = starts.try_emplace(lap->first, *lap).first->second;
    if (start.stride == lap->stride) count(start, point, *range);
  }
  std::erase_if(starts, [](const auto& start) { return start.second.runs == 0; });
  if (starts.empty()) return undetermined(context, "no walk goes upwards at one stride from a cold beginning");
  std::size_t runs = SIZE_MAX, touches = 0, slow = 0;
  for (auto& [first, start] : starts) {
    runs = std::min(runs, start.runs);
    for (const auto& [address, times] : start.slow) {
      const auto visits = start.visits.at(address);
      if (2 * times > visits && times >= significant_misses(*range, visits, start.visits.size(), 2)) start.missing.insert(address);
    }
    touches += start.visits.size(), slow += start.missing.size();
  }
  const auto& one = starts.begin()->second;
  for (const auto& [first, start] : starts) {
    if (start.stride != one.stride) return undetermined(context, "the walks have different strides");
    if (!start.missing.contains(first)) return undetermined(context, fmt::format("the first touch at {} is no miss: the cache was not cold, or noise hides it", bytes(first)));
  }
  const auto said = fmt::format("{} of {} first touches are slow, from {} beginnings, {} runs of each or more", slow, touches, starts.size(), runs);
  if (slow == touches) return nothing_ahead(context, starts, 0, range->interference.share, "every first touch misses: nothing comes with a miss as far as the next access", said);

  if (starts.size() == 1 && one.missing.size() > 1) {
    std::vector<std::int64_t> away;
    for (const auto address : one.missing) away.push_back(address - one.first);
    return undetermined(context, fmt::format("slow first touches lie {} from the beginning: a prefetch that ends, a page, a fetched unit; the same walk from other beginnings would tell them apart", list_of(away)));
  }
  if (slow == starts.size()) {
    return undetermined(context, fmt::format("only the first touch is slow: what comes with it reaches {} or further, or was there already; a longer walk would decide", bytes(one.last - one.first)));
  }
  return of_beginnings(context, starts, *range, said);
}

}  // namespace gexp::infer
