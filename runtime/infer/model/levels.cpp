// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/levels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/cached_visits.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"
#include "runtime/infer/statistics.h"

// A level is what answers an access, and what came before decides which one does: the same address is fast while it is held and
// slow after it was evicted. So two modes are two levels if the rate of the slower one is another one at each point, step or
// position (own_rates), by more than each place's own rate explains: a far slice is slow at every visit. A mode whose rate is the
// same whatever was accessed is scatter, or, far from its level, a tail (contamination, Huber 1964). Where the records tell
// neither, modes with an empty valley between them are levels.
namespace gexp::infer {
namespace {

constexpr std::size_t kMostParts = 24;  // limit: of one mode

/// Modes three cycles apart, as sharp as they come.
constexpr ModeCriteria kFine{.deep = model::kDeep, .smooth = 0, .blur = 0.5, .own = 1, .near = 0, .near_cycles = model::kLeastApart};  // made of: half a tick of rounding

}  // namespace

LevelFinder::LevelFinder(const records::Table& table, const Histogram& histogram, const std::vector<const records::Table*>& others, Places places)
    : table_(table), histogram_(histogram), places_(places) {
  std::vector<const records::Table*> tables{&table};
  tables.insert(tables.end(), others.begin(), others.end());
  const Visits visits(tables);
  work(visits.all().size());
  begins_.assign(histogram.size() + 1, 0);
  constexpr auto kNone = ~std::uint32_t{0};  // fact: stands for none
  std::vector<std::uint32_t> cell(visits.all().size(), kNone);
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const auto at = histogram.cell_of(visits.all()[i].tick);
    if (at == histogram.size() || histogram.tick(at) != visits.all()[i].tick) continue;  // of others, and never seen in the table itself
    cell[i] = static_cast<std::uint32_t>(at);
    ++begins_[at + 1];
  }
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  visits_.resize(begins_.back());
  auto next = begins_;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] != kNone) visits_[next[cell[i]]++] = visits.all()[i];
  }
  for (const auto by : kEveryShared) cells_[static_cast<std::size_t>(by)] = visits.cells(by);
  thinned_ = visits.thinned();
  std::set<std::int64_t> lengths;  // of walks: one that walks further misses more often
  for (const auto* each : tables) {
    for (const auto& point : each->points) {
      if (point.walk && !point.runs.empty()) lengths.insert(point.walk->steps);
    }
  }
  lengths_ = std::max<std::size_t>(1, lengths.size());
  if (table.timing == records::Table::Timing::Each) hits_ = repeated_hits(table, histogram);
}

double LevelFinder::own_rates_by(Shared by, const Mode& a, const Mode& b) {
  work((begins_[a.end] - begins_[a.begin] + begins_[b.end] - begins_[b.begin] + cells_[static_cast<std::size_t>(by)]) / 16);
  std::vector<Cell> cells(cells_[static_cast<std::size_t>(by)]);
  for (auto i = begins_[a.begin]; i < begins_[a.end]; ++i) ++cells[cell_of(visits_[i], by)].trials;
  for (auto i = begins_[b.begin]; i < begins_[b.end]; ++i) {
    auto& cell = cells[cell_of(visits_[i], by)];
    ++cell.trials, ++cell.slow;
  }
  return own_rates(cells);
}

ModeEvidence LevelFinder::evidence(const Mode& a, const Mode& b) {
  const double by_point = own_rates_by(Shared::Point, a, b), by_step = own_rates_by(Shared::Step, a, b), by_access = own_rates_by(Shared::Access, a, b),
               by_order = own_rates_by(Shared::Order, a, b);
  const double by_place = places_ == Places::Even ? 0 : own_rates_by(Shared::Place, a, b);
  return {log_sum({by_point, by_step, by_access, by_order}) - std::log(4.0), by_place, own_rates_by(Shared::Run, a, b)};
}

double LevelFinder::support(const Mode& mode) const { return static_cast<double>(histogram_.before(mode.end) - histogram_.before(mode.begin)); }

