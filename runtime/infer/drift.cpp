// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/drift.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/statistics.h"

// Runs of a point that differ can have one clock and other misses, one that drifts, or one of two states (a TLB that holds the page or
// not). Ratios of the same accesses tell them apart: misses make some accesses slower, a state has two ratios, and a drift has many.
//
// A clock that drifts makes every access of a run slower by one ratio, whatever its address and its level; a miss makes some
// accesses slower, by much. Within one point nothing but the clock changes from one repetition to the next, so the ratio of a
// run's accesses to the same accesses of the point's first run is the clock's, where nearly all accesses agree on it. A
// structure that ends at a footprint does not show there: it makes points differ and not runs. So drift is called when the runs of several
// points slide, by small steps, through at least three levels. Runs whose fastest mode then lies on one such slide are brought to
// its middle. What is lost is a class so near to another, and never in a run with it, that it lies on the slide: the caller says so.
namespace gexp::infer {
namespace {

/// Standard errors beyond which a difference is no accident.
double far_off() { return boost::math::quantile(boost::math::complement(boost::math::normal(), model::kByChance / 2)); }

/// The ratio of a run to another of its point; nullopt where the accesses do not agree on one.
struct Ratio {
  double value = 1, error = 0;
};
std::optional<Ratio> ratio_of(const records::Run& first, const records::Run& run) {
  if (run.ticks.size() != first.ticks.size() || run.ticks.size() < model::kFewestAlike) return std::nullopt;
  work(run.ticks.size() / 8);
  std::vector<double> ratios;
  ratios.reserve(run.ticks.size());
  for (std::size_t i = 0; i < run.ticks.size(); ++i) {
    if (first.ticks[i] > 0) ratios.push_back(static_cast<double>(run.ticks[i]) / first.ticks[i]);
  }
  if (ratios.size() < model::kFewestAlike) return std::nullopt;
  const double middle = median(ratios);
  std::size_t agree = 0;
  double squares = 0;
  for (const auto ratio : ratios) {
    if (std::fabs(ratio - middle) > model::kSamePace * middle) continue;
    ++agree;
    squares += (ratio - middle) * (ratio - middle);
  }
  if (static_cast<double>(agree) < model::kMostly * static_cast<double>(ratios.size())) return std::nullopt;
  return Ratio{middle, 1.25 * std::sqrt(squares) / static_cast<double>(agree)};  // of a median
}

/// Where a run's fastest mode lies.
double level_of(const records::Run& run) {
  work(run.ticks.size() / 8);
  auto ticks = run.ticks;
  const auto at = ticks.begin() + static_cast<std::ptrdiff_t>(model::kHidden * static_cast<double>(ticks.size()));
  std::nth_element(ticks.begin(), at, ticks.end());
  const double low = *at * (1 - model::kSamePace) - 1, high = *at * (1 + model::kSamePace) + 1;
  double sum = 0, count = 0;
  for (const auto tick : run.ticks) {
    if (tick >= low && tick <= high) sum += tick, ++count;
  }
  return sum / count;
}

/// Whether the runs of several points slide.
bool drifts(const records::Table& table) {
  std::size_t tried = 0, drifting = 0;
  std::vector<double> levels;
  for (const auto& point : table.points) {
    if (point.runs.size() < 2) continue;
    double low = 1, high = 1, error = 0, before = 1;
    bool small = true, agreed = true;
    std::vector<double> own{1};
    for (std::size_t r = 1; r < point.runs.size() && agreed; ++r) {
      const auto ratio = ratio_of(point.runs[0], point.runs[r]);
      agreed = ratio.has_value();
      if (!agreed) break;
      small = small && std::fabs(ratio->value / before - 1) <= model::kSamePace;
      low = std::min(low, ratio->value), high = std::max(high, ratio->value), error = std::max(error, ratio->error);
      before = ratio->value;
      own.push_back(before);
    }
    if (!agreed) continue;
    ++tried;
    if (!small || high - low <= std::max(model::kSameLatency, far_off() * error)) continue;
    ++drifting;
    const double first = level_of(point.runs[0]);
    for (const auto ratio : own) levels.push_back(first * ratio);
  }
  if (drifting < 2 || 10 * drifting < tried) return false;
  std::sort(levels.begin(), levels.end());
  std::size_t distinct = 1;
  for (std::size_t i = 1, last = 0; i < levels.size(); ++i) {
    if (levels[i] > levels[last] * (1 + model::kSameLatency)) ++distinct, last = i;
  }
  return distinct >= 3;
}

std::optional<DriftCorrected> at_one_pace(const records::Table& table) {
  if (table.timing != records::Table::Timing::Each || !drifts(table)) return std::nullopt;
  struct RunLevel {
    double level;
    std::size_t point, run;
  };
  std::vector<RunLevel> runs;
  for (std::size_t p = 0; p < table.points.size(); ++p) {
    for (std::size_t r = 0; r < table.points[p].runs.size(); ++r) {
      if (!table.points[p].runs[r].ticks.empty()) runs.push_back({level_of(table.points[p].runs[r]), p, r});
    }
  }
  std::sort(runs.begin(), runs.end(), [](const RunLevel& a, const RunLevel& b) { return a.level < b.level; });
  double most = 0;
  for (std::size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    end = begin + 1;
    while (end < runs.size() && runs[end].level <= runs[end - 1].level * (1 + model::kSamePace)) ++end;
    most = std::max(most, runs[end - 1].level / runs[begin].level - 1);
  }
  if (most <= model::kSamePace) return std::nullopt;
  DriftCorrected corrected{table, most};
  for (std::size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    end = begin + 1;
    while (end < runs.size() && runs[end].level <= runs[end - 1].level * (1 + model::kSamePace)) ++end;
    const double middle = std::sqrt(runs[begin].level * runs[end - 1].level);
    for (auto at = begin; at < end; ++at) {
      const auto& run = runs[at];
      for (auto& tick : corrected.table.points[run.point].runs[run.run].ticks) tick = static_cast<std::uint32_t>(std::lround(tick * middle / run.level));
    }
  }
  return corrected;
}

}  // namespace

std::optional<DriftCorrected> correct_drift(const records::Table& table) {
  try {
    return at_one_pace(table);
  } catch (const CutShort&) {
    return std::nullopt;
  }
}

}  // namespace gexp::infer
