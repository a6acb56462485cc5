// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/cached_visits.h"

#include <algorithm>
#include <numeric>

#include "runtime/infer/address_bias.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/statistics.h"

// A visit to what was visited just before always hits. Where there are many of them they are a labelled sample: the fastest level's own
// scatter, with which a slower level may overlap (a mixture with one component known).
namespace gexp::infer {
namespace {


}  // namespace

/// By cell: the visits to the sector that the walk visited just before, which always hit; empty where some walk is not known.
std::vector<double> repeated_hits(const records::Table& table, const Histogram& histogram) {
  std::vector<double> hits(histogram.size());
  for (const auto& point : table.points) {
    if (point.runs.empty()) continue;
    if (!point.walk || point.walk->steps == 0) return {};
    const auto repeated = repeated_sector_steps(*point.walk);
    if (std::find(repeated.begin(), repeated.end(), true) == repeated.end()) continue;
    for (const auto& run : point.runs) {
      work(run.ticks.size() / 32);
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
  if (all_hits < model::kEnoughVisits || all_hits < model::kEnoughShare * all) return;
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
  const double chance = border == mode->end ? 1 : poisson_at_least(slow, criteria.own * scale * slow_hits + 1);
  if (chance > model::kByChanceAnywhere) return;
  double centre = histogram.tick(border), sum = 0;
  for (auto cell = border; cell < mode->end && 2 * sum < slow; ++cell) centre = histogram.tick(cell), sum += others(cell);
  if (centre - histogram.tick(middle) < std::max(model::kNearPeaksCycles, model::kNearPeaks * centre)) return;
  Mode slower{.begin = border, .end = mode->end, .apart = -std::log(chance)};
  mode->end = border, mode->cut = true;
  modes.insert(mode + 1, slower);
}

}  // namespace gexp::infer
