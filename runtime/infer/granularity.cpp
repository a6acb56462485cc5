// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/granularity.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "runtime/infer/analysis.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/statistics.h"

// A footprint in bytes is a number of units times what a unit is. A walk that visits each unit once counts units, and if they are smaller
// than its stride it takes its own stride for the unit. A walk with two addresses a unit tells: the second is there because the first
// brought it in. Units are aligned powers of two, as lines and pages are.
namespace gexp::infer {
namespace {

constexpr std::size_t kSoon = 4;  // fact: accesses; every cache and every TLB holds so many units

/// Visits of some kind, and those that miss.
struct Tally {
  double visits = 0, missed = 0;

  void add(bool miss) { ++visits, missed += miss ? 1 : 0; }
};

/// A walk with its addresses, and the number of each among all that are walked.
struct NumberedWalk {
  const records::Point* point;
  std::vector<std::int64_t> at;     ///< by step
  std::vector<std::size_t> number;  ///< by step
};

/// Visits soon after one to the same block, with no miss between the two, whose fill could have taken its place; and all others.
struct Visits {
  Tally same, other;
  std::int64_t furthest = 0;  ///< of `same`
  /// The same with each address as one visit, that misses by its rate: what an address does again and again, one cause may explain.
  Tally same_addresses, other_addresses;
};

/// Of so many addresses.
Visits visits_of(const std::vector<NumberedWalk>& walks, std::size_t addresses, const MissRange& range, std::int64_t block) {
  Visits visits;
  std::vector<Tally> same(addresses), other(addresses);
  for (const auto& walk : walks) {
    const auto lap = walk.at.size();
    const Misses missed(range, *walk.point);
    for (const auto& run : walk.point->runs) work(run.ticks.size() / 2);
    for (const auto& run : walk.point->runs) {
      for (std::size_t i = 1; i < run.ticks.size(); ++i) {
        const auto at = walk.at[i % lap];
        std::int64_t nearest = -1;  // of the visits just before it to the same block
        for (std::size_t back = 1; back <= std::min({kSoon, i, lap - 1}); ++back) {
          const auto before = walk.at[(i - back) % lap];
          if (at / block == before / block) nearest = nearest < 0 ? std::abs(at - before) : std::min(nearest, std::abs(at - before));
          if (missed(i - back, run.ticks[i - back])) break;
        }
        const bool miss = missed(i, run.ticks[i]) && !missed.unsure(i, run.ticks[i]);
        (nearest < 0 ? other : same)[walk.number[i % lap]].add(miss);
        visits.furthest = std::max(visits.furthest, nearest);
      }
    }
  }
  const auto sum = [](const std::vector<Tally>& each, Tally& all, Tally& once) {
    for (const auto& tally : each) {
      if (tally.visits == 0) continue;
      all.visits += tally.visits, all.missed += tally.missed;
      ++once.visits, once.missed += tally.missed / tally.visits;
    }
  };
  sum(same, visits.same, visits.same_addresses);
  sum(other, visits.other, visits.other_addresses);
  return visits;
}

/// Whether visits soon after one to the same block miss no more than by accident.
bool may_share(const Visits& visits, double interference) {
  return poisson_at_least(visits.same.missed, std::max(interference, model::kLeastInterference) * visits.same.visits) > model::kByChance;
}

/// Whether they are at so many addresses that some would have missed if they missed as others do.
bool would_have_missed(const Visits& visits) {
  const auto& [others, others_missed] = visits.other_addresses;
  const auto& [same, same_missed] = visits.same_addresses;
  return share_at_least(others_missed, others_missed + same_missed, others / (others + same)) < model::kByChance;
}

}  // namespace

std::optional<Granularity> granularity_of(const std::vector<const records::Point*>& points, const MissRange& range) {
  std::vector<std::int64_t> offsets;
  for (const auto* point : points) {
    if (!point->walk || point->walk->threads != 1 || point->walk->steps < 2) return std::nullopt;
    offsets.insert(offsets.end(), point->walk->offsets.begin(), point->walk->offsets.begin() + point->walk->steps);
  }
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  if (offsets.size() < 2) return std::nullopt;
  std::vector<NumberedWalk> walks;
  for (const auto* point : points) {
    auto& walk = walks.emplace_back();
    walk.point = point;
    for (std::int64_t step = 0; step < point->walk->steps; ++step) {
      walk.at.push_back(point->walk->at(0, step));
      walk.number.push_back(static_cast<std::size_t>(std::lower_bound(offsets.begin(), offsets.end(), walk.at.back()) - offsets.begin()));
    }
  }
  Granularity found;
  for (std::int64_t block = 2; block <= offsets.back(); block *= 2) {
    const auto visits = visits_of(walks, offsets.size(), range, block);
    if (visits.other.visits == 0 || visits.same.visits == 0) continue;
    if (!may_share(visits, range.interference.share)) break;
    if (!would_have_missed(visits)) continue;
    found.unit = block, found.shared = visits.furthest;
  }
  found.apart = offsets.back();
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] / found.unit != offsets[i - 1] / found.unit) found.apart = std::min(found.apart, offsets[i] - offsets[i - 1]);
  }
  return found;
}

Extent extent_of(const records::Point& point) {
  work(point.walk->offsets.size() / 2);
  auto offsets = point.walk->offsets;
  std::sort(offsets.begin(), offsets.end());
  Extent extent{offsets.front(), offsets.back(), 0};
  for (std::size_t i = 1; i < offsets.size(); ++i) extent.gap = std::max(extent.gap, offsets[i] - offsets[i - 1]);
  return extent;
}

bool misses_anywhere_in(std::int64_t block, const std::vector<const records::Point*>& points, const MissRange& range) {
  std::set<std::int64_t> addresses, blocks;
  for (const auto* point : points) {
    const auto misses = misses_by_step(*point, range);
    for (std::size_t step = 0; step < misses.size(); ++step) {
      if (misses[step] == 0) continue;
      const auto at = point->walk->at(0, static_cast<std::int64_t>(step));
      addresses.insert(at), blocks.insert(at / block);
    }
  }
  return addresses.size() >= 2 * blocks.size();
}

}  // namespace gexp::infer
