// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>

#include "runtime/infer/analysis.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/statistics.h"

// Latencies are the classes' own: medians, less what the timed region costs besides its load, which each launch measured beside them.
namespace gexp::infer {
namespace {

/// What the timed region costs besides its load, and how far the calibration may be off: points differ in it by more than they should
/// where it scatters.
struct Overhead {
  double cycles = 0, error = 0;
};
Overhead overhead_of(const records::Table& table) {
  std::vector<double> all, errors;
  for (const auto& point : table.points) {
    if (!point.runs.empty()) all.push_back(point.overhead), errors.push_back(point.overhead_error);
  }
  constexpr double kMedian = 1.2533;  // fact: standard errors of a mean that a median of normal values has
  const double error = std::max(median(errors), kMedian * robust_spread(all)) / std::sqrt(static_cast<double>(all.size()));
  return {std::round(10 * median(all)) / 10, error};  // whole where the device is exact
}

/// How far a median may lie from the truth, of normal values with such a standard error.
double reach_of(double error) { return error * std::sqrt(2.0) * boost::math::erfc_inv(1 - model::kSurest); }

/// The region is the stage's. So all of its points calibrate it, unless those that `where` keeps show another one.
Overhead overhead_of(const Context& context) {
  const auto kept = overhead_of(context.table);
  if (!context.whole) return kept;
  const auto all = overhead_of(*context.whole);
  return std::abs(all.cycles - kept.cycles) <= reach_of(std::hypot(all.error, kept.error)) ? all : kept;
}

/// Where addresses differ for where they lie, the classes of one in the middle.
const Classes& unbiased_classes(const Context& context) { return context.own_classes.told(); }

/// A class of these, as it was measured if that scatters less: a level before the slices takes as long for all addresses, and what they
/// differ by behind it is none of its own.
LatencyClass class_at(const Context& context, std::size_t index) {
  const auto& mode = unbiased_classes(context).list[index];
  const auto& unbiased = context.own_classes.unbiased;
  if (!unbiased) return mode;
  std::vector<double> even, measured;
  for (const auto& point : context.table.points) {
    const auto bias = unbiased->bias.by_step(point);
    if (bias.empty()) continue;
    for (const auto& run : point.runs) {
      work(1 + run.ticks.size() / 8);
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        const double tick = run.ticks[i] - bias[i % bias.size()];
        if (tick >= mode.low - 0.5 && tick <= mode.high + 0.5) even.push_back(tick), measured.push_back(run.ticks[i]);
      }
    }
  }
  const auto apart = [](std::vector<double> ticks) {
    std::sort(ticks.begin(), ticks.end());
    return quantile(ticks, 0.9) - quantile(ticks, 0.1);
  };
  if (measured.empty() || apart(measured) >= apart(even)) return mode;
  auto own = mode;
  std::sort(measured.begin(), measured.end());
  own.centre = median(measured);
  own.low = static_cast<std::uint32_t>(quantile(measured, 0.01)), own.high = static_cast<std::uint32_t>(std::ceil(quantile(measured, 0.99)));
  return own;
}

/// The slowest class but for those that hold so few accesses together that they may be another structure's in one run and not in the next.
std::size_t slowest_usual(const std::vector<LatencyClass>& classes) {
  double all = 0, slower = 0;
  for (const auto& mode : classes) all += static_cast<double>(mode.support);
  for (std::size_t i = classes.size(); i-- > 0;) {
    slower += static_cast<double>(classes[i].support);
    if (slower >= model::kRareClass * all) return i;
  }
  return 0;
}

std::string no_class(const Context& context) {
  const bool each = context.table.timing == records::Table::Timing::Each;
  return fmt::format("no latency stands out: the records are spread too evenly to form a class; {}more repetitions{} would decide", each ? "" : "accesses timed one by one (`each`), or ", each ? "" : ",");
}

/// That the median of a level lies within the range of what was seen of it: on one side of all that was seen it lies with a chance of
/// 2^-n. And that it is a level of its own.
double confidence(const std::vector<LatencyClass>& classes, std::size_t index) {
  double sure = 1 - std::exp2(1 - static_cast<double>(classes[index].support) / model::kTemper);
  for (const auto border : {index, index + 1}) {
    if (border > 0 && border < classes.size()) sure *= 1 / (1 + std::exp(-classes[border].apart / model::kTemper));
  }
  return std::clamp(sure, 0.0, model::kSurest);
}

Finding of_class(const Context& context, std::size_t index, const char* which) {
  const auto& classes = unbiased_classes(context).list;
  const auto mode = class_at(context, index);
  const auto overhead = overhead_of(context);
  const double sure = confidence(classes, index);
  const double off = reach_of(overhead.error);
  const double low = mode.low * (1 - context.drift / 2) - overhead.cycles - off, high = mode.high * (1 + context.drift / 2) - overhead.cycles + off;  // a drifting clock: the middle of its paces
  if (mode.centre - overhead.cycles < 1) {
    return undetermined(context, fmt::format("the {} latency class takes {:g} cycles, and the timed region without its load {:g} ± {:.2g}: a load takes a cycle at least, so the region's own cost was not "
                                             "measured as these accesses had it; more repetitions, or a longer walk, would decide", which, mode.centre, overhead.cycles, off));
  }
  auto finding = found(context, Value(mode.centre - overhead.cycles, kCycles), sure,
                       fmt::format("median of the {} latency class, the timed region's own {:g} cycles subtracted", which, overhead.cycles),
                       fmt::format("{} accesses of {} to {} raw cycles; {} classes in all", mode.support, mode.low, mode.high, classes.size()) +
                           (context.own_classes.unbiased && mode.centre == classes[index].centre ? ", as if every address lay in one place" : "") +
                           (off >= 0.5 ? fmt::format("; the region's own cost is known to {:.2g} cycles", off) : ""));
  finding.interval = {low, high};
  finding.exact = off < 0.5;
  return finding;
}

}  // namespace

Finding fastest(const Context& context) {
  if (unbiased_classes(context).list.empty()) return undetermined(context, no_class(context));
  return of_class(context, 0, "fastest");
}

Finding slowest(const Context& context) {
  const auto& classes = unbiased_classes(context).list;
  if (classes.empty()) return undetermined(context, no_class(context));
  // A rare class is the answer where nothing else is slower than the fastest one.
  const auto usual = slowest_usual(classes), index = usual > 0 ? usual : classes.size() - 1;
  auto finding = of_class(context, index, "slowest");
  if (index + 1 < classes.size() && finding.status == Finding::Status::Found) finding.why += fmt::format("; too few accesses take {} raw cycles and more", classes[index + 1].low);
  return finding;
}

Finding latency_classes(const Context& context) {
  if (context.own_classes.list.empty()) return undetermined(context, no_class(context));
  const double overhead = overhead_of(context).cycles;
  List centres;
  std::string evidence;
  const auto& classes = context.own_classes.list;
  const auto last = slowest_usual(classes);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (i <= last) centres.push_back(Value(classes[i].centre - overhead, kCycles));
    evidence += fmt::format("{}{} accesses at {:g}{}", i == 0 ? "" : ", ", classes[i].support, classes[i].centre - overhead, i <= last ? "" : ", too rare to be listed");
  }
  double sure = model::kGivenPart;
  for (std::size_t i = 0; i < centres.size(); ++i) sure = std::min(sure, confidence(context.own_classes.list, i));
  return found(context, Value(std::move(centres)), sure, "modes of the pooled latencies", evidence);
}

}  // namespace gexp::infer
