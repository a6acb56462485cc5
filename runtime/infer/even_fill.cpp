// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/even_fill.h"

#include <algorithm>
#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>
#include <map>
#include <unordered_map>

#include "runtime/infer/granularity.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"

// Sets that fill evenly all overflow once a footprint has one way more than fits. Whatever replaces lines, no block of addresses then
// misses more often than another. Where pages lie by chance under a cache that is looked up after translation, some sets overflow and
// others have room, and which ones it is goes by pages. So 'each block has a rate of its own' is weighed against 'one rate', and against
// what even sets of one to three ways do in a footprint that is not yet so large.
namespace gexp::infer {
namespace {

constexpr double kWeighed = 4;  // fact: sets of fewer ways are weighed by themselves

/// Which units of a walk missed most of the times that they were visited after another unit.
std::unordered_map<std::int64_t, bool> missed_units(const records::Point& point, std::int64_t unit, const MissRange& range) {
  struct Count {
    int misses = 0, visits = 0;
  };
  std::unordered_map<std::int64_t, Count> counts;
  const auto lap = static_cast<std::size_t>(point.walk->steps);
  const Misses missed(range, point);
  for (const auto& run : point.runs) {
    std::int64_t before = -1;
    for (std::size_t i = 0; i < run.ticks.size(); ++i) {
      const auto at = point.walk->at(0, static_cast<std::int64_t>(i % lap)) / unit;
      if (at != before && !missed.unsure(i, run.ticks[i])) ++counts[at].visits, counts[at].misses += missed(i, run.ticks[i]) ? 1 : 0;
      before = at;
    }
  }
  std::unordered_map<std::int64_t, bool> all;
  for (const auto& [at, count] : counts) all[at] = 2 * count.misses > count.visits;
  return all;
}

/// The share of the units that missed most of the times.
double share_missed(const std::unordered_map<std::int64_t, bool>& units) {
  const auto missed = std::count_if(units.begin(), units.end(), [](const auto& unit) { return unit.second; });
  return units.empty() ? 0 : static_cast<double>(missed) / static_cast<double>(units.size());
}

/// How many ways even sets have, at least, if a footprint that holds `more` of what fits beyond that lets this share miss: each line too
/// many makes no more lines miss than its set has, itself included.
double least_ways(double share, double more) { return share * (1 + more) / more - 1; }

/// Nats by which units have a rate of their own in each cell, rather than one rate.
template <typename CellOf>
double rates_by(const std::unordered_map<std::int64_t, bool>& units, CellOf cell_of) {
  std::map<std::int64_t, Cell> cells;
  for (const auto& [at, missed] : units) {
    auto& cell = cells[cell_of(at)];
    ++cell.trials, cell.slow += missed ? 1 : 0;
  }
  std::vector<Cell> list;
  for (const auto& [key, cell] : cells) list.push_back(cell);
  return own_rates(list);
}

/// The same of what even sets show where they do not all overflow: lines beyond the size against those within it, and lines of the sets
/// that hold one line more than others.
double rates_of_even_sets(const std::unordered_map<std::int64_t, bool>& units, double footprint, double fits, std::int64_t unit) {
  double most = std::max(0.0, rates_by(units, [&](auto at) { return static_cast<double>(at * unit) < fits ? 0 : 1; }));
  for (const int ways : {1, 2, 3}) {
    const auto way = std::max<std::int64_t>(1, static_cast<std::int64_t>(fits) / ways / unit), over = static_cast<std::int64_t>(footprint) / unit % way;
    most = std::max(most, rates_by(units, [&](auto at) { return at % way < over ? 0 : 1; }));
  }
  return most;
}

}  // namespace

double missing_at_random(double ratio) {
  return ratio <= 1 ? 0 : 1 + boost::math::lambert_w0(std::max(-std::exp(-1.0), -ratio * std::exp(-ratio))) / ratio;
}

std::optional<std::int64_t> uneven_blocks(const std::vector<std::pair<double, const records::Point*>>& walks, const Fits& fits,
                                          std::int64_t unit, const MissRange& range) {
  std::map<std::int64_t, double> nats;  // by block, over all walks
  // Of lines that miss where all seems to fit, half at most are too many: each makes another one miss.
  const double from = fits.from * (1 - (fits.point ? share_missed(missed_units(*fits.point, unit, range)) / 2 : 0));
  std::vector<std::pair<double, std::unordered_map<std::int64_t, bool>>> missed;
  double ways = kWeighed;
  for (const auto& [footprint, point] : walks) {
    if (!point->walk || point->walk->steps < 2) continue;
    missed.emplace_back(footprint, missed_units(*point, unit, range));
    // What is visited of a line brings in the whole of it, where that is evicted again: the surplus may be as much larger.
    ways = std::max(ways, least_ways(share_missed(missed.back().second), (footprint + static_cast<double>(kMostLine)) / from - 1));
  }
  for (const auto& [footprint, units] : missed) {
    if (footprint < (1 + 1 / ways) * fits.to) continue;  // not all even sets hold a line too many
    const double even = rates_of_even_sets(units, footprint, fits.to, unit);
    const double largest = footprint / static_cast<double>(model::kFewestAlike);
    for (auto block = std::max(kLeastPage, 2 * unit); static_cast<double>(block) <= largest; block *= 2) {
      nats[block] += rates_by(units, [&](auto at) { return at * unit / block; }) - even;
    }
  }
  const auto best = std::max_element(nats.begin(), nats.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == nats.end() || best->second <= model::kContradicted) return std::nullopt;
  return best->first;
}

}  // namespace gexp::infer