std::vector<Mode> LevelFinder::refined(const Mode& mode, bool& places_differ) {
  Density density(histogram_, kFine);
  auto parts = peaks(histogram_, density, mode.begin, mode.end);
  join(parts, kFine);
  if (parts.size() > kMostParts) return {mode};
  std::vector<double> gains;  // of each part against the one before
  const auto gain_of = [&](std::size_t i) {
    const auto [level, place, run] = evidence(parts[i - 1], parts[i]);
    places_differ = places_differ || place > std::max(level, 0.0) + model::kDecisive;
    return level - std::max({place, run, 0.0});
  };
  for (std::size_t i = 1; i < parts.size(); ++i) gains.push_back(gain_of(i));
  while (!gains.empty()) {
    const auto least = std::min_element(gains.begin(), gains.end());
    if (*least > model::kDecisive) break;
    const auto at = static_cast<std::size_t>(least - gains.begin());
    parts[at].end = parts[at + 1].end;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    gains.erase(least);
    if (at > 0) gains[at - 1] = gain_of(at);
    if (at < gains.size()) gains[at] = gain_of(at + 1);
  }
  if (parts.size() == 1) return {mode};
  for (std::size_t i = 1; i < parts.size(); ++i) parts[i].apart = gains[i - 1];
  parts.front().apart = mode.apart;
  for (auto& part : parts) part.cut = true;
  parts.back().cut = mode.cut;
  return parts;
}

