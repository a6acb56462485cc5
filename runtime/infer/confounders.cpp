// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/confounders.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "runtime/infer/granularity.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"
#include "runtime/infer/paired_visits.h"
#include "runtime/infer/record_functions.h"
#include "runtime/infer/statistics.h"

// A column of misses that rises at x says that something does not fit beyond x, not what. Slow places are no misses: an address in
// the far part of an L2 is slow whenever it is walked; what tells them apart is an address walked on both sides of the border that hits on one
// and misses on the other. A cache and a TLB can end at one footprint; then misses are of two classes, or go in two steps when
// the footprint shrinks. A clock that changes its pace makes every access of a run slower by one small ratio; misses of one structure come among
// hits sooner or later. And addresses that agree in all low bits share a set in every cache, so that few of them fit.
namespace gexp::infer {
namespace {

constexpr double kOneTick = 0.5;  // fact: by which rounding moves a mean, at most
constexpr double kErrors = 2;     // fact: standard errors that 95 of 100 means are within

struct Address {
  double visits[2] = {0, 0}, misses[2] = {0, 0};  ///< in the quiet points, in the missing ones
  /// Whether it misses more in the missing points than one rate on both sides explains.
  [[nodiscard]] bool moved(double chance) const {
    return share_at_least(misses[1], misses[0] + misses[1], visits[1] / (visits[0] + visits[1])) < chance;
  }
};

/// Whether accesses to a sector where the walk was just before miss less than the others do: a clock slows both, and so does a slow place.
bool spares_repeated_visits(const records::Point& point, const MissRange& range) {
  RepeatedMisses count;
  count.add(point, range);
  const auto& [visits, misses] = count;
  return visits[1] > 0 && share_at_least(misses[0], misses[0] + misses[1], visits[0] / (visits[0] + visits[1])) < model::kByChanceAnywhere;
}

/// The first call of one of these functions in a formula; null where there is none.
const compiler::Formula* call_of(const compiler::Formula& formula, const FunctionNames& functions) {
  const bool is_one = std::find(functions.begin(), functions.end(), formula.text) != functions.end();
  if (formula.kind == compiler::Formula::Kind::Call && is_one) return &formula;
  for (const auto& operand : formula.operands) {
    if (const auto* call = call_of(*operand, functions)) return call;
  }
  for (const auto& inner : formula.arguments) {
    if (const auto* call = inner.value ? call_of(*inner.value, functions) : nullptr) return call;
  }
  return nullptr;
}

const FunctionNames kMisses{"misses", "missed"};

}  // namespace

const compiler::Formula* call_of(const compiler::Stage& stage, const compiler::Formula& column, const FunctionNames& functions) {
  if (const auto* call = call_of(column, functions)) return call;
  const auto names = compiler::free_names(column);
  for (const auto& derive : stage.derives) {
    if (std::find(names.begin(), names.end(), derive.name) == names.end()) continue;
    if (const auto* call = call_of(*derive.formula, functions)) return call;
  }
  return nullptr;
}

const compiler::Formula* miss_call(const compiler::Formula& formula) { return call_of(formula, kMisses); }

const compiler::Formula* miss_call(const compiler::Stage& stage, const compiler::Formula& column) { return call_of(stage, column, kMisses); }

std::optional<MissRange> range_of(const Context& context) {
  const auto* data = argument(context);
  const auto* call = data ? miss_call(*data->value) : nullptr;
  if (!call || context.table.timing != records::Table::Timing::Each) return std::nullopt;
  std::optional<double> slower_than;
  return read_above(*call, context.outer, slower_than) ? miss_range(context.table, context.classes, slower_than) : std::nullopt;
}

bool one_class_only(const Context& context) {
  const auto* data = argument(context);
  return context.table.timing == records::Table::Timing::Each && data && miss_call(*data->value) && !miss_range(context.table, context.classes);
}

bool only_address_bias(const Context& context, const Curve& curve, double quiet, double missing) {
  const auto range = range_of(context);
  if (!range) return false;
  std::map<std::int64_t, Address> addresses;
  for (const auto& sample : curve.samples) {
    if (sample.x != quiet && sample.x != missing) continue;
    const auto& point = context.table.points[sample.point];
    if (!point.walk || point.walk->steps == 0) return false;
    if (sample.x == missing && spares_repeated_visits(point, *range)) return false;
    const auto lap = static_cast<std::size_t>(point.walk->steps);
    const int side = sample.x == missing ? 1 : 0;
    const auto misses = misses_by_step(point, *range);
    std::vector<std::uint32_t> visits(lap);
    for (const auto& run : point.runs) {
      for (std::size_t i = 0; i < lap; ++i) visits[i] += static_cast<std::uint32_t>(run.ticks.size() / lap + (i < run.ticks.size() % lap ? 1 : 0));
    }
    for (std::size_t i = 0; i < lap; ++i) {
      auto& address = addresses[point.walk->at(0, static_cast<std::int64_t>(i))];
      address.visits[side] += visits[i], address.misses[side] += misses[i];
    }
  }
  Address both, fresh;  // walked on both sides; only in the missing points
  for (const auto& [offset, address] : addresses) {
    if (address.visits[1] == 0) continue;
    auto& into = address.visits[0] == 0 ? fresh : both;
    for (const int side : {0, 1}) into.visits[side] += address.visits[side], into.misses[side] += address.misses[side];
    if (address.visits[0] > 0 && address.moved(1e-5)) return false;
  }
  if (both.visits[0] == 0) return false;  // nothing to compare
  if (range->interference.share == 0 && both.misses[0] == 0 && both.misses[1] >= 2) return false;
  return !both.moved(0.01) && poisson_at_least(fresh.misses[1], range->interference.share * fresh.visits[1]) < 1e-3;
}

bool repeated_visits_miss(const Context& context, const Curve& curve, double x) {
  const auto range = range_of(context);
  RepeatedMisses count;
  for (const auto& sample : curve.samples) {
    if (range && sample.x == x) count.add(context.table.points[sample.point], *range);
  }
  return range && count.are_places(*range);
}

bool only_first_laps(const Context& context, const Curve& curve, double missing) {
  const auto range = range_of(context);
  if (!range) return false;
  double first = 0, later = 0, silent = 0;  // laps with a miss, laps, laps without one
  for (const auto& sample : curve.samples) {
    const auto& point = context.table.points[sample.point];
    if (sample.x != missing || !point.walk || point.walk->steps == 0) continue;
    const auto lap = static_cast<std::size_t>(point.walk->steps);
    const Misses missed(*range, point);
    for (const auto& run : point.runs) {
      for (std::size_t begin = 0; begin + lap <= run.ticks.size(); begin += lap) {
        bool any = false;
        for (auto i = begin; i < begin + lap && !any; ++i) any = missed(i, run.ticks[i]);
        if (begin == 0) first += any ? 1 : 0;
        else ++later, silent += any ? 0 : 1;
      }
    }
  }
  return first > 0 && later > 0 && boost::math::ibeta(silent, later - silent + 1, model::kMostSilence) < model::kByChanceAnywhere;
}

namespace {

/// Of quiet points, whether at least as many accesses are too near to the border to be told as are slow: then the tail of hits is, and
/// places move it a little.
bool is_tail_of_hits(const Context& context, const Curve& curve, const MissRange& range, std::uint32_t slow) {
  std::uint32_t unsure = 0;
  for (const auto& sample : curve.samples) {
    if (sample.y > 0) continue;
    const Misses missed(range, context.table.points[sample.point]);
    for (const auto& run : context.table.points[sample.point].runs) {
      for (std::size_t i = 0; i < run.ticks.size(); ++i) unsure += missed.unsure(i, run.ticks[i]) ? 1 : 0;
    }
  }
  return unsure >= slow;
}

}  // namespace

bool slow_more_often(const Context& context, const Curve& curve, double x) {
  const auto range = range_of(context);
  if (!range || range->interference.share == 0) return false;
  std::map<double, Cell> by_distance;  // of the quiet x from the border
  Cell all;
  for (const auto& sample : curve.samples) {
    if (sample.y > 0) continue;
    const auto& point = context.table.points[sample.point];
    auto& cell = by_distance[std::abs(sample.x - x)];
    const Misses missed(*range, point);
    for (const auto& run : point.runs) {
      const auto trials = static_cast<std::uint32_t>(run.ticks.size()), slow = static_cast<std::uint32_t>(missed.among(run.ticks));
      cell.trials += trials, cell.slow += slow;
      all.trials += trials, all.slow += slow;
    }
  }
  // Slow more often: at x alone, or from one of the others on, each as likely beforehand.
  Cell near;
  std::vector<double> from_one_on;
  for (const auto& [distance, own] : by_distance) {
    near.trials += own.trials, near.slow += own.slow;
    const Cell far{all.trials - near.trials, all.slow - near.slow};
    if (near.trials == 0 || far.trials == 0) continue;
    if (std::uint64_t{near.slow} * far.trials <= std::uint64_t{far.slow} * near.trials) continue;
    from_one_on.push_back(own_rates({near, far}));
    if (distance == 0 && from_one_on.back() > model::kDoubted) return true;
  }
  if (from_one_on.empty()) return false;
  const double odds = log_sum(from_one_on) - std::log(static_cast<double>(by_distance.size() - 1));
  return odds > model::kDoubted && !is_tail_of_hits(context, curve, *range, all.slow);
}

std::optional<double> only_clock_change(const Context& context, const Curve& curve, double quiet, double missing) {
  const auto range = range_of(context);
  if (!range) return std::nullopt;
  double hits = 0, hit_ticks = 0, misses = 0, miss_ticks = 0;
  for (const auto& sample : curve.samples) {
    const Misses missed(*range, context.table.points[sample.point]);
    for (const auto& run : context.table.points[sample.point].runs) {
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        const auto tick = run.ticks[i];
        const bool miss = missed(i, tick);
        const double unbiased = missed.unbiased(i, tick);
        if (unbiased > range->outlier) continue;
        if (sample.x == missing && miss) ++misses, miss_ticks += unbiased;
        if (sample.x == quiet && !miss) ++hits, hit_ticks += unbiased;
      }
    }
  }
  if (hits == 0 || misses == 0) return std::nullopt;
  const double hit = hit_ticks / hits, miss = miss_ticks / misses;
  if (miss / hit - 1 >= model::kMostClockChange) return std::nullopt;
  // A run with both kinds goes from one to the other and back, with little between them.
  const double middle = (hit + miss) / 2, low = middle - model::kHidden * (miss - hit), high = middle + model::kHidden * (miss - hit);
  for (const auto& sample : curve.samples) {
    if (sample.x != missing) continue;
    const Misses missed(*range, context.table.points[sample.point]);
    if (spares_repeated_visits(context.table.points[sample.point], *range)) return std::nullopt;
    for (const auto& run : context.table.points[sample.point].runs) {
      std::size_t turns = 0, slow = 0, fast = 0, between = 0;
      bool was_slow = false;
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        const double tick = missed.unbiased(i, run.ticks[i]);
        if (tick > range->outlier) continue;
        const bool is_slow = tick > high;
        if (tick > low && !is_slow) {
          ++between;
          continue;
        }
        turns += slow + fast > 0 && is_slow != was_slow ? 1 : 0;
        ++(is_slow ? slow : fast);
        was_slow = is_slow;
      }
      if (turns > model::kFewest && between <= std::min(slow, fast)) return std::nullopt;
    }
  }
  return miss / hit - 1;
}

