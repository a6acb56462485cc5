// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <unordered_set>

#include "runtime/infer/address_bias.h"
#include "runtime/infer/analysis.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/flat_level.h"
#include "runtime/infer/model/model_choice.h"
#include "runtime/infer/model/occupancy.h"
#include "runtime/infer/model/visits.h"
#include "runtime/infer/model/walks.h"
#include "runtime/infer/paired_visits.h"

// Where accesses miss. Cold first touches miss once in each unit that a miss brings in (Mei17 section 4.6 reads the L2's line so). So a
// unit is a hypothesis: the first access to each aligned stretch of so many bytes misses at one rate, all others at another. Rivals are
// other units, units of which only some positions within a longer period miss, and none: every access misses at one rate. Which accesses
// miss tells them apart. A walk downwards outwits a prefetcher of what follows; a walk upwards takes what it fetches for a part of the unit,
// so walks downwards decide where there are some.
//
// In an overflowed set the members miss, and only they: the lowest of them is the first miss.
namespace gexp::infer {
namespace {

constexpr std::size_t kMostUnits = 16;  // limit: units that are tried, from the commonest distance of misses on
constexpr std::size_t kMostPeriod = 8;  // limit: units of a period
constexpr std::size_t kPeriods = 840;   // fact: the least number that all of 1 to 8 divide

std::size_t walk_steps(const records::Point& point) {
  return point.walk && point.walk->steps > 0 ? static_cast<std::size_t>(point.walk->steps) : 0;
}

/// The first lap of a walk: where it goes, and which of its accesses missed in most runs.
struct ColdWalk {
  std::vector<std::int64_t> offsets;
  std::vector<bool> missed;
  bool up = false;
};

struct Tally {
  double misses = 0, all = 0;
  void add(bool missed) { misses += missed ? 1 : 0, ++all; }
  [[nodiscard]] double evidence() const { return model::log_of_own_rate(misses, all); }
  [[nodiscard]] double rate() const { return (misses + 0.5) / (all + 1); }
};

/// First accesses to units of so many bytes, by the unit's number modulo kPeriods, and all others.
struct UnitTallies {
  std::vector<Tally> firsts = std::vector<Tally>(kPeriods);
  Tally others;
  UnitTallies(const std::vector<const ColdWalk*>& walks, std::int64_t unit, std::int64_t phase) {
    for (const auto* walk : walks) {
      if (walk->offsets.empty()) continue;
      const auto [low, high] = std::minmax_element(walk->offsets.begin(), walk->offsets.end());
      const auto number = [&](std::int64_t offset) { return (offset - phase + unit) / unit; };  // above 0: the phase is less than a unit
      const auto least = number(*low);
      std::vector<bool> touched(static_cast<std::size_t>(number(*high) - least + 1));
      for (std::size_t i = 0; i < walk->offsets.size(); ++i) {
        const auto at = number(walk->offsets[i]);
        const auto place = static_cast<std::size_t>(at - least);
        (touched[place] ? others : firsts[static_cast<std::size_t>(at) % kPeriods]).add(walk->missed[i]);
        touched[place] = true;
      }
    }
  }
  /// Logarithm of the likelihood if each of so many units has its own rate, all of its periods the same.
  [[nodiscard]] double evidence(std::size_t period) const {
    std::vector<Tally> rates(period);
    for (std::size_t i = 0; i < kPeriods; ++i) rates[i % period].misses += firsts[i].misses, rates[i % period].all += firsts[i].all;
    double sum = others.evidence();
    for (const auto& each : rates) sum += each.evidence();
    std::sort(rates.begin(), rates.end(), [](const Tally& a, const Tally& b) { return a.rate() > b.rate(); });
    // One of a period that misses is a unit as long as the period, and no rival of it.
    const bool rival = period == 1 || 2 * rates[1].rate() > rates[0].rate();
    return rival && rates[0].rate() > others.rate() ? sum : -INFINITY;
  }
};

struct UnitOf {
  std::int64_t unit = 0;
  double weight = 0;
  std::size_t period = 1;
  double none = 0;        ///< posterior of none
  std::int64_t rival = 0; ///< the next unit
};

/// The number nearer to a distance than a stride that the highest power of two divides.
std::int64_t roundest(std::int64_t distance, std::int64_t stride) {
  const auto low = std::max<std::int64_t>(1, distance - stride + 1), high = distance + stride - 1;
  std::int64_t power = 1;
  while ((high / (2 * power)) * (2 * power) >= low) power *= 2;
  return (high / power) * power;
}

/// Usual distance of two neighbours of a walk.
std::int64_t stride_of(const ColdWalk& walk) {
  auto offsets = walk.offsets;
  std::sort(offsets.begin(), offsets.end());
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] / kPlaceBytes != offsets[i - 1] / kPlaceBytes) gaps.push_back(offsets[i] - offsets[i - 1]);
  }
  if (gaps.empty()) return 1;
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
  return gaps[gaps.size() / 2];
}

