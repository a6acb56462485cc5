// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/room_for_more.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "runtime/infer/address_bias.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/paired_visits.h"

namespace gexp::infer {
namespace {

/// What fits at a size, as blocks: of what comes in at once, or of the walk's stride.
class Fitting {
 public:
  Fitting(const SizeClaim& claim, std::int64_t unit) : claim_(claim), apart_(std::max(std::int64_t{1}, unit)) {
    for (const auto offset : claim.fits.front()->walk->offsets) blocks_.insert(offset / apart_);
    const auto told = claim.finding->interval ? claim.finding->interval->second : static_cast<double>(claim.high - claim.low);
    const auto not_told = std::max<std::int64_t>(0, static_cast<std::int64_t>(told) - (claim.high - claim.low));
    most_ = blocks_.size() + static_cast<std::size_t>(not_told / apart_);
  }

  /// Share of the blocks that these offsets visit which does not fit, where they visit all that does and more, beyond it; 0 otherwise.
  [[nodiscard]] double too_many(const std::vector<std::int64_t>& offsets) const {
    work(2 * offsets.size());
    std::set<std::int64_t> visited;
    for (const auto offset : offsets) visited.insert(offset / apart_);
    const bool beyond = std::any_of(offsets.begin(), offsets.end(), [&](auto offset) { return offset < claim_.low || offset >= claim_.high; });
    if (!beyond || visited.size() <= most_ || !std::includes(visited.begin(), visited.end(), blocks_.begin(), blocks_.end())) return 0;
    return static_cast<double>(visited.size() - most_) / static_cast<double>(visited.size());
  }

  /// How often a walk comes to another block each time that it comes to another sector. 0 where it seldom visits a sector twice in a row, so
  /// that pairs of visits tell nothing of the others.
  [[nodiscard]] double blocks_a_sector(const Pattern& walk) const {
    const auto repeated = repeated_sector_steps(walk);
    const auto pairs = static_cast<double>(std::count(repeated.begin(), repeated.end(), true)), sectors = static_cast<double>(walk.steps) - pairs;
    double blocks = 0;
    for (std::int64_t i = 0; i < walk.steps; ++i) blocks += walk.at(0, i) / apart_ != walk.at(0, (i + walk.steps - 1) % walk.steps) / apart_ ? 1 : 0;
    return pairs >= model::kMostly * sectors && sectors > 0 ? blocks / sectors : 0;
  }

 private:
  const SizeClaim& claim_;
  std::int64_t apart_;
  std::set<std::int64_t> blocks_;
  std::size_t most_ = 0;
};

/// A walk that visits all that fits at the size, and more, and never misses; empty where there is none.
std::string with_room(const model::Walks& walks, const Fitting& fitting) {
  for (const auto& footprint : walks.footprints) {
    if (!footprint.stays_in()) continue;
    std::vector<std::int64_t> offsets;
    for (const auto address : footprint.addresses) offsets.push_back(walks.offsets[address]);
    if (fitting.too_many(offsets) > 0) return footprint.where;
  }
  return {};
}

/// The same by pairs of visits: they tell it of misses that are too cheap to be told one by one, and of places that are as slow as misses.
std::string with_room_by_pairs(const SizeClaim& claim, const MeasuredStages& measured, const Fitting& fitting) {
  const auto of_point = [](const MeasuredStages::Measured& stage, const records::Point& point) {
    return excess_of(point, stage.records().classes().outlier(), 0, point.runs.size());
  };
  std::vector<Excess> within;
  double least = INFINITY, most = -INFINITY;  // a miss costs what lies between, or more
  for (const auto& [x, point] : claim.within) {
    if (const auto excess = of_point(*claim.measured, *point); excess.pairs > 1) within.push_back(excess), least = std::min(least, excess.mean());
  }
  for (const auto& [x, point] : claim.beyond) {
    if (const auto excess = of_point(*claim.measured, *point); excess.pairs > 1) most = std::max(most, excess.mean());
  }
  if (within.size() < 2 || most <= least) return {};
  for (const auto* other : measured.of_same_access(*claim.stage)) {
    for (const auto& point : other->table->points) {
      if (point.runs.empty() || !point.walk || point.walk->threads != 1) continue;
      const double missing = fitting.too_many(point.walk->offsets) * fitting.blocks_a_sector(*point.walk);  // at least, if the size is all that fits
      const auto excess = missing > 0 ? of_point(*other, point) : Excess();
      if (excess.pairs <= 1 || log_of_fitting(within, excess, missing * (most - least)) < model::kDoubted) continue;
      return records::place_text(other->stage->name, *other->table, point);
    }
  }
  return {};
}

}  // namespace

std::string walk_with_room(const SizeClaim& claim, std::int64_t unit, const MeasuredStages& measured, const model::Walks* told) {
  const Fitting fitting(claim, unit);
  auto roomy = told ? with_room(*told, fitting) : std::string();
  return roomy.empty() ? with_room_by_pairs(claim, measured, fitting) : roomy;
}

}  // namespace gexp::infer
