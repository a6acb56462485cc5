// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/hits_alike.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <unordered_map>

#include "runtime/infer/address_bias.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/granularity.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/flat_level.h"

namespace gexp::infer {
namespace {

/// Calls `add(address, tick)` of all visits that do not come to the sector of the one before, and do not miss.
template <class Add>
void visit_hits(const records::Point& point, const MissRange& range, const Add& add) {
  const auto again = repeated_sector_steps(*point.walk);
  const Misses missed(range, point);
  for (const auto& run : point.runs) {
    for (std::size_t i = 0; i < run.ticks.size(); ++i) {
      const auto step = i % again.size();
      if (again[step] || missed(i, run.ticks[i]) || run.ticks[i] > range.outlier) continue;
      add(point.walk->at(0, static_cast<std::int64_t>(step)), run.ticks[i]);
    }
  }
}

/// Calls `add(sector, tick, again)` of all visits; again: to the part of a sector that was visited just before.
template <class Add>
void visit_sectors(const records::Point& point, const Add& add) {
  if (!point.walk || point.walk->threads != 1 || point.walk->steps < 2) return;
  const auto again = repeated_sector_steps(*point.walk);
  for (const auto& run : point.runs) {
    work(1 + run.ticks.size() / 16);
    for (std::size_t i = 0; i < run.ticks.size(); ++i) {
      const bool begins = i == 0 || std::binary_search(run.windows.begin(), run.windows.end(), static_cast<std::uint32_t>(i));  // nothing was just before
      const auto step = i % again.size();
      if (begins && again[step]) continue;
      add(i, point.walk->at(0, static_cast<std::int64_t>(step)) / kLeastLine, run.ticks[i], again[step]);
    }
  }
}

using BySector = std::unordered_map<std::int64_t, model::MeanDifference>;

/// Whether the fastest level answers visits to a sector just visited sooner than the others, by `nearest` ticks at least. A sector is one look,
/// however often it was visited: where it lies, and what else lies there, is the same each time.
std::optional<FasterLevel> sooner_at_once(const BySector& others, const BySector& at_once, const std::function<double(double level)>& nearest) {
  model::MeanDifference later;
  double visits = 0, level = 0;
  for (const auto& [sector, ticks] : others) {
    const auto again = at_once.find(sector);
    if (again == at_once.end()) continue;
    later.add(ticks.mean() - again->second.mean()), visits += ticks.pairs, level += again->second.mean();
  }
  if (later.pairs <= static_cast<double>(model::kFewest)) return std::nullopt;
  const double beyond = (later.mean() - nearest(level / later.pairs)) / later.error();
  if (beyond <= 0 || boost::math::cdf(boost::math::complement(boost::math::normal(), beyond)) > model::kByChance) return std::nullopt;
  return FasterLevel{later.mean(), visits};
}

/// What visits of some footprints take beyond those of the same addresses in the smallest one, by footprint.
struct Beyond {
  std::vector<double> sizes;
  std::vector<model::MeanDifference> ticks;
};

/// The footprints from which on they take longer; `sign` -1: from which on they come sooner.
std::optional<UnlikeHits> unlike_from(Beyond hits, double sign) {
  for (auto& each : hits.ticks) each.sum *= sign;
  const double beyond = model::scatter_of_neighbours(hits.ticks);
  const auto [count, nats] = model::points_of_level(hits.ticks, beyond);
  if (count == 0 || nats <= model::kContradicted) return std::nullopt;
  const model::Level level(hits.ticks, 0, count, beyond);
  const auto most = std::max_element(hits.ticks.begin(), hits.ticks.end(), [](const auto& a, const auto& b) { return a.mean() < b.mean(); });
  const auto next = std::find_if(hits.ticks.begin() + static_cast<std::ptrdiff_t>(count), hits.ticks.end(),
                                 [&](const auto& each) { return each.mean() > level.mean() && level.log_against(each) >= model::kDecisive; });
  if (most->mean() - level.mean() < 1 || next == hits.ticks.end()) return std::nullopt;
  return UnlikeHits{hits.sizes[count - 1], hits.sizes[static_cast<std::size_t>(next - hits.ticks.begin())], sign * (most->mean() - level.mean())};
}

}  // namespace

std::optional<UnlikeHits> unlike_hits(const std::vector<std::pair<double, const records::Point*>>& walks, const MissRange& range) {
  std::map<double, std::vector<const records::Point*>> by_size;
  for (const auto& [bytes, point] : walks) {
    if (point->walk && point->walk->steps > 1 && !point->runs.empty()) by_size[bytes].push_back(point);
  }
  if (by_size.size() < 3) return std::nullopt;
  std::unordered_map<std::int64_t, model::MeanDifference> smallest;
  for (const auto* point : by_size.begin()->second) {
    visit_hits(*point, range, [&](auto address, auto tick) { smallest[address].add(tick); });
  }
  Beyond hits;
  for (const auto& [bytes, points] : by_size) {
    model::MeanDifference difference;
    for (const auto* point : points) {
      visit_hits(*point, range, [&](auto address, auto tick) {
        if (const auto at = smallest.find(address); at != smallest.end()) difference.add(tick - at->second.mean());
      });
    }
    if (difference.pairs > 1) hits.sizes.push_back(bytes), hits.ticks.push_back(difference);
  }
  if (const auto slower = unlike_from(hits, 1)) return slower;
  return unlike_from(std::move(hits), -1);
}

const SecondVisits::BySector& SecondVisits::by_sector() const {
  if (gathered_) return *gathered_;
  BySector gathered;
  for (const auto* table : tables_) {
    for (const auto& point : table->points) {
      visit_sectors(point, [&](std::size_t, std::int64_t sector, std::uint32_t tick, bool again) {
        if (!again) return;
        auto& counts = gathered[sector];
        const auto same = std::find_if(counts.begin(), counts.end(), [&](const auto& each) { return each.first == tick; });
        if (same == counts.end()) counts.emplace_back(tick, 1);
        else ++same->second;
      });
    }
  }
  return gathered_.emplace(std::move(gathered));
}

std::optional<FasterLevel> faster_level(const std::vector<const records::Point*>& hits, const MissRange& range, const SecondVisits& second) {
  BySector others, at_once_too;
  for (const auto* point : hits) {
    const Misses missed(range, *point);
    visit_sectors(*point, [&](std::size_t access, std::int64_t sector, std::uint32_t tick, bool again) {
      if (tick <= range.outlier && !missed(access, tick)) (again ? at_once_too : others)[sector].add(tick);
    });
  }
  // Within a run only a level makes a difference, and be it a tick; stages may differ in the pace of a clock, too.
  if (auto found = sooner_at_once(others, at_once_too, [](double) { return model::kHalfTick; })) return found;
  BySector at_once;
  for (const auto& [sector, ticks] : second.by_sector()) {
    if (!others.contains(sector)) continue;
    for (const auto& [tick, times] : ticks) {
      if (tick <= range.outlier) at_once[sector].add(tick, times);
    }
  }
  return sooner_at_once(others, at_once, [](double level) { return std::max(model::kLeastApart, model::kSamePace * level); });
}

}  // namespace gexp::infer
