// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/background_interference.h"

#include <algorithm>
#include <vector>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/walks.h"
#include "runtime/infer/statistics.h"

// Interference makes an access slow wherever it strikes: at every point alike, at no address more than at another. Misses do
// not: they are absent where the footprint fits, and where they are rare they keep to the addresses of the sets that overflow.
// So the points with the lowest rate are pooled for as long as one rate explains them, and what they show is interference if it
// is rare and scattered over the addresses as by chance. One point alone, or two, cannot tell that from random replacement. Nor can many
// points that each walk a line too many: but other stages of the file walk what fits, and what strikes here would strike there.
namespace gexp::infer {
namespace {

struct Count {
  const records::Point* point;
  std::size_t from = 0;  ///< access of each run
  double accesses = 0, slow = 0;
  [[nodiscard]] double rate() const { return slow / accesses; }
};

/// The access of each run from which on visits are steady. What a warm-up did not bring in misses once in the first lap, and that is no
/// interference; where runs have no other lap, they count from the first.
std::size_t steady_from(const records::Point& point) {
  const auto lap = static_cast<std::size_t>(point.walk->steps);
  const bool has_more = std::all_of(point.runs.begin(), point.runs.end(), [&](const records::Run& run) { return run.ticks.size() > lap; });
  return has_more && point.warm_walk && !model::is_warmed(point) ? lap : 0;
}

/// Pairs of slow accesses at one address of one point: seen, and expected when interference falls on every address alike.
void count_pairs(const Count& count, const MissRange& range, double& seen, double& expected) {
  const auto lap = static_cast<std::size_t>(count.point->walk->steps);
  std::vector<double> slow_visits(lap);
  const Misses slow(range, *count.point);
  for (const auto& run : count.point->runs) {
    for (auto i = count.from; i < run.ticks.size(); ++i) slow_visits[i % lap] += slow(i, run.ticks[i]) ? 1 : 0;
  }
  for (const auto times : slow_visits) seen += times * (times - 1) / 2;
  expected += count.slow * (count.slow - 1) / 2 / static_cast<double>(lap);
}

/// The most accesses of a class that a point of this table has, of those at which nothing is slower. `shift`: ticks by which a region
/// takes longer there.
double most_quiet(const records::Table& other, const LatencyClass& own, double above, double shift) {
  double most = 0;
  for (const auto& point : other.points) {
    double quiet = 0;
    bool slow = false;
    for (const auto& run : point.runs) {
      if (slow) break;
      work(1 + run.ticks.size() / 16);
      for (const auto tick : run.ticks) {
        slow = slow || tick > above + shift;
        quiet += tick >= own.low + shift && tick <= own.high + shift ? 1 : 0;
      }
    }
    if (!slow) most = std::max(most, quiet);
  }
  return most;
}

}  // namespace

Interference background_interference(const records::Table& table, const MissRange& range, const LatencyClass& own,
                                     const std::vector<const records::Table*>& others) {
  std::vector<Count> counts;
  double quiet = 0;
  for (const auto* other : others) {
    quiet = std::max(quiet, most_quiet(*other, own, range.above, first_overhead(*other) - first_overhead(table)));
  }
  for (const auto& point : table.points) {
    if (!point.walk || point.walk->steps == 0) continue;
    Count count{&point, steady_from(point)};
    const Misses slow(range, point);
    for (const auto& run : point.runs) {
      count.accesses += static_cast<double>(run.ticks.size() - count.from);
      count.slow += slow.among(run.ticks, count.from);
    }
    if (count.accesses > 0) counts.push_back(count);
  }
  std::sort(counts.begin(), counts.end(), [](const Count& a, const Count& b) { return a.rate() != b.rate() ? a.rate() < b.rate() : a.accesses > b.accesses; });
  double accesses = quiet, slow = 0, seen = 0, expected = 0;
  std::size_t pooled = 0;
  for (const auto& count : counts) {
    const double all = accesses + count.accesses;
    if (accesses > 0 && share_at_least(count.slow, slow + count.slow, count.accesses / all) < model::kByChance) break;
    count_pairs(count, range, seen, expected);
    if (seen > expected && poisson_at_least(seen, expected) < model::kByChance) break;
    accesses = all, slow += count.slow;
    ++pooled;
  }
  if (slow == 0) return {.share = 0, .quiet = accesses};
  if (slow > model::kMinority * accesses || (pooled == counts.size() && pooled < model::kFewest)) return {};
  // One point by itself may be as quiet as that by chance, and the pool then grows. What all of it shows would have struck there, too.
  if (share_at_least(slow, slow, (accesses - quiet) / accesses) < model::kByChance) return {.share = 0, .quiet = quiet};
  return {.share = slow / accesses};
}

}  // namespace gexp::infer
