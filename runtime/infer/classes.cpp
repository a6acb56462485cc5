// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/classes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/infer/statistics.h"
#include "runtime/infer/background_interference.h"
#include "runtime/infer/modes.h"

// Latencies of a memory hierarchy come in modes: a level answers in its own time, spread by a few cycles or not at all. Two
// modes are two classes when hardly anything lies between them: the histogram, smoothed by up to half a percent of the latency, must
// fall between two peaks by far more than chance lets it (198 and 204 without noise; 272 and 304 with ten cycles of spread).
// Far apart, a few accesses are a class too, if the same addresses are slow again. What is rare and strikes anywhere is
// interference and forms no class; a tail that thins out beyond a mode has no peak and belongs to that mode.
namespace gexp::infer {
namespace {

constexpr double kFar = 0.12;            // share of the value that, left empty, parts even single accesses
constexpr ModeCriteria kWithAddressBias{0.2, 0.005, 1.5, 1};   // addresses may differ for where they lie
constexpr ModeCriteria kWithoutAddressBias{0.5, 0.0025, 0.5, 2};     // that is taken out, or they do not
constexpr double kEnoughRepeats = 500;    // visits to the sector just visited that tell how hits are spread
constexpr double kRepeats = 0.3;          // share of all visits
constexpr double kSomeRepeats = 0.1;      // share of the pairs of visits to a sector that are slower than a border, or not, from which on it parts hits
constexpr double kTrim = 0.002;          // of a mode's accesses, at each end, that do not make its range
constexpr double kRare = 2e-4;           // share of all accesses below which a class must recur at its addresses to count
constexpr double kFarOut = 2;            // times the slowest class: beyond it is no access of this hierarchy
constexpr double kFalsePosition = 1e-3;  // chance that some position of a point is called missing by interference alone
constexpr double kUnsure = 0.5;          // of the way from a border to the nearer class's centre
constexpr double kRecursByLuck = 0.05;   // chance of as many repetitions of one address in a rare class
constexpr double kAlikeByLuck = 1e-3;    // chance that the runs are as much alike in a broad class
constexpr double kEnoughSlow = 6;      // accesses of a rare class at one point, to count as its own
constexpr double kElsewhere = 1e-6;      // chance that so many of them fall on that point
constexpr double kAsElsewhere = 0.03;    // share of a class's centre by which a latency measured elsewhere may be off it
constexpr double kAsNear = 2;            // cycles more
constexpr double kConcentrated = 0.25;   // a class's middle half is narrower than this share of its centre

/// Whether the accesses of a rare or a broad class recur where interference would not: at their addresses, lap after lap, or, those of a broad
/// one, at the same accesses of every run, as first touches do of a cache that was emptied, which all addresses have once.
bool recurs(const records::Table& table, std::uint32_t low, std::uint32_t high, bool rare) {
  struct Pairs {
    double seen = 0, expected = 0;
    void add(const std::vector<double>& slow) {
      double all = 0;
      for (const auto times : slow) seen += times * (times - 1) / 2, all += times;
      if (all > 0) expected += all * (all - 1) / 2 / static_cast<double>(slow.size());
    }
    [[nodiscard]] bool beyond(double chance) const { return seen >= 1 && poisson_at_least(seen, expected) < chance; }
  } of_address, of_access;
  for (const auto& point : table.points) {
    if (!point.walk || point.walk->steps == 0) continue;
    const auto lap = static_cast<std::size_t>(point.walk->steps);
    std::vector<double> by_address, by_access;  // slow visits; empty while none is
    for (const auto& run : point.runs) {
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        if (run.ticks[i] < low || run.ticks[i] > high) continue;
        by_address.resize(lap);
        by_access.resize(std::max(by_access.size(), run.ticks.size()));
        ++by_address[i % lap], ++by_access[i];
      }
    }
    of_address.add(by_address);
    of_access.add(by_access);
  }
  return of_address.beyond(kRecursByLuck) || (!rare && of_access.beyond(kAlikeByLuck));
}

/// Whether the accesses of a rare class keep to some point, run after run: random replacement misses once a lap, at any address,
/// where a footprint is a line too large, and nowhere else. Interference strikes every point alike.
bool keeps_to_a_point(const records::Table& table, std::uint32_t low, std::uint32_t high) {
  struct SlowAccesses {
    double slow = 0, accesses = 0;
    std::size_t runs = 0, runs_slow = 0;
  };
  std::vector<SlowAccesses> counts;
  SlowAccesses all;
  for (const auto& point : table.points) {
    SlowAccesses count;
    for (const auto& run : point.runs) {
      const auto here = std::count_if(run.ticks.begin(), run.ticks.end(), [&](auto tick) { return tick >= low && tick <= high; });
      count.slow += static_cast<double>(here), count.accesses += static_cast<double>(run.ticks.size());
      ++count.runs, count.runs_slow += here > 0 ? 1 : 0;
    }
    all.slow += count.slow, all.accesses += count.accesses;
    counts.push_back(count);
  }
  return std::any_of(counts.begin(), counts.end(), [&](const SlowAccesses& count) {
    return count.slow >= kEnoughSlow && count.runs >= 2 && count.runs_slow * 4 >= count.runs * 3 &&
           share_at_least(count.slow, all.slow, count.accesses / all.accesses) < kElsewhere;
  });
}

/// By cell: the visits to the sector that the walk visited just before, which always hit; empty where some walk is not known.
std::vector<double> repeated_hits(const records::Table& table, const Histogram& histogram) {
  std::vector<double> hits(histogram.size());
  for (const auto& point : table.points) {
    if (point.runs.empty()) continue;
    if (!point.walk || point.walk->steps == 0) return {};
    const auto repeated = repeated_sector_steps(*point.walk);
    if (std::find(repeated.begin(), repeated.end(), true) == repeated.end()) continue;
    for (const auto& run : point.runs) {
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        if (repeated[i % repeated.size()]) ++hits[histogram.cell_of(run.ticks[i])];
      }
    }
  }
  return hits;
}

