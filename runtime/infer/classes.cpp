// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/classes.h"

#include <algorithm>
#include <cmath>
#include <map>

// Latencies of a memory hierarchy come in modes: a level answers in its own time. A hit of the nearest level is often one exact
// number; misses spread. So values are grouped by the gaps between them, and a gap counts by what stands on its sides: between
// two sharp modes with real support a few cycles are a border (198 and 204: L1 TLB hit and miss), among sparse values even a
// tenth of the value is none (misses at 251, 263, 280). What is left over, too rare and not at the same access again, is an
// outlier, no class: an interrupt or a refresh strikes anywhere.
namespace gexp::infer {
namespace {

constexpr std::uint32_t kSharpWidth = 3;       // a mode this narrow is sharp
constexpr std::uint32_t kSharpGap = 3;         // cycles between two sharp modes that still separate them
constexpr double kSparseGap = 0.12;            // share of the value that separates nothing where values are sparse
constexpr double kRare = 0.01;                 // share of all accesses below which a class must recur to count
constexpr double kFarOut = 2;                  // times the slowest class: beyond it is no access of this hierarchy

struct Group {
  std::uint32_t low, high;
  std::uint64_t support;
  [[nodiscard]] bool sharp(std::uint64_t total) const {
    return high - low <= kSharpWidth && support >= std::max<std::uint64_t>(3, static_cast<std::uint64_t>(5e-4 * static_cast<double>(total)));
  }
};

/// Whether the accesses of a rare group recur: the same access of the same point in another run, or in another lap.
bool recurs(const Table& table, const Group& group) {
  for (const auto& point : table.points) {
    const auto lap = point.walk && point.walk->steps > 0 ? static_cast<std::size_t>(point.walk->steps) : std::size_t{1} << 40;
    std::map<std::size_t, int> seen;
    for (const auto& run : point.runs) {
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        if (run.ticks[i] >= group.low && run.ticks[i] <= group.high && ++seen[i % lap] >= 2) return true;
      }
    }
  }
  return false;
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

Classes classify(const Table& table) {
  std::map<std::uint32_t, std::uint64_t> large;  // above the array's range
  std::vector<std::uint64_t> small(65536);
  std::uint64_t total = 0;
  for (const auto& point : table.points) {
    for (const auto& run : point.runs) {
      for (const auto tick : run.ticks) tick < small.size() ? ++small[tick] : ++large[tick];
      total += run.ticks.size();
    }
  }
  std::map<std::uint32_t, std::uint64_t> histogram = std::move(large);
  for (std::uint32_t tick = 0; tick < small.size(); ++tick) {
    if (small[tick]) histogram[tick] = small[tick];
  }

  // Neighbouring values are one group from the start; then sparse neighbours join until only real borders are left.
  std::vector<Group> groups;
  for (const auto& [tick, support] : histogram) {
    if (!groups.empty() && tick - groups.back().high < kSharpGap) {
      groups.back().high = tick;
      groups.back().support += support;
    } else {
      groups.push_back({tick, tick, support});
    }
  }
  for (bool joined = true; joined;) {
    joined = false;
    std::vector<Group> kept;
    for (const auto& group : groups) {
      const bool near = !kept.empty() && group.low - kept.back().high <= kSparseGap * group.low;
      if (near && !(kept.back().sharp(total) && group.sharp(total))) {
        kept.back().high = group.high;
        kept.back().support += group.support;
        joined = true;
      } else {
        kept.push_back(group);
      }
    }
    groups = std::move(kept);
  }
  const auto rare = std::max<std::uint64_t>(2, static_cast<std::uint64_t>(kRare * static_cast<double>(total)));
  std::erase_if(groups, [&](const Group& group) { return group.support < rare && !recurs(table, group); });

  Classes classes;
  for (const auto& group : groups) {
    LatencyClass mode{group.low, group.high, 0, group.support};
    std::uint64_t below = 0;
    for (auto at = histogram.lower_bound(group.low); at != histogram.end() && at->first <= group.high; ++at) {
      below += at->second;
      if (2 * below >= group.support) {
        mode.centre = at->first;
        break;
      }
    }
    classes.list.push_back(mode);
  }
  return classes;
}

std::optional<MissRange> miss_range(const Table& table, const Classes& classes, std::optional<double> slower_than) {
  const auto beyond = [&](std::optional<double> above) {
    return above ? std::optional(MissRange{*above, classes.outlier()}) : std::nullopt;
  };
  if (classes.list.empty()) return std::nullopt;
  if (!slower_than) return beyond(classes.above(0));
  double overhead = 0;
  for (const auto& point : table.points) {
    if (!point.runs.empty()) overhead = point.overhead;
  }
  // The class that this latency belongs to, if the table has it; a table may hold only slower or only faster ones.
  const double tick = *slower_than + overhead;
  std::optional<std::size_t> own;
  for (std::size_t i = 0; i < classes.list.size(); ++i) {
    const auto& mode = classes.list[i];
    if (tick >= mode.low * 0.97 - 2 && tick <= mode.high * 1.03 + 2) {
      if (!own || std::fabs(mode.centre - tick) < std::fabs(classes.list[*own].centre - tick)) own = i;
    }
  }
  if (own) return beyond(classes.above(*own));
  if (tick > classes.list.back().high) return std::nullopt;
  return beyond(tick * 1.03 + 2);
}

}  // namespace gexp::infer
