// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/plan/calibrate.h"
#include "runtime/measure/point_runner.h"

// Where half of the times are equal the device answers exactly, and a latency is whole. Else noise adds to each load, seldom or often, and
// not evenly to both sides. A chain then holds the sum of so many loads as the region's times hold each by itself, with the region's cost.
// So sums of 4 and of 20 of the region's own times, drawn by chance (the bootstrap: Efron 1979), are spread as the chains are, but for 4 and
// for 20 times the cost, and the chain's own. Means of the lowest quarter of both are compared, whatever the noise is: what strikes seldom, a
// refresh or an interrupt, is not among them. Where chains are spread no wider than regions, the noise is that of reading the clock, once in
// each. The standard error is that of leaving out an eighth of all times in turn (the jackknife).
namespace gexp::measure {
namespace {

using Times = std::vector<double>;

constexpr std::size_t kCold = 1, kColdRegions = compiler::kRegionTimes / 4;  // of a launch, that nothing is told of
constexpr std::size_t kParts = 8;    // of all times, one of which is left out
constexpr std::size_t kSums = 512;  // that are drawn

/// The times of chains and of regions, of all launches together, ascending.
struct CalibrationTimes {
  Times few, many, regions;
};

/// Times, each with the part that it is left out with, ascending: sorted once for all parts.
using TimesByPart = std::vector<std::pair<std::uint32_t, std::size_t>>;

TimesByPart times_by_part(std::span<const std::uint32_t> words, std::size_t begin, std::size_t cold, std::size_t count) {
  TimesByPart times;
  for (; !words.empty(); words = words.subspan(compiler::kCalibrationWords)) {
    for (std::size_t i = cold; i < count; ++i) times.emplace_back(words[begin + i], i % kParts);
  }
  std::sort(times.begin(), times.end());
  return times;
}

Times without(const TimesByPart& all, std::size_t part) {
  Times times;
  times.reserve(all.size());
  for (const auto& [time, of] : all) {
    if (of != part) times.push_back(time);
  }
  return times;
}

/// The value that half of all are; nullopt where they scatter.
std::optional<double> usual(const Times& times) {
  const auto half = times.size() / 2;
  for (std::size_t first = 0; first + half < times.size(); ++first) {
    if (times[first] == times[first + half]) return times[first];
  }
  return std::nullopt;
}

double lowest_quarter(Times times) {
  const auto end = times.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, times.size() / 4));
  std::nth_element(times.begin(), end - 1, times.end());
  return std::accumulate(times.begin(), end, 0.0) / static_cast<double>(end - times.begin());
}

/// Of all but a tenth at either end.
double spread(const Times& times) { return times[times.size() - 1 - times.size() / 10] - times[times.size() / 10]; }

/// The mean without an eighth of the values at either end.
double trimmed_mean(const Times& times) {
  const auto cut = static_cast<std::ptrdiff_t>(times.size() / 8);
  return std::accumulate(times.begin() + cut, times.end() - cut, 0.0) / static_cast<double>(static_cast<std::ptrdiff_t>(times.size()) - 2 * cut);
}

/// Whether each load of a chain has noise of its own: then long chains are spread wider than regions by the root of their length, and not as
/// wide. The nearer of both is true.
bool loads_scatter(const CalibrationTimes& times) { return spread(times.many) > std::sqrt(std::sqrt(compiler::kLongChain)) * spread(times.regions); }

/// Numbers of 32 bits by chance, others for each `seed`.
std::vector<std::uint64_t> drawn_numbers(std::uint64_t seed) {
  std::vector<std::uint64_t> drawn(kSums * compiler::kLongChain);
  for (auto& number : drawn) {
    seed = seed * 6364136223846793005 + 1442695040888963407;  // fact: Knuth's linear congruential generator (MMIX)
    number = seed >> 32;
  }
  return drawn;
}

/// Sums of so many of the values, the same ones for each part that is left out.
Times sums_of(const Times& values, int count, const std::vector<std::uint64_t>& drawn) {
  auto next = drawn.begin();
  Times sums(kSums);
  for (auto& sum : sums) {
    for (int i = 0; i < count; ++i) sum += values[*next++ * values.size() >> 32];
  }
  return sums;
}

double cost_under_noise(const CalibrationTimes& times, const std::vector<std::uint64_t>& numbers) {
  constexpr double loads = compiler::kLongChain - compiler::kShortChain;
  const double chains = lowest_quarter(times.many) - lowest_quarter(times.few);
  if (!loads_scatter(times)) return trimmed_mean(times.regions) - chains / loads;
  const double drawn = lowest_quarter(sums_of(times.regions, compiler::kLongChain, numbers)) - lowest_quarter(sums_of(times.regions, compiler::kShortChain, numbers));
  return (drawn - chains) / loads;
}

}  // namespace

RegionCost region_cost(const std::vector<std::uint32_t>& words) {
  using namespace compiler;
  const auto launches = words.size() / kCalibrationWords;
  if (words[0] == 0) {  // no chain, nothing that could hit: the least is the cost
    double sum = 0;
    for (auto at = words.begin(); at != words.end(); at += kCalibrationWords) sum += *std::min_element(at + 2 * kChainTimes, at + kCalibrationWords);
    return {sum / static_cast<double>(launches)};
  }
  const auto few = times_by_part(words, 0, kCold, kChainTimes), many = times_by_part(words, kChainTimes, kCold, kChainTimes);
  const auto regions = times_by_part(words, 2 * kChainTimes, kColdRegions, kRegionTimes);
  const auto times_without = [&](std::size_t part) { return CalibrationTimes{without(few, part), without(many, part), without(regions, part)}; };
  const auto all = times_without(kParts);
  if (const auto short_chain = usual(all.few), long_chain = usual(all.many), region = usual(all.regions); short_chain && long_chain && region) {
    return {std::max(0.0, *region - std::round((*long_chain - *short_chain) / (kLongChain - kShortChain)))};
  }
  const auto numbers = drawn_numbers(std::accumulate(words.begin(), words.end(), std::uint64_t{0}));
  double sum = 0, squares = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    const double cost = cost_under_noise(times_without(part), numbers);
    sum += cost, squares += cost * cost;
  }
  const double variance = std::max(0.0, squares - sum * sum / kParts) * (kParts - 1) / kParts;
  return {cost_under_noise(all, numbers), std::sqrt(variance)};  // may be below 0: on average it is not
}

}  // namespace gexp::measure
