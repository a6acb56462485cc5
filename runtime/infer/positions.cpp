// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include "runtime/infer/analysis.h"

// Where accesses miss. Cold first touches miss once in each unit that a miss brings in, so the distance of consecutive misses
// is that unit (Mei17 section 4.6 reads the L2's line so). A walk downwards outwits a prefetcher of what follows; a walk upwards takes what it
// fetches for a part of the unit. In an overflowed set the members miss, and only they.
namespace gexp::infer {
namespace {

constexpr double kMostly = 0.6;   // share of equal spacings that makes a unit
constexpr double kOddSpacings = 0.01;   // share of spacings that interference may have made
constexpr double kOneWay = 0.9;   // confidence that no prefetcher is at work, when nothing was walked against it

std::size_t walk_steps(const records::Point& point) {
  return point.walk && point.walk->steps > 0 ? static_cast<std::size_t>(point.walk->steps) : 0;
}

}  // namespace

Finding miss_spacing(const Context& context) {
  const auto border = raw_miss_range(context.table, context.classes, above_of(context));
  if (!border) {
    return undetermined(context, "all latencies are of one class: either every access was served alike, or none was cached; a walk over cold memory, or another load path, would decide");
  }
  std::map<std::int64_t, std::size_t> spacings, upward;
  std::size_t accesses = 0, misses = 0, runs = 0;
  bool other_ways = false;  // than upwards
  for (const auto& point : context.table.points) {
    const auto lap = walk_steps(point);
    std::vector<std::size_t> counts(lap);
    for (const auto& run : point.runs) {
      for (std::size_t i = 0; i < std::min(lap, run.ticks.size()); ++i) counts[i] += border->has(run.ticks[i]) ? 1 : 0;
      ++runs;
    }
    const bool up = lap > 0 && std::is_sorted(point.walk->offsets.begin(), point.walk->offsets.begin() + point.walk->steps);
    other_ways = other_ways || !up;
    std::int64_t last = -1;
    for (std::size_t i = 0; i < lap; ++i) {
      ++accesses;
      if (2 * counts[i] <= point.runs.size()) continue;
      ++misses;
      const auto offset = point.walk->at(0, static_cast<std::int64_t>(i));
      if (last >= 0) ++spacings[std::abs(offset - last)];
      if (last >= 0 && up) ++upward[offset - last];
      last = offset;
    }
  }
  if (misses == accesses) return undetermined(context, "every access misses: this load path caches nothing here, or nothing as large as two neighbours; a smaller stride or another path would decide");
  if (spacings.empty()) {
    return undetermined(context, "fewer than two accesses miss: the walk is too short, its data was cached before, or a prefetcher brought it in time; a longer walk downwards over flushed memory would decide");
  }
  const auto more = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto total = std::accumulate(spacings.begin(), spacings.end(), std::size_t{0}, [](std::size_t n, const auto& s) { return n + s.second; });
  const auto most = std::max_element(spacings.begin(), spacings.end(), more);
  const auto odd = std::accumulate(spacings.begin(), spacings.end(), std::size_t{0}, [&](std::size_t n, const auto& s) { return s.first > 0 && s.first % most->first == 0 ? n : n + s.second; });
  if (static_cast<double>(most->second) < kMostly * static_cast<double>(total) || static_cast<double>(odd) > kOddSpacings * static_cast<double>(total)) {
    std::string seen;
    for (const auto& [spacing, times] : spacings) {
      if (seen.size() < 60) seen += fmt::format("{}{} B ({} times)", seen.empty() ? "" : ", ", spacing, times);
    }
    return undetermined(context, "the misses are not evenly spaced: " + seen + (other_ways ? "; noise hides the unit, or it is not one: more repetitions would decide"
                                                                                           : "; a prefetcher or noise hides the unit: more repetitions, or a walk downwards, would decide"));
  }
  const double share = static_cast<double>(most->second) / static_cast<double>(total);
  std::string why = "distance of consecutive cold misses";
  double sure = runs >= 2 ? 0.98 + 0.0199 * share : 0.9;
  const auto most_upward = std::max_element(upward.begin(), upward.end(), more);
  if (!other_ways) {
    why += "; a prefetcher of what follows would look the same: a walk downwards would tell";
    sure = std::min(sure, kOneWay);
  } else if (most_upward != upward.end() && most_upward->first != most->first) {
    why += fmt::format("; {} B on the way up, where what follows a miss is fetched with it", most_upward->first);
  }
  return found(context, Value(static_cast<double>(most->first), kBytes), sure, why, fmt::format("{} of {} spacings; {} of {} accesses miss", most->second, total, misses, accesses),
               other_ways ? "more repetitions" : "a walk downwards");
}

Finding first_miss(const Context& context) {
  const auto border = miss_range(context.table, context.classes);
  if (!border) return undetermined(context, "all latencies are of one class: nothing overflows, or a miss costs what a hit does; a larger footprint, or another load path, would decide");
  const auto* data = argument(context);
  double least = 0;
  std::vector<std::pair<double, const records::Point*>> points;
  for (const auto& point : context.table.points) {
    if (point.runs.empty() || !point.walk) continue;
    double x = 0;
    if (data && data->over) {
      const auto at = point.at.find(data->over->text);
      const auto* n = at == point.at.end() ? nullptr : at->second.get<Number>();
      if (n) x = n->number;
    }
    least = points.empty() ? x : std::min(least, x);
    points.emplace_back(x, &point);
  }
  // Misses by offset, on the plateau and beyond it.
  std::map<std::int64_t, std::size_t> before, beyond;
  std::size_t runs = 0, laps_before = 0, laps_beyond = 0, addresses = 0;
  for (const auto& [x, point] : points) {
    const bool plateau = x == least && points.size() > 1;
    auto& into = plateau ? before : beyond;
    const auto lap = walk_steps(*point);
    addresses = std::max(addresses, lap);
    for (const auto& run : point->runs) {
      (plateau ? laps_before : laps_beyond) += lap ? run.ticks.size() / lap : 0;
      ++runs;
    }
    const auto counts = misses_by_step(*point, *border);
    for (std::size_t step = 0; step < counts.size(); ++step) {
      if (counts[step]) into[point->walk->at(0, static_cast<std::int64_t>(step))] += counts[step];
    }
  }
  const auto enough = [&](std::size_t laps) { return significant_misses(*border, laps, addresses, 2); };
  std::erase_if(beyond, [&](const auto& miss) { return miss.second < enough(laps_beyond); });
  if (beyond.empty()) return undetermined(context, "nothing misses again and again: the footprint does not overflow; a larger one would decide");
  for (const auto& [offset, times] : before) {
    if (times >= enough(laps_before)) return undetermined(context, fmt::format("offset {} misses already where everything should fit; a sweep that begins with a smaller footprint would decide", offset));
  }
  const auto first = beyond.begin();
  return found(context, Value(static_cast<double>(first->first), kBytes), 0.999, "the lowest address that misses once the footprint overflows",
               fmt::format("{} addresses miss, this one {} times in {} runs", beyond.size(), first->second, runs));
}

}  // namespace gexp::infer
