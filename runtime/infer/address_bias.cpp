// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/address_bias.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/statistics.h"

// An address in a far slice is slow whenever it is walked; one that is absent from a cache or a TLB is slow only until it is brought in.
// So a walk that visits a sector twice in a row tells them apart: the second visit always hits, and what it takes is
// the place's. On an H200 slices are up to 70 cycles apart, which would hide a TLB's 10. Where each sector is visited once, an
// address that always misses cannot be told from a far one, nor a clock that changed its pace from either: nothing is taken out.
namespace gexp::infer {
namespace {

constexpr std::int64_t kSector = 32;  // fact: bytes that lie in one place on every GPU
constexpr std::int64_t kFetched = 16;  // fact: bytes that come together on every GPU
constexpr double kRounding = 2;  // fact: ticks by which two differences of clock reads differ for rounding alone, at most

/// The visits to a sector.
struct Sector {
  std::vector<double> medians;  ///< of each step of each point that comes to it
  std::size_t again = 0;        ///< steps before which the same lap came to it already: these hit
};

/// What a visit takes that surely hit, of medians: the mean of those that are no further apart than the visits of one step. First
/// visits may have missed in all laps, so it is the middle one of as many as came again, where these are few.
double sure(Sector& sector, double apart) {
  auto& medians = sector.medians;
  std::sort(medians.begin(), medians.end());
  const double one = medians[std::min(static_cast<std::size_t>(model::kEnoughShare * static_cast<double>(medians.size())), sector.again / 2)];
  const auto from = std::lower_bound(medians.begin(), medians.end(), one - apart), to = std::upper_bound(medians.begin(), medians.end(), one + apart);
  return std::accumulate(from, to, 0.0) / static_cast<double>(to - from);
}

/// What the visits to each sector take.
struct Visited {
  std::unordered_map<std::int64_t, Sector> sectors;
  std::vector<double> own;  ///< how far apart the visits of a step are, those that hit
  double accesses = 0;

  void add(const records::Point& point) {
    const auto lap = point.walk ? static_cast<std::size_t>(point.walk->steps) : 0;
    std::vector<std::uint32_t> visits;
    std::unordered_set<std::int64_t> visited;
    for (std::size_t step = 0; step < lap; ++step) {
      work(1 + point.runs.size());
      visits.clear();
      for (const auto& run : point.runs) {
        for (std::size_t i = step; i < run.ticks.size(); i += lap) visits.push_back(run.ticks[i]);
      }
      accesses += static_cast<double>(visits.size());
      if (visits.size() <= model::kFewest) continue;
      std::sort(visits.begin(), visits.end());
      const auto at = point.walk->at(0, static_cast<std::int64_t>(step)) / kSector;
      auto& sector = sectors[at];
      sector.medians.push_back(visits[visits.size() / 2]);
      if (!visited.insert(at).second) ++sector.again;
      own.push_back(2.0 * (visits[visits.size() / 4] - visits[visits.size() / 16]));
    }
  }
};

/// The sectors of a walk that comes to each again within a lap, on average; empty where it does not.
std::unordered_set<std::int64_t> twice_walked(const Pattern& walk) {
  std::unordered_set<std::int64_t> sectors;
  for (std::int64_t step = 0; step < walk.steps; ++step) {
    work();
    sectors.insert(walk.at(0, step) / kSector);
    if (2 * static_cast<std::int64_t>(sectors.size()) > walk.steps) return {};
  }
  return sectors;
}

/// Whether each sector that is walked at all is one that some walk comes to again within a lap.
bool come_again(const records::Table& table) {
  std::unordered_set<std::int64_t> again;
  std::vector<const Pattern*> once;
  for (const auto& point : table.points) {
    if (!point.walk || point.runs.empty() || point.walk->steps == 0) continue;
    if (auto own = twice_walked(*point.walk); !own.empty()) again.merge(own);
    else once.push_back(point.walk.get());
  }
  return !again.empty() && std::all_of(once.begin(), once.end(), [&](const Pattern* walk) {
    work(static_cast<std::size_t>(walk->steps));
    for (std::int64_t step = 0; step < walk->steps; ++step) {
      if (!again.contains(walk->at(0, step) / kSector)) return false;
    }
    return true;
  });
}

}  // namespace

std::vector<bool> repeated_sector_steps(const Pattern& walk) {
  work(static_cast<std::size_t>(walk.steps) / 8);
  std::vector<bool> repeated(static_cast<std::size_t>(walk.steps));
  for (std::int64_t i = 0; i < walk.steps; ++i) repeated[static_cast<std::size_t>(i)] = walk.steps > 1 && walk.at(0, i) / kFetched == walk.at(0, (i + walk.steps - 1) % walk.steps) / kFetched;
  return repeated;
}

std::optional<AddressBias> AddressBias::of(const records::Table& table) {
  AddressBias bias;
  if (table.timing != records::Table::Timing::Each) return std::nullopt;
  if (!come_again(table)) return std::nullopt;
  Visited seen;
  for (const auto& point : table.points) seen.add(point);
  if (seen.sectors.size() < 2) return std::nullopt;
  bias.apart_ = median(seen.own);
  std::vector<double> all;
  for (auto& [at, sector] : seen.sectors) all.push_back(bias.ticks_[at] = sure(sector, bias.apart_));
  std::sort(all.begin(), all.end());
  const double spread = quantile(all, 0.9) - quantile(all, 0.1);
  if (spread < std::max(kRounding, bias.apart_ / 2)) return AddressBias();  // what a sector takes is a mean of many visits
  // Near and far are half and half: the median would be now of one and now of the other.
  bias.middle_ = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  for (auto& [sector, ticks] : bias.ticks_) ticks -= bias.middle_;
  bias.nats_ = static_cast<double>(bias.ticks_.size()) * std::log(std::max(2.0, seen.accesses / static_cast<double>(bias.ticks_.size()))) / 2;
  return bias;
}

std::vector<double> AddressBias::by_step(const records::Point& point) const {
  if (none() || !point.walk) return {};
  work(static_cast<std::size_t>(point.walk->steps) / 4);
  std::vector<double> ticks(static_cast<std::size_t>(point.walk->steps));
  std::optional<Visited> own;
  for (std::size_t step = 0; step < ticks.size(); ++step) {
    const auto at = point.walk->at(0, static_cast<std::int64_t>(step)) / kSector;
    if (const auto found = ticks_.find(at); found != ticks_.end()) {
      ticks[step] = found->second;
      continue;
    }
    if (!own) own.emplace().add(point);
    if (const auto found = own->sectors.find(at); found != own->sectors.end() && found->second.again > 0) ticks[step] = sure(found->second, apart_) - middle_;
  }
  return ticks;
}

records::Table AddressBias::without(const records::Table& table) const {
  records::Table even = table;
  for (auto& point : even.points) {
    const auto offset_by_step = by_step(point);
    if (offset_by_step.empty()) continue;
    for (auto& run : point.runs) {
      work(run.ticks.size() / 16);
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        run.ticks[i] = static_cast<std::uint32_t>(std::max(1L, std::lround(run.ticks[i] - offset_by_step[i % offset_by_step.size()])));
      }
    }
  }
  return even;
}

}  // namespace gexp::infer