void LevelFinder::join_places(std::vector<Mode>& modes, bool& places_differ) {
  for (std::size_t i = 1; i < modes.size();) {
    const double slow = histogram_.tick(modes[i].begin), gap = slow - histogram_.tick(modes[i - 1].end - 1);
    const auto [level, place, run] = gap > model::kFar * slow ? ModeEvidence{} : evidence(modes[i - 1], modes[i]);
    if (place <= std::max(level, 0.0) + model::kDecisive) {
      ++i;
      continue;
    }
    places_differ = true;
    modes[i - 1].end = modes[i].end, modes[i - 1].cut = modes[i].cut;
    modes.erase(modes.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

double LevelFinder::strikes_hits(const Mode& level, const Mode& mode) const {
  if (hits_.empty()) return 0;
  double hits[2] = {0, 0}, all[2] = {0, 0};  // of the level, and of the slower mode
  for (const auto& [slow, part] : {std::pair{0, level}, std::pair{1, mode}}) {
    for (auto cell = part.begin; cell < part.end; ++cell) hits[slow] += hits_[cell];
    all[slow] = support(part);
  }
  const double others = all[0] + all[1] - hits[0] - hits[1], visits = hits[0] + hits[1];
  if (visits == 0 || others <= 0) return 0;
  const double rate = std::clamp((all[1] - hits[1]) / others, model::kAccident, 1 - model::kAccident);
  return std::max(0.0, hits[1] * std::log(rate / model::kAccident) + hits[0] * std::log((1 - rate) / (1 - model::kAccident)));
}

// A level that has one rate at many lengths of walks would be a coincidence; a tail has it anyhow. A tail is rare, as a rule.
double LevelFinder::own_level(const Mode& level, const Mode& mode, bool likely) {
  const double share = support(mode) / static_cast<double>(histogram_.total());
  const double coincidence = model::kDecisive - model::kDoubted * static_cast<double>(lengths_ - 1);
  const double nats = evidence(level, mode).level;
  return (likely ? std::max(nats, coincidence) : nats - model::kDecisive) - strikes_hits(level, mode) - std::log(model::kMinority / share);
}

bool LevelFinder::is_tail(const std::vector<Mode>& levels, const Mode& mode) {
  const double centre = histogram_.quantile(mode.begin, mode.end, 0.5);
  const bool broad = histogram_.quantile(mode.begin, mode.end, 0.75) - histogram_.quantile(mode.begin, mode.end, 0.25) > model::kOneThing * centre;
  const bool unlikely = broad || support(mode) < model::kFewest;
  if (levels.empty()) return unlikely || std::log(model::kMinority * static_cast<double>(histogram_.total()) / support(mode)) > model::kDecisive;
  return std::any_of(levels.begin(), levels.end(), [&](const Mode& level) { return own_level(level, mode, !unlikely) <= 0; });
}

double LevelFinder::nats_of_identities(const std::vector<Mode>& modes) const {
  if (modes.size() < 2) return 0;
  const auto kinds = modes.size();
  const double prior = 0.5;  // of each level in a cell (Jeffreys)
  double least = INFINITY;
  for (const auto by : {Shared::Point, Shared::Step, Shared::Access, Shared::Order}) {
    work(cells_[static_cast<std::size_t>(by)] * kinds / 8 + visits_.size() / 16);
    std::vector<std::uint32_t> counts(cells_[static_cast<std::size_t>(by)] * kinds);
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      for (auto i = begins_[modes[kind].begin]; i < begins_[modes[kind].end]; ++i) {
        if (visits_[i].point < table_.points.size()) ++counts[cell_of(visits_[i], by) * kinds + kind];
      }
    }
    double nats = 0;
    for (std::size_t cell = 0; cell < counts.size(); cell += kinds) {
      double all = 0;
      for (std::size_t kind = 0; kind < kinds; ++kind) {
        const double here = counts[cell + kind];
        if (here > 0) all += here, nats -= std::lgamma(here + prior) - std::lgamma(prior);
      }
      if (all > 0) nats += std::lgamma(all + prior * static_cast<double>(kinds)) - std::lgamma(prior * static_cast<double>(kinds));
    }
    least = std::min(least, nats);
  }
  return least * thinned_;
}

LevelFit LevelFinder::fit(ModeCriteria criteria) {
  LevelFit fit;
  const bool each = table_.timing == records::Table::Timing::Each;
  Density density(histogram_, criteria);
  for (std::size_t begin = 0, end = 0; begin < histogram_.size(); begin = end) {
    end = begin + 1;
    while (end < histogram_.size() && histogram_.tick(end) - histogram_.tick(end - 1) <= std::max(model::kNearPeaksCycles, model::kFar * histogram_.tick(end))) ++end;
    auto modes = peaks(histogram_, density, begin, end);
    join(modes, criteria);
    // A group's first one lies beyond a gap. An empty valley where there are as many accesses as in the lower peak has a chance of exp(-peak).
    for (std::size_t i = 0; i < modes.size(); ++i) {
      modes[i].apart = i > 0 ? -std::log(poisson_at_most(modes[i].valley, std::min(modes[i - 1].peak, modes[i].peak))) : support(modes[i]);
    }
    if (criteria.own > 1 && !hits_.empty()) split_by_repeated_hits(histogram_, hits_, criteria, modes);
    if (each) join_places(modes, fit.places_differ);
    for (const auto& mode : modes) {
      const auto parts = each ? refined(mode, fit.places_differ) : std::vector<Mode>{mode};
      for (const auto& part : parts) (is_tail(fit.modes, part) ? fit.tails : fit.modes).push_back(part);
    }
  }
  for (const auto& mode : fit.modes) {
    const double all = support(mode);
    for (auto cell = mode.begin; cell < mode.end; ++cell) {
      const double here = static_cast<double>(histogram_.before(cell + 1) - histogram_.before(cell));
      fit.nats -= here > 0 ? here * std::log(here / all) : 0;
    }
  }
  fit.nats += nats_of_identities(fit.modes);
  // A tail strikes at its rate, and is spread as it was seen to be.
  double struck = 0, all = 0;
  for (const auto& mode : fit.modes) all += support(mode);
  for (const auto& tail : fit.tails) {
    for (auto cell = tail.begin; cell < tail.end; ++cell) {
      const double here = static_cast<double>(histogram_.before(cell + 1) - histogram_.before(cell));
      fit.nats -= here > 0 ? here * std::log(here / support(tail)) : 0;
    }
    struck += support(tail);
  }
  all += struck;
  for (const double part : {struck, all - struck}) fit.nats -= part > 0 ? part * std::log(part / all) : 0;
  return fit;
}

}  // namespace gexp::infer