std::optional<std::int64_t> common_residue(const Context& context, const Curve& curve, double x) {
  if (!range_of(context)) return std::nullopt;
  std::int64_t distance = 0;
  for (const auto& sample : curve.samples) {
    const auto& walk = context.table.points[sample.point].walk;
    if (sample.x != x) continue;
    if (!walk || walk->steps < 2) return std::nullopt;
    for (std::int64_t i = 1; i < walk->steps; ++i) distance = std::gcd(distance, walk->at(0, i) - walk->at(0, 0));
  }
  const auto residue = distance & -distance;  // what a cache of 2^k sets sees
  return residue >= kLeastPage ? std::optional(distance) : std::nullopt;
}

std::string caveats(const Context& context, const Curve& curve, double x) {
  const auto range = range_of(context);
  if (!range) return {};
  std::vector<double> by_class(context.classes.list.size());
  double all = 0;
  bool own_page = true, walked = false;
  for (const auto& sample : curve.samples) {
    if (sample.x != x) continue;
    const auto& point = context.table.points[sample.point];
    const Misses missed(*range, point);
    for (const auto& run : point.runs) {
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        if (missed(i, run.ticks[i])) ++by_class[context.classes.of(run.ticks[i])], ++all;
      }
    }
    if (!point.walk || point.walk->steps < 2) continue;
    walked = true;
    std::vector<std::int64_t> pages;
    for (std::int64_t i = 0; i < point.walk->steps; ++i) pages.push_back(point.walk->at(0, i) / kLeastPage);
    std::sort(pages.begin(), pages.end());
    own_page = own_page && std::adjacent_find(pages.begin(), pages.end()) == pages.end();
  }
  std::string levels;
  std::size_t parts = 0;
  for (std::size_t i = 0; i < by_class.size(); ++i) {
    if (by_class[i] <= model::kMinority * all) continue;
    levels += fmt::format("{}{:g}", parts++ ? " and " : "", context.classes.list[i].centre);
  }
  std::string text;
  if (parts > 1) text += fmt::format("; misses there take {} ticks: what is behind it differs, or two structures end at this size, of which another stride moves one and not the other", levels);
  if (walked && own_page) text += "; every access is on a page of its own: as many lines and as many pages look alike here, two lines a page would tell them apart";
  return text;
}

