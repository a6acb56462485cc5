// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "compiler/plan/calibrate.h"
#include "runtime/measure/point_runner.h"

// A chain of many loads meets a tail (a refresh, an interrupt) often: one load in fifty makes one chain of twenty in three late, and
// draws a median up. The shortest half of the times has its centre where most of them lie, whatever up to a third of them do on one
// side (Andrews et al. 1972, "shorth"). Where half of the times are equal, the device answers exactly, and a latency is whole.
namespace gexp::measure {
namespace {

struct Level {
  double centre = 0, width = 0;
};

/// Of the least interval that holds half of the values; of several, the mean.
Level shortest_half(std::span<const std::uint32_t> all) {
  std::vector<double> values(all.begin(), all.end());
  std::sort(values.begin(), values.end());
  const auto half = values.size() / 2;
  Level level{0, INFINITY};
  double sum = 0, count = 0;
  for (std::size_t first = 0; first + half < values.size(); ++first) {
    const double width = values[first + half] - values[first];
    if (width > level.width) continue;
    if (width < level.width) level.width = width, sum = count = 0;
    double inside = 0;
    for (std::size_t i = first; i <= first + half; ++i) inside += values[i];
    sum += inside / static_cast<double>(half + 1), ++count;
  }
  level.centre = sum / count;
  return level;
}

/// The mean without an eighth of the values at either end. A chain's time holds the mean of what noise adds to a load, so the region's is
/// its mean, too: a median would be that of the quicker half where noise adds to half of the loads.
Level trimmed_mean(std::span<const std::uint32_t> all) {
  std::vector<double> values(all.begin(), all.end());
  std::sort(values.begin(), values.end());
  const auto cut = values.size() / 8;
  const double width = values[3 * values.size() / 4] - values[values.size() / 4];
  if (width == 0) return {values[values.size() / 2], 0};
  const std::span kept(values.begin() + static_cast<std::ptrdiff_t>(cut), values.end() - static_cast<std::ptrdiff_t>(cut));
  return {std::accumulate(kept.begin(), kept.end(), 0.0) / static_cast<double>(kept.size()), width};
}

/// Standard error of a centre: of values that are spread as normal ones are, half of them lie within 1.35 standard deviations.
double standard_error(const Level& level, std::size_t values) { return level.width / 1.35 / std::sqrt(static_cast<double>(values)); }

}  // namespace

RegionCost region_cost(const std::vector<std::uint32_t>& words) {
  using namespace compiler;
  const auto times = std::span(words);
  constexpr std::size_t chains = kChainTimes, cold = 1, cold_regions = kRegionTimes / 4;
  const auto regions = times.subspan(2 * chains);
  if (times[0] == 0) return {static_cast<double>(*std::min_element(regions.begin(), regions.end()))};  // no chain, nothing that could hit: the least is the cost
  const auto few = shortest_half(times.subspan(cold, chains - cold)), many = shortest_half(times.subspan(chains + cold, chains - cold));
  double latency = (many.centre - few.centre) / (kLongChain - kShortChain);
  if (few.width == 0 && many.width == 0) latency = std::round(latency);
  const auto region = trimmed_mean(regions.subspan(cold_regions));
  const double of_latency = std::hypot(standard_error(few, chains - cold), standard_error(many, chains - cold)) / (kLongChain - kShortChain);
  return {std::max(0.0, region.centre - latency), std::hypot(standard_error(region, regions.size() - cold_regions), of_latency)};
}

}  // namespace gexp::measure
