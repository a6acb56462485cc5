// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/walks.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/paired_visits.h"
#include "runtime/infer/statistics.h"

// A set that holds all its lines never misses once they are in, whatever replaces lines; one that holds too few misses in every lap, and
// nobody knows at which of its lines or how often. So an address of a set that fits misses at the rate of interference at most, and one of a
// set that overflows at a rate of its own, of which nothing is known beforehand (Jeffreys' prior, Beta(1/2, 1/2)): beta-binomial.
namespace gexp::infer::model {
namespace {

constexpr std::int64_t kLeastFill = 16;      // fact: bytes, aligned: half of the smallest sector of any GPU

constexpr std::uint32_t kUnset = kSeveral - 1;  // fact: stands for none yet

struct Count {
  std::unordered_map<std::uint32_t, std::uint32_t> at;  // of an address: its index in the footprint
  std::unordered_map<std::uint64_t, std::size_t> orders;  // of walks, as hashes: index in by_order
  std::vector<std::vector<std::uint32_t>> missed, unsure;  // by whole lap: the addresses that missed, or may have
};

std::vector<std::uint32_t> each_once(std::vector<std::uint32_t> walked) {
  std::sort(walked.begin(), walked.end());
  walked.erase(std::unique(walked.begin(), walked.end()), walked.end());
  return walked;
}

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// By address, `words()` each: a bit for each lap that names it.
std::vector<std::uint64_t> bits_of(const std::vector<std::vector<std::uint32_t>>& laps, const Footprint& footprint) {
  std::vector<std::uint64_t> bits(footprint.addresses.size() * footprint.words());
  for (std::size_t lap = 0; lap < laps.size(); ++lap) {
    for (const auto address : laps[lap]) bits[address * footprint.words() + lap / 64] |= std::uint64_t{1} << lap % 64;
  }
  return bits;
}

double interference_of(const MissRange& range) { return std::max(range.interference.share, kLeastInterference); }

/// Interference comes less often to what is walked quickly.
double log_fits(double misses, double visits, double interference) {
  const double rate = std::min(interference, misses / visits);
  return misses > 0 ? misses * std::log(rate) + (visits - misses) * std::log1p(-rate) : 0;
}

}  // namespace

bool is_warmed(const records::Point& point) {
  if (!point.warm_walk || point.warm_steps < point.warm_walk->steps) return false;
  if (point.warm_walk == point.walk) return true;
  std::unordered_set<std::int64_t> brought;
  for (const auto offset : point.warm_walk->offsets) brought.insert(offset / kLeastFill);
  return std::all_of(point.walk->offsets.begin(), point.walk->offsets.end(), [&](auto offset) { return brought.contains(offset / kLeastFill); });
}

double log_of_own_rate(double misses, double visits) {
  return std::lgamma(misses + 0.5) + std::lgamma(visits - misses + 0.5) - std::lgamma(visits + 1) - std::log(M_PI);
}

double log_of_likeliest_rate(double misses, double visits) {
  const auto term = [&](double count) { return count > 0 ? count * std::log(count / visits) : 0; };
  return term(misses) + term(visits - misses);
}

double log_of_silence(double misses, double visits, double so_many) { return so_many * std::log((visits - misses + 0.5) / (visits + 1)); }

bool is_no_accident(double misses, double visits, const MissRange& range) {
  return misses > 0 && poisson_at_least(misses, interference_of(range) * visits) < kByChance;
}

std::uint32_t Walks::index_of(std::int64_t offset) {
  const auto [at, fresh] = known_.try_emplace(offset, static_cast<std::uint32_t>(offsets.size()));
  if (fresh) offsets.push_back(offset);
  return at->second;
}

void Walks::add(const records::Table& table, const MissRange& range, const std::string& stage) {
  const double interference = interference_of(range);
  std::unordered_map<std::uint64_t, std::size_t> by_addresses;  // index into the footprints of this stage
  std::vector<Count> counts;
  const auto first = footprints.size();
  for (const auto& point : table.points) {
    if (point.runs.empty() || !point.walk || point.walk->threads != 1 || point.walk->steps == 0) continue;
    const auto lap = static_cast<std::size_t>(point.walk->steps);
    const auto from = is_warmed(point) ? 0 : lap;
    std::vector<std::uint32_t> walked(lap);
    std::uint64_t key = 0;
    for (std::size_t step = 0; step < lap; ++step) work(4), walked[step] = index_of(point.walk->at(0, static_cast<std::int64_t>(step)));
    const auto distinct = each_once(walked);
    for (const auto address : distinct) key += mix(address);
    const auto order = std::accumulate(walked.begin(), walked.end(), std::uint64_t{0}, [](auto hash, auto address) { return mix(hash ^ address); });
    const auto [entry, fresh] = by_addresses.try_emplace(key, counts.size());
    if (fresh) {
      Footprint footprint;
      footprint.where = records::place_text(stage, table, point);
      footprint.addresses = distinct;
      footprint.visits.resize(distinct.size()), footprint.misses.resize(distinct.size());
      footprint.before.resize(distinct.size(), kUnset);
      footprints.push_back(std::move(footprint));
      Count count;
      for (std::uint32_t i = 0; i < distinct.size(); ++i) count.at.emplace(distinct[i], i);
      counts.push_back(std::move(count));
    }
    auto& count = counts[entry->second];
    auto& footprint = footprints[first + entry->second];
    for (std::size_t step = 0; step < lap; ++step) {
      auto& own = footprint.before[count.at.at(walked[step])];
      const auto last = walked[(step + lap - 1) % lap];
      own = own == kUnset || own == last ? last : kSeveral;
    }
    const auto [in_order, new_order] = count.orders.try_emplace(order, footprint.by_order.size());
    if (new_order) footprint.by_order.push_back({std::vector<std::uint32_t>(footprint.addresses.size()), std::vector<std::uint32_t>(footprint.addresses.size())});
    auto& of_order = footprint.by_order[in_order->second];
    for (auto& address : walked) address = count.at.at(address);
    const Misses missed(range, point);
    for (const auto& run : point.runs) {
      for (auto begin = from; begin < run.ticks.size(); begin += lap) {
        const auto end = std::min(begin + lap, run.ticks.size());
        work(1 + (end - begin) / 16);
        std::vector<std::uint32_t> missing, unclear;
        for (auto i = begin; i < end; ++i) {
          const auto address = walked[i - begin];
          if (missed.unsure(i, run.ticks[i])) {
            unclear.push_back(address);
            continue;
          }
          ++footprint.visits[address], ++of_order.visits[address];
          if (!missed(i, run.ticks[i])) continue;
          ++footprint.misses[address], ++of_order.misses[address];
          missing.push_back(address);
        }
        // Two windows are two launches: what chance replaced in the one is not what the other walks to.
        const auto window = std::upper_bound(run.windows.begin(), run.windows.end(), begin);
        if (end != begin + lap || (window != run.windows.end() && *window < end)) continue;
        count.missed.push_back(std::move(missing)), count.unsure.push_back(std::move(unclear));
      }
      if (run.ticks.size() > from) footprint.laps += static_cast<double>((run.ticks.size() - from) / lap);
    }
  }
  for (std::size_t f = 0; f < counts.size(); ++f) {
    auto& footprint = footprints[first + f];
    work(footprint.addresses.size());
    for (std::size_t i = 0; i < footprint.addresses.size(); ++i) {
      const double misses = footprint.misses[i], visits = footprint.visits[i];
      footprint.fits.push_back(log_fits(misses, visits, interference));
      footprint.overflows.push_back(log_of_own_rate(misses, visits));
      footprint.missed.push_back(is_no_accident(misses, visits, range));
    }
    footprint.orders = counts[f].orders.size();
    footprint.whole_laps = counts[f].missed.size();
    footprint.missed_in = bits_of(counts[f].missed, footprint);
    footprint.unsure_in = bits_of(counts[f].unsure, footprint);
  }
  std::erase_if(footprints, [](const Footprint& footprint) { return footprint.laps == 0; });
}

WalkedStage walked_stage(const PreparedRecords& records, std::optional<double> slower_than, const std::string& name) {
  if (!slower_than && records.has_untold_misses()) return {&records.table(), std::nullopt, name};
  auto range = miss_range(records.table(), records.classes(), slower_than);
  RepeatedMisses count;
  for (const auto& point : records.table().points) {
    if (range) count.add(point, *range);
  }
  if (range && count.are_places(*range)) return {&records.table(), std::nullopt, name};
  if (!range && slower_than) range = MissRange{.above = INFINITY, .outlier = INFINITY};  // nothing is slower
  return {&records.table(), std::move(range), name};
}

namespace {

/// Whether the fastest of a stage is no hit of another one, whose hits end at `border` cycles: then all of it may miss.
bool begins_beyond(const PreparedRecords& records, double border) {
  const auto& list = records.classes().told().list;
  return !list.empty() && list.front().centre - first_overhead(records.table()) > border;
}

/// Whether all latencies of a stage are of one class, and that is the class of another one's hits: then all of it hits.
bool only_hits(const PreparedRecords& records, const PreparedRecords& other) {
  const auto &list = records.classes().told().list, &others = other.classes().told().list;
  if (list.size() != 1 || others.size() < 2) return false;
  const double overhead = first_overhead(other.table()), latency = list.front().centre - first_overhead(records.table());
  const double slack = kNearPeaks * others.front().centre + kLeastApart;
  const double least = others.front().low - overhead - slack, most = others.front().high - overhead + slack;
  return latency >= least && latency <= most && latency + overhead < others[1].low;
}

std::vector<const MeasuredStages::Measured*> telling_stages(const MeasuredStages& measured, const compiler::Stage& stage, std::optional<double> slower_than) {
  auto same = measured.of_same_access(stage);
  double border = INFINITY;
  for (const auto* each : same) {
    const auto range = each->stage == &stage && !slower_than ? miss_range(each->records().table(), each->records().classes()) : std::nullopt;
    if (range) border = range->above - first_overhead(each->records().table());
  }
  std::erase_if(same, [&](const auto* each) { return begins_beyond(each->records(), border); });
  return same;
}

}  // namespace

const Walks& WalksByStage::of(const compiler::Stage& stage, std::optional<double> slower_than) {
  const auto telling = telling_stages(measured_, stage, slower_than);
  std::string names;
  for (const auto* each : telling) names += each->stage->name + " ";
  const auto [made, fresh] = made_.try_emplace({names, slower_than});
  if (!fresh) return made->second;
  std::vector<WalkedStage> stages;
  const auto own = std::find_if(telling.begin(), telling.end(), [&](const auto* each) { return each->stage == &stage; });
  for (const auto* each : telling) {
    stages.push_back(walked_stage(each->records(), slower_than, each->stage->name));
    const bool untold = slower_than || stages.back().range || own == telling.end() || each->records().has_untold_misses();
    if (!untold && only_hits(each->records(), (*own)->records())) stages.back().range = MissRange{.above = INFINITY, .outlier = INFINITY};
  }
  return made->second = walks_of(std::move(stages));
}

Walks walks_of(std::vector<WalkedStage> stages, double most_silence) {
  double most = 0;
  for (const auto& stage : stages) most = std::max(most, stage.range ? stage.range->interference.share : 0);
  Walks walks;
  walks.silence.most = most_silence;
  for (auto& stage : stages) {
    if (!stage.range) continue;
    stage.range->interference.share = most;
    walks.silence.least = std::max(walks.silence.least, stage.range->fast_misses);
    const auto before = walks.footprints.size();
    walks.add(*stage.table, *stage.range, stage.name);
    if (&stage == &stages.front()) walks.of_first_stage = walks.footprints.size() - before;
  }
  return walks;
}

}  // namespace gexp::infer::model
