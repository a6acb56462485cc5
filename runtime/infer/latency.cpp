// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/analysis.h"

// Latencies are the classes' own: medians, less what the timed region costs besides its load, which each launch measured beside them.
namespace gexp::infer {
namespace {

constexpr double kRare = 0.005;  // of all accesses: a slowest class as rare is there in one run and not in the next

double overhead_of(const records::Table& table) {
  std::vector<double> all;
  for (const auto& point : table.points) {
    if (!point.runs.empty()) all.push_back(point.overhead);
  }
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return std::round(10 * all[all.size() / 2]) / 10;  // whole where the device is exact
}

/// Where addresses differ for where they lie, the classes of one in the middle.
const Classes& unbiased_classes(const Context& context) { return context.own_classes.unbiased ? context.own_classes.unbiased->classes : context.own_classes; }

std::string no_class(const Context& context) {
  const bool each = context.table.timing == records::Table::Timing::Each;
  return fmt::format("no latency stands out: the records are spread too evenly to form a class; {}more repetitions{} would decide", each ? "" : "accesses timed one by one (`each`), or ", each ? "" : ",");
}

Finding of_class(const Context& context, const LatencyClass& mode, const char* which) {
  const double overhead = overhead_of(context.table);
  auto finding = found(context, Value(mode.centre - overhead, kCycles), mode.support >= 20 ? 0.99 : 0.9,
                       fmt::format("median of the {} latency class, the timed region's own {:g} cycles subtracted", which, overhead),
                       fmt::format("{} accesses of {} to {} raw cycles; {} classes in all", mode.support, mode.low, mode.high,
                                   unbiased_classes(context).list.size()) + (context.own_classes.unbiased ? ", as if every address lay in one place" : ""), mode.support >= 20 ? kNothingMore : "more repetitions");
  finding.interval = {mode.low * (1 - context.drift / 2) - overhead, mode.high * (1 + context.drift / 2) - overhead};  // a drifting clock: the middle of its paces
  return finding;
}

}  // namespace

Finding fastest(const Context& context) {
  if (unbiased_classes(context).list.empty()) return undetermined(context, no_class(context));
  return of_class(context, unbiased_classes(context).list.front(), "fastest");
}

Finding slowest(const Context& context) {
  if (unbiased_classes(context).list.empty()) return undetermined(context, no_class(context));
  return of_class(context, unbiased_classes(context).list.back(), "slowest");
}

Finding latency_classes(const Context& context) {
  if (context.own_classes.list.empty()) return undetermined(context, no_class(context));
  const double overhead = overhead_of(context.table);
  List centres;
  std::string evidence;
  double all = 0, slower = 0;  // accesses
  for (const auto& mode : context.own_classes.list) all += static_cast<double>(mode.support);
  for (auto mode = context.own_classes.list.rbegin(); mode != context.own_classes.list.rend(); ++mode) {
    slower += static_cast<double>(mode->support);
    const bool rare = slower < kRare * all;
    if (!rare) centres.insert(centres.begin(), Value(mode->centre - overhead, kCycles));
    evidence = fmt::format("{} accesses at {:g}{}{}{}", mode->support, mode->centre - overhead, rare ? ", too rare to be listed" : "", evidence.empty() ? "" : ", ", evidence);
  }
  return found(context, Value(std::move(centres)), 0.95, "modes of the pooled latencies", evidence, kNothingMore);
}

}  // namespace gexp::infer