/// Where walks come to a sector twice in a row, the second visit always hits: such visits show how hits alone are spread. What the
/// other visits of the same mode have beyond that, slower by more than slices or a comb, is a mode of its own, valley or not.
void split_by_repeated_hits(const Histogram& histogram, const std::vector<double>& hits, ModeCriteria criteria, std::vector<Mode>& modes) {
  const auto begin = modes.front().begin, end = modes.back().end;
  const auto all = static_cast<double>(histogram.before(end) - histogram.before(begin));
  const auto all_hits = std::accumulate(hits.begin() + static_cast<std::ptrdiff_t>(begin), hits.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
  if (all_hits < kEnoughRepeats || all_hits < kRepeats * all) return;
  const auto others = [&](std::size_t cell) { return static_cast<double>(histogram.before(cell + 1) - histogram.before(cell)) - hits[cell]; };
  auto middle = begin;  // the cell of the median hit
  double hits_upto = hits[begin], others_upto = others(begin);
  while (2 * hits_upto < all_hits) ++middle, hits_upto += hits[middle], others_upto += others(middle);
  const auto mode = std::find_if(modes.begin(), modes.end(), [&](const Mode& each) { return middle >= each.begin && middle < each.end; });
  const double scale = others_upto / hits_upto;  // hits among the others
  // The border by which the fewest accesses are on the wrong side.
  double gain = 0, best = 0, slow = 0, slow_hits = 0, beyond = 0, beyond_hits = 0;
  std::size_t border = mode->end;
  for (auto cell = mode->end - 1; cell > middle; --cell) {
    beyond += others(cell), beyond_hits += hits[cell];
    gain += others(cell) - (2 * scale + 1) * hits[cell];
    if (gain > best) best = gain, border = cell, slow = beyond, slow_hits = beyond_hits;
  }
  if (border == mode->end || poisson_at_least(slow, criteria.own * scale * slow_hits + 1) > kValleyChance) return;
  double centre = histogram.tick(border), sum = 0;
  for (auto cell = border; cell < mode->end && 2 * sum < slow; ++cell) centre = histogram.tick(cell), sum += others(cell);
  if (centre - histogram.tick(middle) < std::max(kNearPeaksCycles, kNearPeaks * centre)) return;
  Mode slower{.begin = border, .end = mode->end};
  mode->end = border, mode->cut = true;
  modes.insert(mode + 1, slower);
}

}  // namespace