/// Commonest distance of consecutive misses first; beside each, the roundest that it may be: it is known no finer than the walk's stride.
std::vector<std::int64_t> units_of(const std::vector<const ColdWalk*>& walks) {
  std::map<std::int64_t, std::size_t> distances;
  std::int64_t stride = INT64_MAX;
  for (const auto* walk : walks) stride = std::min(stride, stride_of(*walk));
  for (const auto* walk : walks) {
    std::optional<std::int64_t> last;
    for (std::size_t i = 0; i < walk->offsets.size(); ++i) {
      if (!walk->missed[i]) continue;
      if (last && *last != walk->offsets[i]) ++distances[std::abs(walk->offsets[i] - *last)];
      last = walk->offsets[i];
    }
  }
  std::vector<std::pair<std::size_t, std::int64_t>> sorted;
  for (const auto& [distance, times] : distances) sorted.emplace_back(times, distance);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::int64_t> units;
  for (const auto& [times, distance] : sorted) {
    if (units.size() >= kMostUnits) break;
    for (const auto unit : {distance, stride < distance ? roundest(distance, stride) : distance}) {
      if (std::find(units.begin(), units.end(), unit) == units.end()) units.push_back(unit);
    }
  }
  return units;
}

/// Where a unit may begin: at 0, where a miss upwards lies, and behind one downwards.
std::set<std::int64_t> phases_of(const std::vector<const ColdWalk*>& walks, std::int64_t unit) {
  std::set<std::int64_t> phases{0};
  for (const auto* walk : walks) {
    std::map<std::int64_t, std::size_t> residues;
    for (std::size_t i = 1; i < walk->offsets.size(); ++i) {
      if (walk->missed[i]) ++residues[(walk->up ? walk->offsets[i] : walk->offsets[i - 1]) % unit];
    }
    const auto most = std::max_element(residues.begin(), residues.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != residues.end()) phases.insert(most->first);
  }
  return phases;
}

/// What it takes to say a unit: its odd factor, and which power of two. Lines and pages are few times a power of two.
double nats_of(std::int64_t unit) {
  const auto odd = unit / (unit & -unit);
  return std::log(static_cast<double>(odd)) + std::log(64.0);
}

UnitOf likeliest_unit(const std::vector<const ColdWalk*>& walks) {
  struct Hypothesis {
    std::int64_t unit;
    std::size_t period;
    double odds;  ///< natural logarithm: tempered likelihood, and what it takes to say which hypothesis it is
  };
  Tally all;
  for (const auto* walk : walks) {
    for (const bool missed : walk->missed) all.add(missed);
  }
  std::vector<Hypothesis> made{{0, 1, all.evidence() / model::kTemper}};
  for (const auto unit : units_of(walks)) {
    const auto phases = phases_of(walks, unit);
    for (const auto phase : phases) {
      const UnitTallies tallies(walks, unit, phase);
      for (std::size_t period = 1; period <= kMostPeriod; ++period) {
        made.push_back({unit, period, tallies.evidence(period) / model::kTemper - nats_of(unit) - std::log(static_cast<double>(phases.size() * period))});
      }
    }
  }
  const auto most = *std::max_element(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.odds < b.odds; });
  UnitOf best{most.unit, 0, most.period, 0, 0};
  double sum = 0, next = 0;
  std::map<std::pair<std::int64_t, std::size_t>, double> weights;
  for (const auto& each : made) {
    const double weight = std::exp(each.odds - most.odds);
    weights[{each.unit, each.period}] = std::max(weights[{each.unit, each.period}], weight);
  }
  for (const auto& [which, weight] : weights) {
    sum += weight;
    if (which.first == 0) best.none = weight;
    else if (which.first == most.unit) best.weight += which.second == most.period || most.period == 1 ? weight : 0;
    else if (weight > next) next = weight, best.rival = which.first;
  }
  best.weight /= sum, best.none /= sum;
  return best;
}

/// By step: whether it is in the sector of the step before it, of a walk that leaves sectors out. It hits whatever a miss brings in.
std::vector<bool> steps_without_news(const Pattern& walk) {
  auto repeated = repeated_sector_steps(walk);
  std::vector<std::int64_t> sectors;
  for (const auto offset : walk.offsets) sectors.push_back(offset / kPlaceBytes);
  std::sort(sectors.begin(), sectors.end());
  const bool leaves_out = std::adjacent_find(sectors.begin(), sectors.end(), [](auto a, auto b) { return b - a > 1; }) != sectors.end();
  if (!leaves_out) repeated.assign(repeated.size(), false);
  return repeated;
}

