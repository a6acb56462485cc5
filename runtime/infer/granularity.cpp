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

constexpr std::size_t kSoon = 4;    // accesses: so many units fit in anything

/// Visits of some kind, and those that miss.
struct Tally {
  double visits = 0, missed = 0;

  void add(bool miss) { ++visits, missed += miss ? 1 : 0; }
  [[nodiscard]] double rate() const { return visits > 0 ? missed / visits : 0; }
};

/// Visits soon after one to the same block, with no miss between the two, whose fill could have taken its place; and all others.
struct Visits {
  Tally same, other;
  std::int64_t furthest = 0;  ///< of `same`
  /// The same with each address as one visit, that misses by its rate: what an address does again and again, one cause may explain.
  Tally same_addresses, other_addresses;
};

/// What was seen of one address.
struct Address {
  std::int64_t at = 0;
  Tally same, other;
};

/// Sums over all walks that visit an address, then one visit for each.
void count_addresses(std::vector<Address>& seen, Visits& visits) {
  std::sort(seen.begin(), seen.end(), [](const Address& a, const Address& b) { return a.at < b.at; });
  const auto add = [](Tally& to, const Tally& of) { to.visits += of.visits, to.missed += of.missed; };
  for (std::size_t i = 0; i < seen.size();) {
    Address sum;
    sum.at = seen[i].at;
    for (; i < seen.size() && seen[i].at == sum.at; ++i) add(sum.same, seen[i].same), add(sum.other, seen[i].other);
    if (sum.same.visits > 0) add(visits.same_addresses, {1, sum.same.rate()});
    if (sum.other.visits > 0) add(visits.other_addresses, {1, sum.other.rate()});
  }
}

Visits visits_of(const std::vector<const records::Point*>& points, const MissRange& range, std::int64_t block) {
  Visits visits;
  std::vector<Address> seen;
  for (const auto* point : points) {
    const auto lap = static_cast<std::size_t>(point->walk->steps);
    const Misses missed(range, *point);
    const auto first = seen.size();
    seen.resize(first + lap);
    for (std::size_t step = 0; step < lap; ++step) seen[first + step].at = point->walk->at(0, static_cast<std::int64_t>(step));
    for (const auto& run : point->runs) work(run.ticks.size() / 2);
    for (const auto& run : point->runs) {
      for (std::size_t i = 1; i < run.ticks.size(); ++i) {
        auto& here = seen[first + i % lap];
        std::int64_t nearest = -1;  // of the visits just before it to the same block
        for (std::size_t back = 1; back <= std::min({kSoon, i, lap - 1}); ++back) {
          const auto before = seen[first + (i - back) % lap].at;
          const auto distance = std::abs(here.at - before);
          if (here.at / block == before / block) nearest = nearest < 0 ? distance : std::min(nearest, distance);
          if (missed(i - back, run.ticks[i - back])) break;
        }
        const bool miss = missed(i, run.ticks[i]) && !missed.unsure(i, run.ticks[i]);
        if (nearest < 0) {
          here.other.add(miss), visits.other.add(miss);
        } else {
          here.same.add(miss), visits.same.add(miss);
          visits.furthest = std::max(visits.furthest, nearest);
        }
      }
    }
  }
  count_addresses(seen, visits);
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
  Granularity found;
  for (std::int64_t block = 2; block <= offsets.back(); block *= 2) {
    const auto visits = visits_of(points, range, block);
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
