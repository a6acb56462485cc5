// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/classes.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "runtime/infer/background_interference.h"
#include "runtime/infer/granularity.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/levels.h"
#include "runtime/infer/modes.h"
#include "runtime/infer/statistics.h"

// Classes are the levels that model/levels.cpp finds. Where places differ (slices), they are found twice: of the ticks as they are, and of
// the ticks as if every address lay in one place. What leaves less of the ticks unexplained, the places' own times counted, is right.
namespace gexp::infer {
namespace {

/// Where what an address takes may hang on its place.
constexpr ModeCriteria kWithAddressBias{.deep = model::kDeepAmongPlaces, .smooth = 2 * model::kSmooth, .blur = 1.5, .own = 1};  // made of: a tick that places blur
/// Where it does not, or that is taken out.
constexpr ModeCriteria kWithoutAddressBias{.deep = model::kDeep, .smooth = model::kSmooth, .blur = 0.5, .own = 2};  // made of: half a tick of rounding

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

const Classes& Classes::told() const { return unbiased ? unbiased->classes : *this; }

double Classes::outlier() const { return list.empty() ? INFINITY : model::kFarOut * static_cast<double>(list.back().high); }

namespace {

struct FittedClasses {
  Classes classes;
  bool places_differ = false;
  double nats = 0;
};

FittedClasses fit_classes(const records::Table& table, const std::vector<const records::Table*>& others, ModeCriteria criteria,
                          LevelFinder::Places places = LevelFinder::Places::Differ) {
  const Histogram histogram(table);
  const auto found = LevelFinder(table, histogram, others, places).fit(criteria);
  FittedClasses made{.classes = {}, .places_differ = found.places_differ, .nats = found.nats};
  for (const auto& mode : found.modes) {
    const auto support = histogram.before(mode.end) - histogram.before(mode.begin);
    const double trim = support < 1000 ? 0 : model::kInterfered;
    const auto quantile = [&](double share) { return histogram.quantile(mode.begin, mode.end, share); };
    const double centre = quantile(0.5);
    made.classes.list.push_back({quantile(trim), mode.cut ? histogram.tick(mode.end - 1) : quantile(1 - trim), centre, support, mode.apart,
                                 centre - quantile(normal_share_beyond(1))});
  }
  return made;
}

void estimate_interference(const records::Table& table, const std::vector<const records::Table*>& others, Classes& classes,
                           ModeCriteria criteria, const std::shared_ptr<const Unbiased>& unbiased) {
  for (std::size_t i = 0; i < classes.list.size(); ++i) {
    const auto border = classes.above(i);
    const bool each = border && table.timing == records::Table::Timing::Each;
    Interference interference;
    if (each) {
      const MissRange slower{.above = *border, .outlier = classes.outlier(), .unbiased = unbiased};
      interference = background_interference(table, slower, classes.list[i], others);
    }
    interference.share *= criteria.own;
    classes.interference.push_back(interference);
  }
}

}  // namespace

Classes classify(const records::Table& table, const std::vector<const records::Table*>& others) {
  try {
    return classes_of(table, others);
  } catch (const CutShort&) {
    Classes none;
    none.cut_short = true;
    return none;
  }
}

Classes classes_of(const records::Table& table, const std::vector<const records::Table*>& others) {
  auto bias = AddressBias::of(table);
  const auto criteria = bias && bias->none() ? kWithoutAddressBias : kWithAddressBias;
  auto raw = fit_classes(table, others, criteria);
  auto classes = std::move(raw.classes);
  classes.cumulative = std::make_shared<CumulativeMisses>();
  estimate_interference(table, others, classes, criteria, nullptr);
  if (!bias || bias->none()) return classes;
  auto even = fit_classes(bias->without(table), {}, kWithoutAddressBias, LevelFinder::Places::Even);
  if (even.nats + bias->nats() >= raw.nats) return classes;
  const auto unbiased = std::make_shared<Unbiased>(Unbiased{*bias, std::move(even.classes)});
  estimate_interference(table, {}, unbiased->classes, kWithoutAddressBias, unbiased);  // the places of others are not known
  classes.unbiased = unbiased;
  return classes;
}

namespace {

/// The ticks that are slower than class `own`; nullopt for the slowest.
std::optional<MissRange> beyond(const Classes& classes, std::size_t own) {
  const auto above = classes.above(own);
  if (!above) return std::nullopt;
  const auto& misses = classes.list[own + 1];
  const double unsure = model::kUnsure * std::min(*above - classes.list[own].centre, misses.centre - *above);
  const double fast = misses.scatter > 0 ? normal_share_beyond((misses.centre - (*above - unsure)) / misses.scatter) : 0;
  return MissRange{.above = *above, .outlier = classes.outlier(), .interference = classes.interference[own], .fast_misses = fast, .unsure = unsure};
}

/// Whether this parts hits: some sectors that are visited twice in a row are slower than it both times, and others not. The second visit
/// always hits, so it is where the sector lies that makes it slow. (Once in a sector may be a miss: an H200's texture
/// path fetches units of 32 B that do not begin where an array does.)
bool parts_hits(const records::Table& table, double border) {
  double all = 0, slower = 0;  // pairs of visits
  for (const auto& point : table.points) {
    if (!point.walk || point.walk->steps == 0 || point.runs.empty()) continue;
    const auto repeated = repeated_sector_steps(*point.walk);
    for (const auto& run : point.runs) {
      for (std::size_t i = 1; i < run.ticks.size(); ++i) {
        if (repeated[i % repeated.size()]) ++all, slower += run.ticks[i - 1] > border && run.ticks[i] > border ? 1 : 0;
      }
    }
  }
  return all >= model::kEnoughVisits && slower > model::kMinority * all && slower < (1 - model::kMinority) * all;
}

}  // namespace

std::optional<MissRange> raw_miss_range(const records::Table& table, const Classes& classes, std::optional<double> slower_than) {
  auto raw = classes;
  raw.unbiased = nullptr;
  auto range = miss_range(table, raw, slower_than);
  for (std::size_t own = 0; range && own < raw.list.size(); ++own) {
    if (raw.list[own].centre <= range->above) continue;
    if (!parts_hits(table, range->above)) break;
    range = beyond(raw, own);  // a class of further slices
  }
  return range;
}

namespace {

double last_overhead(const records::Table& table) {
  double overhead = 0;
  for (const auto& point : table.points) {
    if (!point.runs.empty()) overhead = point.overhead;
  }
  return overhead;
}

/// The class that this latency belongs to; nullopt where it lies between two, or beyond all.
std::optional<std::size_t> class_with(const records::Table& table, const Classes& classes, double latency) {
  // The class that has this latency, or whose middle it is near: one measured elsewhere may be a little off. A table may hold only
  // slower or only faster ones.
  const double tick = latency + last_overhead(table);
  std::optional<std::size_t> own;
  for (std::size_t i = 0; i < classes.list.size(); ++i) {
    const auto& mode = classes.list[i];
    const double slack = model::kNearPeaks * mode.centre + model::kLeastApart;
    if (tick < std::min<double>(mode.low, mode.centre - slack) || tick > std::max<double>(mode.high, mode.centre + slack)) continue;
    if (!own || std::fabs(mode.centre - tick) < std::fabs(classes.list[*own].centre - tick)) own = i;
  }
  return own;
}

/// The same, or the one below it where it lies between two; nullopt where all are slower.
std::optional<std::size_t> class_of(const records::Table& table, const Classes& classes, double latency) {
  if (const auto own = class_with(table, classes, latency)) return own;
  const double tick = latency + last_overhead(table);
  const auto slower = std::find_if(classes.list.begin(), classes.list.end(), [&](const auto& mode) { return mode.low > tick; });
  return slower == classes.list.begin() ? std::nullopt : std::optional(static_cast<std::size_t>(slower - classes.list.begin()) - 1);
}

/// `range_of`: of the classes by which misses are told, the ticks that are asked for.
template <class RangeOf>
std::optional<MissRange> told_range(const Classes& classes, const RangeOf& range_of) {
  auto range = range_of(classes.told());
  if (range) range->unbiased = classes.unbiased;
  return range;
}

}  // namespace

std::optional<MissRange> miss_range(const records::Table& table, const Classes& classes, std::optional<double> slower_than) {
  return told_range(classes, [&](const Classes& told) -> std::optional<MissRange> {
    if (told.list.empty()) return std::nullopt;
    if (!slower_than) return beyond(told, 0);
    if (const auto own = class_of(table, told, *slower_than)) return beyond(told, *own);
    const double tick = *slower_than + last_overhead(table);
    return MissRange{.above = tick * (1 + model::kNearPeaks) + model::kLeastApart, .outlier = told.outlier()};
  });
}

std::optional<double> slowest_of(const records::Table& table, const Classes& classes) {
  const auto& list = classes.told().list;
  return list.empty() ? std::nullopt : std::optional(list.back().centre - last_overhead(table));
}

double first_overhead(const records::Table& table) {
  const auto point = std::find_if(table.points.begin(), table.points.end(), [](const auto& each) { return !each.runs.empty(); });
  return point == table.points.end() ? 0 : point->overhead;
}

namespace {

/// As slow as the class that this latency belongs to, or slower; nullopt where that is the fastest one, or it belongs to none.
std::optional<MissRange> level_range(const records::Table& table, const Classes& classes, double latency) {
  return told_range(classes, [&](const Classes& told) -> std::optional<MissRange> {
    const auto own = class_with(table, told, latency);
    return own && *own > 0 ? beyond(told, *own - 1) : std::nullopt;
  });
}

double share_answered_faster(const records::Point& point, const MissRange& level) {
  const auto& walk = *point.walk;
  const auto steps = static_cast<std::size_t>(walk.steps);
  const Misses asked(level, point);
  double least = 1;
  for (const auto& run : point.runs) {
    for (std::size_t lap = 0; lap < run.ticks.size(); lap += steps) {
      if (lap > 0 && lap + steps > run.ticks.size()) break;  // not a whole one
      std::unordered_map<std::int64_t, bool> faster;
      for (auto i = lap; i < std::min(lap + steps, run.ticks.size()); ++i) {
        auto& all = faster.try_emplace(walk.at(0, static_cast<std::int64_t>(i - lap)) / kMostLine, true).first->second;
        all = all && !asked(i, run.ticks[i]);
      }
      const auto kept = std::count_if(faster.begin(), faster.end(), [](const auto& block) { return block.second; });
      least = std::min(least, static_cast<double>(kept) / static_cast<double>(std::max<std::size_t>(1, faster.size())));
    }
  }
  return least;
}

}  // namespace

double share_answered_faster(const records::Table& table, const Classes& classes, const std::vector<const records::Point*>& points, double latency) {
  const auto level = level_range(table, classes, latency);
  double least = level ? 1 : 0;
  for (const auto* point : points) {
    if (level && point->walk && point->walk->threads == 1 && point->walk->steps > 0) least = std::min(least, share_answered_faster(*point, *level));
  }
  return least;
}

double most_interference(const MissRange& range, double visits, std::size_t positions) {
  return range.interference.share > 0 ? poisson_beyond(range.interference.share * visits, model::kByChance / static_cast<double>(positions)) - 1 : 0;
}

std::size_t significant_misses(const MissRange& range, std::size_t visits, std::size_t positions, std::size_t least) {
  return std::max(least, static_cast<std::size_t>(most_interference(range, static_cast<double>(visits), positions)) + 1);
}

}  // namespace gexp::infer
