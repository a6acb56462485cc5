// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/slow_shares.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/infer/confounders.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"
#include "runtime/infer/record_functions.h"
#include "runtime/infer/statistics.h"

// `slower(t, above: L)` takes the file's word for it that a level begins at L. A stage before it that went wrong, as one without its
// warm-up does, gives an L in the middle of a level; then the share grows smoothly with whatever moves that level's latencies, and ends at no size.
namespace gexp::infer {
namespace {

/// Accesses of one class by latency, in cycles.
class ClassLatencies {
 public:
  ClassLatencies(const records::Table& table, const LatencyClass& of_it) {
    for (const auto& point : table.points) {
      for (const auto& run : point.runs) {
        work(1 + run.ticks.size() / 16);
        for (const auto tick : run.ticks) {
          if (tick >= of_it.low && tick <= of_it.high) cycles_.push_back(tick - point.overhead);
        }
      }
    }
    std::sort(cycles_.begin(), cycles_.end());
  }
  [[nodiscard]] bool empty() const { return cycles_.empty(); }
  [[nodiscard]] double share_above(double cycles) const { return within(cycles, INFINITY) / static_cast<double>(cycles_.size()); }
  [[nodiscard]] double within(double from, double to) const {
    const auto after = [this](double cycles) { return std::upper_bound(cycles_.begin(), cycles_.end(), cycles); };
    return static_cast<double>(after(to) - after(from));
  }
  /// Whether some latencies beyond `from` are more frequent than some before them are: a peak behind a valley.
  [[nodiscard]] bool peak_beyond(double from) const {
    const double width = std::max(1.0, model::kNearPeaks * from);
    double least = INFINITY;
    for (double at = from; at < cycles_.back(); at += width / 2) {
      const double here = within(at, at + width);
      least = std::min(least, here);
      if (here > least && share_at_least(here, here + least, 0.5) < model::kByChanceAnywhere) return true;
    }
    return false;
  }

 private:
  std::vector<double> cycles_;
};

/// The latency, in cycles, beyond which a column made of `slower(…, above: L)` counts; nullopt where it is made of something else.
std::optional<double> counted_from(const Context& context) {
  const auto* data = argument(context);
  const auto* call = data ? call_of(context.stage, *data->value, {"slower"}) : nullptr;
  std::optional<double> above;
  if (!call || context.table.timing != records::Table::Timing::Each || context.table.points.empty()) return std::nullopt;
  const PointScope scope(context.table, context.classes, 0, context.stage, context.outer, OneClass::Unknown);
  return read_above(*call, scope, above) ? above : std::nullopt;
}

/// Whether most accesses at x that take more cycles than `above` take no more ticks than `high`.
bool is_most_of_what_counts(const Context& context, const Curve& curve, double x, double above, std::uint32_t high) {
  double counted = 0, of_class = 0;
  for (const auto& sample : curve.samples) {
    const auto& point = context.table.points[sample.point];
    if (sample.x != x) continue;
    for (const auto& run : point.runs) {
      work(1 + run.ticks.size() / 16);
      for (const auto tick : run.ticks) {
        const bool counts = tick - point.overhead > above;
        counted += counts ? 1 : 0, of_class += counts && tick <= high ? 1 : 0;
      }
    }
  }
  return 2 * of_class > counted;
}

}  // namespace

std::optional<double> counts_a_tail(const Context& context, const Curve& curve, double x) {
  const auto above = counted_from(context);
  if (!above || *above <= 0) return std::nullopt;
  const double tick = *above + first_overhead(context.table);
  for (const auto& each : context.classes.list) {
    if (tick < each.low || tick >= each.high) continue;
    const ClassLatencies latencies(context.table, each);
    if (latencies.empty() || !is_most_of_what_counts(context, curve, x, *above, each.high)) return std::nullopt;
    const double share = latencies.share_above(*above);
    return share >= model::kMinority && share <= 1 - model::kMinority && !latencies.peak_beyond(*above) ? above : std::nullopt;
  }
  return std::nullopt;
}

bool slower_in_first_laps(const Context& context, const Curve& curve, double x) {
  const auto above = counted_from(context);
  if (!above) return false;
  Cell first, later;
  for (const auto& sample : curve.samples) {
    const auto& point = context.table.points[sample.point];
    if (sample.x != x || !point.walk || point.walk->steps == 0) continue;
    for (const auto& run : point.runs) {
      work(1 + run.ticks.size() / 16);
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        auto& cell = i < static_cast<std::size_t>(point.walk->steps) ? first : later;
        ++cell.trials, cell.slow += run.ticks[i] - point.overhead > *above ? 1 : 0;
      }
    }
  }
  // Not if later laps have half the rate of the first one, or more.
  const double expected = first.trials / (first.trials + later.trials / 2.0);
  return later.trials > 0 && share_at_least(first.slow, first.slow + later.slow, expected) < model::kByChanceAnywhere;
}

}  // namespace gexp::infer
