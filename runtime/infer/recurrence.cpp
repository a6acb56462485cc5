// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/analysis.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/phases.h"
#include "runtime/infer/statistics.h"

// At which interval accesses have to wait, as for a refresh of memory. The first half of the record is when each access began, the second
// half how long it took. An interval is a hypothesis: what an access takes depends on its phase (model/phases.h). Each point tells it by
// itself.
namespace gexp::infer {
namespace {

constexpr std::size_t kBlock = 32;  // grid: accesses that are told by, or predicted, in a row

/// What one point's first run tells.
struct Told {
  double interval = 0, wait = 0, share = 0;
  double predicted = 0;  ///< of one half's accesses that wait, and that do not, the shares that the other half tells, on average
  double chance = 0;     ///< that accesses recur at this interval at all
  bool in_step = false;  ///< accesses begin at some phases of it only
};

Told told_by(const records::Run& run) {
  const auto count = run.ticks.size() / 2;
  std::vector<double> began(count), took(count);
  double turned = 0;  // the clock has 32 bits
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && run.ticks[i] < run.ticks[i - 1]) turned += 4294967296.0;
    began[i] = turned + static_cast<double>(run.ticks[i]);
    took[i] = static_cast<double>(run.ticks[count + i]);
  }
  // Blocks in turn, so that a clock that drifts is met by both halves.
  const auto is_told = [](std::size_t i) { return i / kBlock % 2 == 0; };
  std::vector<double> times, latencies;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_told(i)) times.push_back(began[i]), latencies.push_back(took[i]);
  }
  const auto recurring = model::find_interval(times, latencies);
  if (recurring.gain <= 0) return {};
  // A loop that keeps step with what recurs looks as regular at multiples and parts of its interval.
  if (recurring.rarest < model::kEnoughShare) return {.in_step = true};
  const auto slowest = std::max_element(recurring.took.begin(), recurring.took.end());
  const double middle = (*slowest + *std::min_element(recurring.took.begin(), recurring.took.end())) / 2;
  const auto rank_at = [&](double time) { return recurring.took[model::phase_of(time, recurring.interval)]; };
  // How long accesses of the slowest phase take, and accesses of phases that do not wait.
  std::vector<double> slow, others;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (rank_at(times[i]) == *slowest) slow.push_back(latencies[i]);
    if (rank_at(times[i]) <= middle) others.push_back(latencies[i]);
  }
  if (slow.empty() || others.empty()) return {};
  const double usual = median(std::move(others));
  Told told{.interval = recurring.interval, .wait = median(std::move(slow)) - usual};
  const double limit = usual + told.wait / 2;
  double later = 0, waits = 0, right_waits = 0, right_others = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_told(i)) continue;
    const bool predicted = rank_at(began[i]) > middle, seen = took[i] > limit;
    later += 1, waits += seen ? 1 : 0;
    if (predicted == seen) (seen ? right_waits : right_others) += 1;
  }
  told.share = waits / std::max(1.0, later);
  told.predicted = waits < 1 || waits >= later ? 0 : (right_waits / waits + right_others / (later - waits)) / 2;
  if (told.predicted <= 0.5) return {};  // no better than a coin
  told.chance = 1 / (1 + std::exp(-recurring.gain / model::kTemper));
  return told;
}

}  // namespace

Finding recurrence(const Context& context) {
  const auto none = [&](const std::string& why) { return undetermined(context, why); };
  if (context.table.timing != records::Table::Timing::Each) return none("the record does not tell accesses apart; `each` would");
  std::vector<Told> all;
  for (const auto& point : context.table.points) {
    if (point.runs.empty() || point.runs.front().ticks.size() < 256)
      return none("a point has fewer than 128 accesses, each with its begin and its time");
    work(point.runs.front().ticks.size());
    all.push_back(told_by(point.runs.front()));
  }
  // The interval on which most points agree.
  std::vector<const Told*> best;
  for (const auto& one : all) {
    std::vector<const Told*> agree;
    for (const auto& other : all) {
      if (one.interval > 0 && std::abs(other.interval / one.interval - 1) <= model::kAccident) agree.push_back(&other);
    }
    if (agree.size() > best.size()) best = agree;
  }
  const auto in_step = std::count_if(all.begin(), all.end(), [](const auto& one) { return one.in_step; });
  if (best.size() < static_cast<std::size_t>(in_step))
    return none(fmt::format("{} of {} points: accesses keep step with what makes them wait, so that its interval is not told from multiples "
                            "and parts of it; pauses by chance between them would decide",
                            in_step, all.size()));
  if (best.empty())
    return none(fmt::format("{} points: how long an access takes recurs at no interval; more accesses would decide", all.size()));
  const auto middle = [&](double Told::* field) {
    std::vector<double> values;
    for (const auto* one : best) values.push_back(one->*field);
    return median(values);
  };
  double doubt = 1;
  for (const auto* one : best) doubt *= 1 - one->chance * one->predicted;
  Fields fields;
  fields["interval"] = Value(middle(&Told::interval), kCycles);
  fields["wait"] = Value(middle(&Told::wait), kCycles);
  fields["share"] = Value(middle(&Told::share));
  fields["predicted"] = Value(middle(&Told::predicted));
  return found(context, Value(std::move(fields)), std::min(model::kSurest, 1 - doubt),
               fmt::format("{} of {} points agree: accesses of one phase of the interval take longer", best.size(), all.size()),
               fmt::format("half of the accesses tells {:.1f} % of which ones of the other half wait, and do not",
                           100 * middle(&Told::predicted)),
               "more points");
}

}  // namespace gexp::infer
