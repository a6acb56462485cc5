// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/analysis.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/falling_bump.h"

// Which pairs of accesses wait for each other. The record has for each pair what both take together beyond the slower one alone. Most pairs
// take little more, and more the more rarely. Those that wait for each other take about one time more: a bump on a falling curve
// (model/falling_bump.h). Noise makes a pair slower and never faster, so the least of its runs counts.
namespace gexp::infer {
namespace {

constexpr std::size_t kCells = 2048;  // limit: of a histogram

/// The least of each pair over the first `runs` runs.
std::vector<double> least(const records::Point& point, std::size_t runs) {
  std::vector<double> values(point.runs.front().ticks.size(), INFINITY);
  for (std::size_t run = 0; run < runs; ++run) {
    work(values.size());
    const auto& ticks = point.runs[run].ticks;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::min(values[i], static_cast<double>(ticks[i]));
  }
  return values;
}

struct Bumped {
  model::Bump bump;
  double from = 0, cell = 1;  ///< where the curve begins to fall, and ticks a cell
  /// The chance that a value belongs to the bump.
  double belongs(double value) const {
    const double at = std::floor((value - from) / cell);
    return at < 0 || at >= static_cast<double>(bump.belongs.size()) ? 0 : bump.belongs[static_cast<std::size_t>(at)];
  }
  double center() const { return from + cell * (bump.center + 0.5); }
  double width() const { return cell * bump.width; }
};

std::optional<Bumped> bump_of(const std::vector<double>& values) {
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  const double cell = std::max(1.0, std::ceil((*highest - *lowest + 1) / static_cast<double>(kCells)));
  std::vector<double> counts(static_cast<std::size_t>((*highest - *lowest) / cell) + 1, 0);
  for (const double value : values) counts[static_cast<std::size_t>((value - *lowest) / cell)] += 1;
  const auto top = std::max_element(counts.begin(), counts.end());
  const double from = *lowest + cell * static_cast<double>(top - counts.begin());
  auto bump = model::find_bump({top, counts.end()});
  if (!bump) return std::nullopt;
  return Bumped{std::move(*bump), from, cell};
}

}  // namespace

Finding pair_conflicts(const Context& context) {
  const auto none = [&](const std::string& why) { return undetermined(context, why); };
  if (context.table.timing != records::Table::Timing::Each) return none("the record does not tell pairs apart; `each` would");
  if (context.table.points.size() != 1) return none("it is about one point; `where` would choose it");
  const auto& point = context.table.points.front();
  const auto runs = point.runs.size();
  if (runs < 2) return none("one run does not show which pairs are slow again; two or more would");
  const auto pairs = point.runs.front().ticks.size();
  if (pairs == 0 || std::any_of(point.runs.begin(), point.runs.end(), [&](const auto& run) { return run.ticks.size() != pairs; }))
    return none("its runs do not have a value for each pair");
  const auto values = least(point, runs);
  const auto seen = fmt::format("{} pairs, the least of {} runs of each", values.size(), runs);
  const auto found_bump = bump_of(values);
  if (!found_bump || found_bump->bump.gain <= 0) return none(seen + ": the longer, the rarer; none stand out. More pairs would decide");
  // A pair that was slow in all runs but the last is slow in the last one, too, if it waits for the other, and as rarely as any if not.
  const auto earlier = least(point, runs - 1);
  const auto before = bump_of(earlier);
  double members = 0, again = 0;
  if (before) {
    const double slow = before->center() - 3 * before->width();
    for (std::size_t i = 0; i < earlier.size(); ++i) {
      if (before->belongs(earlier[i]) <= 0.5) continue;
      members += 1;
      again += static_cast<double>(point.runs.back().ticks[i]) >= slow ? 1 : 0;
    }
  }
  if (members < 1) return none(seen + ": pairs that stand out in all runs do not without the last one; more runs would decide");
  List which;
  double own = 0, doubt = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double chance = found_bump->belongs(values[i]);
    own += chance;
    if (chance <= 0.5) continue;
    which.emplace_back(static_cast<double>(i));
    doubt += 1 - chance;
  }
  const auto count = static_cast<double>(which.size());
  if (count < 1) return none(seen + ": no pair is likelier to wait than not");
  const double all = static_cast<double>(values.size()), spread = 2 * std::sqrt(own);
  Fields fields;
  fields["cost"] = Value(found_bump->center(), kCycles);
  fields["one_in"] = Value(all / own);
  fields["members"] = Value(std::move(which));
  fields["again"] = Value(again / members);
  const double confidence = again / members / (1 + std::exp(-found_bump->bump.gain));
  return found(context, Value(std::move(fields)), std::min(model::kSurest, confidence),
               fmt::format("{}; {:.0f} of them take {:.0f} cycles more, give or take {:.0f}", seen, count, found_bump->center(),
                           found_bump->width()),
               fmt::format("one pair in {:.0f} to {:.0f}; {:.1f} of those told may be chance; of {:.0f} that all runs but the last tell, "
                           "{:.0f} are as slow in the last",
                           all / (own + spread), all / std::max(1.0, own - spread), doubt, members, again),
               "more pairs");
}

}  // namespace gexp::infer
