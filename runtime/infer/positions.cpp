// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include "runtime/infer/analysis.h"

// Where accesses miss. Cold first touches miss once in each unit that a miss brings in, so the distance of consecutive misses
// is that unit (Mei17 section 4.6 reads the L2's line so). In an overflowed set the members miss, and only they.
namespace gexp::infer {
namespace {

constexpr double kMostly = 0.6;  // share of equal spacings that makes a unit

std::size_t lap_of(const Point& point) {
  return point.walk && point.walk->steps > 0 ? static_cast<std::size_t>(point.walk->steps) : 0;
}

}  // namespace

Finding miss_spacing(const Context& context) {
  const auto border = miss_range(context.table, context.classes);
  if (!border) {
    return undetermined(context, "all latencies are of one class: either every access was served alike, or none was cached");
  }
  std::map<std::int64_t, std::size_t> spacings;
  std::size_t accesses = 0, misses = 0, runs = 0;
  for (const auto& point : context.table.points) {
    const auto lap = lap_of(point);
    std::vector<std::size_t> counts(lap);
    for (const auto& run : point.runs) {
      const auto missed = missed_accesses(run, *border);
      for (std::size_t i = 0; i < std::min(lap, missed.size()); ++i) counts[i] += missed[i] ? 1 : 0;
      ++runs;
    }
    std::int64_t last = -1;
    for (std::size_t i = 0; i < lap; ++i) {
      ++accesses;
      if (2 * counts[i] <= point.runs.size()) continue;
      ++misses;
      const auto offset = point.walk->at(0, static_cast<std::int64_t>(i));
      if (last >= 0) ++spacings[std::abs(offset - last)];  // a walk downwards outwits a prefetcher
      last = offset;
    }
  }
  if (misses == accesses) return undetermined(context, "every access misses: this load path caches nothing here");
  if (spacings.empty()) return undetermined(context, "fewer than two accesses miss: the walk is too short, or its data was cached before");
  const auto total = std::accumulate(spacings.begin(), spacings.end(), std::size_t{0}, [](std::size_t n, const auto& s) { return n + s.second; });
  const auto most = std::max_element(spacings.begin(), spacings.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool multiples = std::all_of(spacings.begin(), spacings.end(), [&](const auto& s) { return s.first > 0 && s.first % most->first == 0; });
  if (static_cast<double>(most->second) < kMostly * static_cast<double>(total) || !multiples) {
    std::string seen;
    for (const auto& [spacing, times] : spacings) {
      if (seen.size() < 60) seen += fmt::format("{}{} B ({} times)", seen.empty() ? "" : ", ", spacing, times);
    }
    return undetermined(context, "the misses are not evenly spaced: " + seen + "; a prefetcher or noise hides the unit");
  }
  const double share = static_cast<double>(most->second) / static_cast<double>(total);
  return found(context, Value(static_cast<double>(most->first), kBytes), runs >= 2 ? 0.98 + 0.0199 * share : 0.9,
               "distance of consecutive cold misses",
               fmt::format("{} of {} spacings; {} of {} accesses miss", most->second, total, misses, accesses));
}

Finding first_miss(const Context& context) {
  const auto border = miss_range(context.table, context.classes);
  if (!border) return undetermined(context, "all latencies are of one class: nothing overflows");
  const auto* data = argument(context);
  double least = 0;
  std::vector<std::pair<double, const Point*>> points;
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
    const auto lap = lap_of(*point);
    addresses = std::max(addresses, lap);
    for (const auto& run : point->runs) {
      (plateau ? laps_before : laps_beyond) += lap ? run.ticks.size() / lap : 0;
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        if ((*border)(run.ticks[i])) ++into[point->walk->at(0, static_cast<std::int64_t>(i % lap))];
      }
      ++runs;
    }
  }
  const auto enough = [&](std::size_t laps) { return enough_misses(*border, laps, addresses, 2); };
  std::erase_if(beyond, [&](const auto& miss) { return miss.second < enough(laps_beyond); });
  if (beyond.empty()) return undetermined(context, "nothing misses again and again: the footprint does not overflow");
  for (const auto& [offset, times] : before) {
    if (times >= enough(laps_before)) return undetermined(context, fmt::format("offset {} misses already where everything should fit", offset));
  }
  const auto first = beyond.begin();
  return found(context, Value(static_cast<double>(first->first), kBytes), 0.999, "the lowest address that misses once the footprint overflows",
               fmt::format("{} addresses miss, this one {} times in {} runs", beyond.size(), first->second, runs));
}

}  // namespace gexp::infer