namespace {

/// Mean ticks of what missed at x in [low, high), and its standard error; nullopt where nothing did.
std::optional<std::pair<double, double>> miss_time(const Context& context, const MissRange& range, const Curve& curve, double low, double high) {
  double all = 0, sum = 0, squares = 0;
  for (const auto& sample : curve.samples) {
    if (sample.x < low || sample.x >= high) continue;
    const auto& point = context.table.points[sample.point];
    const Misses missed(range, point);
    for (const auto& run : point.runs) {
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        if (!missed(i, run.ticks[i])) continue;
        const double time = run.ticks[i];
        ++all, sum += time, squares += time * time;
      }
    }
  }
  if (all == 0) return std::nullopt;
  const double mean = sum / all;
  return std::pair(mean, std::sqrt(std::max(0.0, squares / all - mean * mean) / all));
}

/// Whether what misses on both sides of x takes as long: the misses of one structure, which its replacement may thin out.
bool one_kind(const Context& context, const MissRange& range, const Curve& curve, double x, double flat) {
  const auto before = miss_time(context, range, curve, -INFINITY, x), after = miss_time(context, range, curve, x, flat);
  return before && after && std::fabs(before->first - after->first) <= kOneTick + kErrors * std::hypot(before->second, after->second);
}

}  // namespace

std::optional<double> earlier_step(const Context& context, const MissRange& range, const Curve& curve, double flat) {
  std::map<double, double> highest;  // by x, as last_flat and first_flat see it
  for (const auto& sample : curve.samples) {
    if (sample.x >= flat) continue;
    const auto [at, fresh] = highest.try_emplace(sample.x, sample.y);
    if (!fresh) at->second = std::max(at->second, sample.y);
  }
  std::vector<std::pair<double, double>> steps(highest.begin(), highest.end());
  std::vector<double> most_after(steps.size() + 1, 0);
  for (std::size_t i = steps.size(); i-- > 0;) most_after[i] = std::max(most_after[i + 1], steps[i].second);
  double least = INFINITY;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    least = std::min(least, steps[i].second);
    if (most_after[i + 1] > 0 && most_after[i + 1] * model::kUnlike <= least && !one_kind(context, range, curve, steps[i + 1].first, flat)) return steps[i + 1].first;
  }
  return std::nullopt;
}

}  // namespace gexp::infer