std::size_t Classes::of(std::uint32_t tick) const {
  std::size_t best = 0;
  double least = INFINITY;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const double away = tick < list[i].low ? list[i].low - tick : tick > list[i].high ? tick - list[i].high : 0.0;
    if (away < least) least = away, best = i;
  }
  return best;
}

std::optional<double> Classes::above(std::size_t index) const {
  if (index + 1 >= list.size()) return std::nullopt;
  return (static_cast<double>(list[index].high) + static_cast<double>(list[index + 1].low)) / 2;
}

double Classes::outlier() const { return list.empty() ? INFINITY : kFarOut * static_cast<double>(list.back().high); }

namespace {

Classes classify_with(const records::Table& table, ModeCriteria criteria) {
  const Histogram histogram(table);
  Classes classes;
  Density density(histogram, criteria);
  const auto repeated = criteria.own > 1 && table.timing == records::Table::Timing::Each ? repeated_hits(table, histogram) : std::vector<double>();
  const auto rare = std::max<std::uint64_t>(3, static_cast<std::uint64_t>(kRare * static_cast<double>(histogram.total())));
  for (std::size_t begin = 0, end = 0; begin < histogram.size(); begin = end) {
    end = begin + 1;
    while (end < histogram.size() && histogram.tick(end) - histogram.tick(end - 1) <= std::max(kNearPeaksCycles, kFar * histogram.tick(end))) ++end;
    auto modes = peaks(histogram, density, begin, end);
    join(modes, criteria.deep);
    if (!repeated.empty()) split_by_repeated_hits(histogram, repeated, criteria, modes);
    for (const auto& mode : modes) {
      const auto support = histogram.before(mode.end) - histogram.before(mode.begin);
      const double centre = histogram.quantile(mode.begin, mode.end, 0.5);
      const double middle = histogram.quantile(mode.begin, mode.end, 0.75) - histogram.quantile(mode.begin, mode.end, 0.25);
      const bool few = support < rare, broad = middle > kConcentrated * centre;
      const auto low = histogram.tick(mode.begin), high = histogram.tick(mode.end - 1);
      if ((few || broad) && !recurs(table, low, high, few) && (broad || !keeps_to_a_point(table, low, high))) continue;
      const double trim = support < 1000 ? 0 : kTrim;
      classes.list.push_back({histogram.quantile(mode.begin, mode.end, trim), mode.cut ? histogram.tick(mode.end - 1) : histogram.quantile(mode.begin, mode.end, 1 - trim), centre, support});
    }
  }
  return classes;
}

void estimate_interference(const records::Table& table, Classes& classes, ModeCriteria criteria, const std::shared_ptr<const Unbiased>& unbiased) {
  for (std::size_t i = 0; i < classes.list.size(); ++i) {
    const auto border = classes.above(i);
    const bool each = border && table.timing == records::Table::Timing::Each;
    auto interference = each ? background_interference(table, {.above = *border, .outlier = classes.outlier(), .unbiased = unbiased}) : Interference{};
    interference.share *= criteria.own;
    classes.interference.push_back(interference);
  }
}

}  // namespace

Classes classify(const records::Table& table) {
  auto bias = AddressBias::of(table);
  const auto criteria = bias && bias->none() ? kWithoutAddressBias : kWithAddressBias;
  auto classes = classify_with(table, criteria);
  classes.cumulative = std::make_shared<CumulativeMisses>();
  estimate_interference(table, classes, criteria, nullptr);
  if (!bias || bias->none()) return classes;
  const auto unbiased = std::make_shared<Unbiased>(Unbiased{*bias, classify_with(bias->without(table), kWithoutAddressBias)});
  estimate_interference(table, unbiased->classes, kWithoutAddressBias, unbiased);
  classes.unbiased = unbiased;
  return classes;
}

