// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/places.h"

#include <algorithm>
#include <cmath>

#include "runtime/infer/statistics.h"

// An address in a far slice is slow at every point; one that is absent from a cache or a TLB is slow only where the footprint is
// too large. So the point at which an address is fastest tells its place, and what it takes beyond that elsewhere is a miss. On an
// H200 slices are up to 70 cycles apart, which would hide a TLB's 10. A walk can make sure that it hits somewhere: a
// sector that is visited twice in a row does the second time. One that never hits is taken to lie where it is seen: its misses
// are lost, and those of other addresses must show the border. What is slower than the fastest
// addresses by more than a quarter is no place, but another level.
namespace gexp::infer {
namespace {

constexpr std::int64_t kSector = 32;  // bytes that lie in one place on every GPU
constexpr double kSharp = 8;          // times the spread of one address, and kSpread: a class that is no wider holds one place
constexpr double kQuick = 0.25;       // quantile of an address's ticks at a point: a hit, unless most visits miss
constexpr double kSure = 0.25;        // share of the steps that hit, where a walk comes to each sector twice in a row
constexpr std::size_t kVisits = 4;    // of an address at a point, to tell its quantile
constexpr double kFarthest = 1.25;    // times the fastest addresses' ticks
constexpr double kFastest = 0.05;     // quantile of addresses that are the fastest
constexpr double kSpread = 3;         // ticks between the 10 % and the 90 % quantile of addresses: less is left alone

}  // namespace

Places Places::of(const Table& table, double sharp) {
  Places places;
  if (table.timing != Table::Timing::Each) return places;
  struct Seen {
    std::vector<float> quick, middle;  ///< ticks of its visits at each step of each point: the low quantile, the median
    float own = INFINITY;              ///< how far apart they are, where they are least
  };
  std::unordered_map<std::int64_t, Seen> seen;
  std::size_t points = 0, steps = 0;
  std::vector<std::uint32_t> visits;
  for (const auto& point : table.points) {
    if (!point.walk || point.walk->steps == 0 || point.runs.empty()) continue;
    ++points;
    const auto lap = static_cast<std::size_t>(point.walk->steps);
    steps = std::max(steps, lap);
    for (std::size_t step = 0; step < lap; ++step) {
      visits.clear();
      for (const auto& run : point.runs) {
        for (std::size_t i = step; i < run.ticks.size(); i += lap) visits.push_back(run.ticks[i]);
      }
      if (visits.size() < kVisits) continue;
      std::sort(visits.begin(), visits.end());
      const float quick = static_cast<float>(visits[static_cast<std::size_t>(kQuick * static_cast<double>(visits.size()))]);
      auto& sector = seen[point.walk->at(0, static_cast<std::int64_t>(step)) / kSector];
      sector.quick.push_back(quick), sector.middle.push_back(static_cast<float>(visits[visits.size() / 2]));
      sector.own = std::min(sector.own, quick - static_cast<float>(visits[0]));
    }
  }
  const bool twice = steps >= 2 * seen.size();  // a walk that comes to each sector again within a lap
  if ((points < 2 && !twice) || seen.size() < 2) return places;
  std::unordered_map<std::int64_t, double> base;
  std::vector<double> near, own;
  for (auto& [sector, of] : seen) {
    std::sort(of.middle.begin(), of.middle.end());
    base[sector] = twice ? of.middle[static_cast<std::size_t>(kSure * static_cast<double>(of.middle.size()))] : *std::min_element(of.quick.begin(), of.quick.end());
    near.push_back(base[sector]), own.push_back(of.own);
  }
  std::sort(near.begin(), near.end());
  const double farthest = twice ? INFINITY : kFarthest * quantile(near, kFastest);
  near.erase(std::upper_bound(near.begin(), near.end(), farthest), near.end());
  const double spread = quantile(near, 0.9) - quantile(near, 0.1);
  if (spread < kSpread || spread < median(own) || (!twice && sharp <= kSpread + kSharp * median(own))) return places;
  const double middle = median(near);
  for (const auto& [sector, ticks] : base) {
    if (ticks <= farthest) places.ticks_[sector] = static_cast<std::int32_t>(std::lround(ticks - middle));
  }
  return places;
}

std::vector<std::int32_t> Places::by_step(const Point& point) const {
  if (none() || !point.walk) return {};
  std::vector<std::int32_t> ticks(static_cast<std::size_t>(point.walk->steps));
  for (std::size_t step = 0; step < ticks.size(); ++step) {
    const auto found = ticks_.find(point.walk->at(0, static_cast<std::int64_t>(step)) / kSector);
    if (found != ticks_.end()) ticks[step] = found->second;
  }
  return ticks;
}

Table Places::without(const Table& table) const {
  Table even = table;
  for (auto& point : even.points) {
    const auto place = by_step(point);
    if (place.empty()) continue;
    for (auto& run : point.runs) {
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        run.ticks[i] = static_cast<std::uint32_t>(std::max<std::int64_t>(1, static_cast<std::int64_t>(run.ticks[i]) - place[i % place.size()]));
      }
    }
  }
  return even;
}

}  // namespace gexp::infer