/// By step of the first lap.
std::vector<bool> missed_in_most_runs(const records::Point& point, std::size_t lap, const MissRange& border) {
  std::vector<std::size_t> counts(lap);
  const Misses missed(border, point);
  for (const auto& run : point.runs) {
    for (std::size_t i = 0; i < std::min(lap, run.ticks.size()); ++i) counts[i] += missed(i, run.ticks[i]) ? 1 : 0;
  }
  std::vector<bool> most;
  for (const auto count : counts) most.push_back(2 * count > point.runs.size());
  return most;
}

/// Of what does not miss: by how much the first access to each block takes longer than further ones there, in ticks.
struct SlowerFirsts {
  std::int64_t block = 0;
  double ticks = 0;
};

/// The smallest blocks, shorter than a unit, of which that is more than rounding and no chance: a level hardly slower brings them in, and its
/// units are told instead of theirs. In whichever direction a walk goes, so that it is not where a block lies.
std::optional<SlowerFirsts> slower_firsts(const records::Table& table, std::int64_t unit, const MissRange& border) {
  for (std::int64_t block = kPlaceBytes; block < unit; block *= 2) {
    model::MeanDifference firsts, others;
    for (const auto& point : table.points) {
      const auto lap = walk_steps(point);
      if (lap == 0) continue;
      const Misses missed(border, point);
      std::vector<bool> first(lap), missing(lap);  // missing: the first of its unit, which some runs may show as quick as a hit
      std::unordered_set<std::int64_t> blocks, units;
      for (std::size_t i = 0; i < lap; ++i) {
        const auto at = point.walk->at(0, static_cast<std::int64_t>(i));
        first[i] = blocks.insert(at / block).second, missing[i] = units.insert(at / unit).second;
      }
      for (const auto& run : point.runs) {
        work(1 + run.ticks.size() / 16);
        for (std::size_t i = 0; i < std::min(lap, run.ticks.size()); ++i) {
          if (!missing[i] && run.ticks[i] <= border.outlier && !missed(i, run.ticks[i])) (first[i] ? firsts : others).add(run.ticks[i]);
        }
      }
    }
    if (firsts.pairs <= static_cast<double>(model::kFewest) || others.pairs <= static_cast<double>(model::kFewest)) continue;
    const double later = firsts.mean() - others.mean(), beyond = (later - model::kHalfTick) / std::hypot(firsts.error(), others.error());
    if (beyond > 0 && boost::math::cdf(boost::math::complement(boost::math::normal(), beyond)) <= model::kByChance) return SlowerFirsts{block, later};
  }
  return std::nullopt;
}

}  // namespace

