// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/hits_alike.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "runtime/infer/address_bias.h"
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

}  // namespace

std::optional<SlowerHits> slower_hits(const std::vector<std::pair<double, const records::Point*>>& walks, const MissRange& range) {
  std::map<double, std::vector<const records::Point*>> by_size;
  for (const auto& [bytes, point] : walks) {
    if (point->walk && point->walk->steps > 1 && !point->runs.empty()) by_size[bytes].push_back(point);
  }
  if (by_size.size() < 3) return std::nullopt;
  std::unordered_map<std::int64_t, model::MeanDifference> smallest;
  for (const auto* point : by_size.begin()->second) {
    visit_hits(*point, range, [&](auto address, auto tick) { smallest[address].add(tick); });
  }
  std::vector<double> sizes;
  std::vector<model::MeanDifference> slower;
  for (const auto& [bytes, points] : by_size) {
    model::MeanDifference difference;
    for (const auto* point : points) {
      visit_hits(*point, range, [&](auto address, auto tick) {
        if (const auto at = smallest.find(address); at != smallest.end()) difference.add(tick - at->second.mean());
      });
    }
    if (difference.pairs > 1) sizes.push_back(bytes), slower.push_back(difference);
  }
  const double beyond = model::scatter_of_neighbours(slower);
  const auto [count, nats] = model::points_of_level(slower, beyond);
  if (count == 0 || nats <= model::kContradicted) return std::nullopt;
  const model::Level level(slower, 0, count, beyond);
  const auto most = std::max_element(slower.begin(), slower.end(), [](const auto& a, const auto& b) { return a.mean() < b.mean(); });
  const auto next = std::find_if(slower.begin() + static_cast<std::ptrdiff_t>(count), slower.end(),
                                 [&](const auto& each) { return level.log_against(each) >= model::kDecisive; });
  if (most->mean() - level.mean() < 1 || next == slower.end()) return std::nullopt;
  return SlowerHits{sizes[count - 1], sizes[static_cast<std::size_t>(next - slower.begin())], most->mean() - level.mean()};
}

}  // namespace gexp::infer
