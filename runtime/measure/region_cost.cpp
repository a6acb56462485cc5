// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
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

double median(std::span<const std::uint32_t> all) {
  std::vector<std::uint32_t> values(all.begin(), all.end());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

double region_cost(const std::vector<std::uint32_t>& words) {
  using namespace compiler;
  const auto times = std::span(words);
  constexpr std::size_t chains = kChainTimes, cold = 1, cold_regions = kRegionTimes / 4;
  const auto regions = times.subspan(2 * chains);
  if (times[0] == 0) return *std::min_element(regions.begin(), regions.end());  // no chain, nothing that could hit: the least is the cost
  const auto few = shortest_half(times.subspan(cold, chains - cold)), many = shortest_half(times.subspan(chains + cold, chains - cold));
  double latency = (many.centre - few.centre) / (kLongChain - kShortChain);
  if (few.width == 0 && many.width == 0) latency = std::round(latency);
  return std::max(0.0, median(regions.subspan(cold_regions)) - latency);
}

}  // namespace gexp::measure