Finding miss_spacing(const Context& context) {
  const auto above = above_of(context);
  const auto border = miss_range(context.table, context.classes, above);
  const auto by_pairs = border || above ? std::vector<std::vector<bool>>() : missed_by_pairs(context.table, context.classes.outlier());
  if (!border && by_pairs.empty()) {
    return undetermined(context, "all latencies are of one class: either every access was served alike, or none was cached; a walk over cold memory, or another load path, would decide");
  }
  std::vector<ColdWalk> walks;
  std::size_t accesses = 0, misses = 0;
  for (std::size_t p = 0; p < context.table.points.size(); ++p) {
    const auto& point = context.table.points[p];
    const auto lap = walk_steps(point);
    if (lap == 0 || point.runs.empty()) continue;
    const auto missed = border ? missed_in_most_runs(point, lap, *border) : by_pairs[p];
    const auto repeated = steps_without_news(*point.walk);
    auto& walk = walks.emplace_back();
    for (std::size_t i = 0; i < lap; ++i) {
      if (repeated[i]) continue;
      walk.offsets.push_back(point.walk->at(0, static_cast<std::int64_t>(i)));
      walk.missed.push_back(missed[i]);
      misses += walk.missed.back() ? 1 : 0;
    }
    walk.up = std::is_sorted(walk.offsets.begin(), walk.offsets.end());
    accesses += walk.offsets.size();
  }
  if (accesses > 0 && misses == accesses) return undetermined(context, "every access misses: this load path caches nothing here, or nothing as large as two neighbours; a smaller stride or another path would decide");
  std::vector<const ColdWalk*> upwards, others;
  for (const auto& walk : walks) (walk.up ? upwards : others).push_back(&walk);
  const bool other_ways = !others.empty();
  const auto& deciding = other_ways ? others : upwards;
  if (units_of(deciding).empty()) {
    return undetermined(context, "fewer than two accesses miss: the walk is too short, its data was cached before, a prefetcher brought it in time, or a miss costs hardly more than a hit; a longer walk downwards over flushed memory would decide");
  }
  const auto best = likeliest_unit(deciding);
  const auto why_not = other_ways ? "; more repetitions, where they are noisy, would decide" : "; more repetitions, where they are noisy, or a walk downwards, which no prefetcher follows, would decide";
  if (best.unit == 0) return undetermined(context, fmt::format("the misses are not evenly spaced: no unit explains them better than that any access may miss{}", why_not));
  if (best.period > 1) {
    return undetermined(context, fmt::format("the misses are not evenly spaced: of every {} units of {} B some miss and some do not, as where a miss brings its neighbours, too{}", best.period, best.unit, why_not));
  }
  if (const auto slower = border && !above ? slower_firsts(context.table, best.unit, *border) : std::nullopt) {
    return undetermined(context, fmt::format("{} B looked likely, but of what does not miss, the first access to each {} B takes {:.1f} cycles longer than others there: "
                                             "a level that is hardly slower may answer these, whose units are longer; another load path would decide", best.unit, slower->block, slower->ticks));
  }
  double sure = std::min(kMostConfidence, best.weight);
  std::string why = "the first access to each unit misses, and no other";
  if (!other_ways) {
    why += "; a prefetcher of what follows would look the same: a walk downwards would tell";
    sure = std::min(sure, model::kUntested);
  } else if (!upwards.empty() && !units_of(upwards).empty()) {
    const auto up = likeliest_unit(upwards);
    if (up.unit != best.unit && up.unit > 0) why += fmt::format("; {} B on the way up, where what follows a miss is fetched with it", up.unit);
  }
  if (best.rival > 0) why += fmt::format("; the next likeliest are {} B", best.rival);
  return found(context, Value(static_cast<double>(best.unit), kBytes), sure, why, fmt::format("{} of {} accesses miss", misses, accesses), other_ways ? "a longer walk" : "a walk downwards");
}

Finding first_miss(const Context& context) {
  const auto border = miss_range(context.table, context.classes);
  if (!border) return undetermined(context, "all latencies are of one class: nothing overflows, or a miss costs what a hit does; a larger footprint, or another load path, would decide");
  const auto* data = argument(context);
  double least = 0;
  std::vector<std::pair<double, const records::Point*>> points;
  for (const auto& point : context.table.points) {
    if (point.runs.empty() || !point.walk) continue;
    double x = 0;
    if (data && data->over) {
      const auto at = point.at.find(data->over->text);
      const auto* n = at == point.at.end() ? nullptr : at->second.get<Number>();
      if (n) x = n->number;
    }
    least = points.empty() ? x : std::min(least, x);
    points.emplace_back(x, &point);
  }
  // Misses by offset, on the plateau and beyond it.
  std::map<std::int64_t, std::size_t> before, beyond;
  std::size_t runs = 0, laps_before = 0, laps_beyond = 0, addresses = 0;
  for (const auto& [x, point] : points) {
    const bool plateau = x == least && points.size() > 1;
    auto& into = plateau ? before : beyond;
    const auto lap = walk_steps(*point);
    addresses = std::max(addresses, lap);
    for (const auto& run : point->runs) {
      (plateau ? laps_before : laps_beyond) += lap ? run.ticks.size() / lap : 0;
      ++runs;
    }
    const auto counts = misses_by_step(*point, *border);
    for (std::size_t step = 0; step < counts.size(); ++step) {
      if (counts[step]) into[point->walk->at(0, static_cast<std::int64_t>(step))] += counts[step];
    }
  }
  const auto enough = [&](std::size_t laps) { return significant_misses(*border, laps, addresses, 2); };
  std::erase_if(beyond, [&](const auto& miss) { return miss.second < enough(laps_beyond); });
  if (beyond.empty()) return undetermined(context, "nothing misses again and again: the footprint does not overflow; a larger one would decide");
  for (const auto& [offset, times] : before) {
    if (times >= enough(laps_before)) return undetermined(context, fmt::format("offset {} misses already where everything should fit; a sweep that begins with a smaller footprint would decide", offset));
  }
  const auto first = beyond.begin();
  return found(context, Value(static_cast<double>(first->first), kBytes), kMostConfidence, "the lowest address that misses once the footprint overflows",
               fmt::format("{} addresses miss, this one {} times in {} runs", beyond.size(), first->second, runs));
}

}  // namespace gexp::infer