namespace {

/// The ticks that are slower than class `own`; nullopt for the slowest.
std::optional<MissRange> beyond(const Classes& classes, std::size_t own) {
  const auto above = classes.above(own);
  if (!above) return std::nullopt;
  const double unsure = kUnsure * std::min(*above - classes.list[own].centre, classes.list[own + 1].centre - *above);
  return MissRange{.above = *above, .outlier = classes.outlier(), .interference = classes.interference[own], .unsure = unsure};
}

/// Whether this parts hits: some sectors that are visited twice in a row are slower than it both times, and others not. The second visit
/// always hits, so it is where the sector lies that makes it slow. (Once in a sector may be a miss: an H200's texture
/// path fetches units of 32 B that do not begin where an array does.)
bool parts_hits(const records::Table& table, double border) {
  double all = 0, slower = 0;  // pairs of visits
  for (const auto& point : table.points) {
    if (!point.walk || point.walk->steps == 0 || point.runs.empty()) continue;
    const auto repeated = repeated_sector_steps(*point.walk);
    for (const auto& run : point.runs) {
      for (std::size_t i = 1; i < run.ticks.size(); ++i) {
        if (repeated[i % repeated.size()]) ++all, slower += run.ticks[i - 1] > border && run.ticks[i] > border ? 1 : 0;
      }
    }
  }
  return all >= kEnoughRepeats && slower > kSomeRepeats * all && slower < (1 - kSomeRepeats) * all;
}

}  // namespace

std::optional<MissRange> raw_miss_range(const records::Table& table, const Classes& classes, std::optional<double> slower_than) {
  auto raw = classes;
  raw.unbiased = nullptr;
  auto range = miss_range(table, raw, slower_than);
  for (std::size_t own = 0; range && own < raw.list.size(); ++own) {
    if (raw.list[own].centre <= range->above) continue;
    if (!parts_hits(table, range->above)) break;
    range = beyond(raw, own);  // a class of further slices
  }
  return range;
}

std::optional<MissRange> miss_range(const records::Table& table, const Classes& classes, std::optional<double> slower_than) {
  if (classes.unbiased) {
    auto range = miss_range(table, classes.unbiased->classes, slower_than);
    if (range) range->unbiased = classes.unbiased;
    return range;
  }
  if (classes.list.empty()) return std::nullopt;
  if (!slower_than) return beyond(classes, 0);
  double overhead = 0;
  for (const auto& point : table.points) {
    if (!point.runs.empty()) overhead = point.overhead;
  }
  // The class that has this latency, or whose middle it is near: one measured elsewhere may be a little off. A table may hold only
  // slower or only faster ones.
  const double tick = *slower_than + overhead;
  std::optional<std::size_t> own;
  for (std::size_t i = 0; i < classes.list.size(); ++i) {
    const auto& mode = classes.list[i];
    const double slack = kAsElsewhere * mode.centre + kAsNear;
    if (tick < std::min<double>(mode.low, mode.centre - slack) || tick > std::max<double>(mode.high, mode.centre + slack)) continue;
    if (!own || std::fabs(mode.centre - tick) < std::fabs(classes.list[*own].centre - tick)) own = i;
  }
  const auto slower = std::find_if(classes.list.begin(), classes.list.end(), [&](const auto& mode) { return mode.low > tick; });
  if (!own && slower == classes.list.end()) return std::nullopt;
  if (!own && slower == classes.list.begin()) return MissRange{.above = tick * (1 + kAsElsewhere) + kAsNear, .outlier = classes.outlier()};
  return beyond(classes, own ? *own : static_cast<std::size_t>(slower - classes.list.begin()) - 1);
}

double most_interference(const MissRange& range, double visits, std::size_t positions) {
  return range.interference.share > 0 ? poisson_beyond(range.interference.share * visits, kFalsePosition / static_cast<double>(positions)) - 1 : 0;
}

std::size_t significant_misses(const MissRange& range, std::size_t visits, std::size_t positions, std::size_t least) {
  return std::max(least, static_cast<std::size_t>(most_interference(range, static_cast<double>(visits), positions)) + 1);
}

}  // namespace gexp::infer
