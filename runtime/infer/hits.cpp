// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "runtime/infer/analysis.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/replacement_emission.h"

// The question of a replacement query: which of A B C D A hit. An access is judged by its runs, which all begin alike. It always hits, and
// then looks like a miss as rarely as interference makes it; or always misses, and then looks like a hit as good as never; or hits at a
// rate of its own, as where victims are drawn by chance. The three are weighed by the emission model that policies are weighed by
// (replacement_emission.h). The answer is what the access does in more than half of all runs, and the confidence is the weight of that.
namespace gexp::infer {
namespace {

constexpr std::size_t kMostAccesses = 1024;  // limit: accesses of one answer
constexpr std::size_t kShown = 24;           // limit: accesses that the evidence tells
constexpr double kPrior = 0.5;               // fact: Jeffreys' prior of a rate

struct Judged {
  std::string name;
  double hits = 0, misses = 0;  ///< runs; those that scatter left unsure are neither
  double mostly_hits = 0.5;     ///< posterior of: it hits in more than half of the runs
  [[nodiscard]] bool hit() const { return mostly_hits > 0.5; }
  [[nodiscard]] double confidence() const { return std::min(std::max(mostly_hits, 1 - mostly_hits), model::kSurest); }
};

void judge(Judged& access) {
  const double all = access.hits + access.misses;
  if (all == 0) return;
  const double always = std::exp(replacing::log_likelihood({.hits = all, .slow = access.misses}));
  const double never = std::exp(replacing::log_likelihood({.misses = all, .fast = access.hits}));
  const double sometimes = std::exp(replacing::log_of_any_errors({.hits = all, .slow = access.misses}));
  const double above_half = boost::math::ibetac(kPrior + access.hits / model::kTemper, kPrior + access.misses / model::kTemper, 0.5);
  access.mostly_hits = (always + sometimes * above_half) / (always + never + sometimes);
}

std::string name_of(const Pattern& walk, std::int64_t step) {
  if (walk.segments.empty()) return show(static_cast<double>(walk.at(0, step)), kBytes);
  const auto after = std::upper_bound(walk.segments.begin(), walk.segments.end(), step, [](std::int64_t at, const Segment& segment) { return at < segment.first; });
  return std::prev(after)->label;
}

/// Slower than this is a miss; everything hits where nothing is slower than the level that was named.
std::optional<MissRange> border_of(const Context& context) {
  const auto above = above_of(context);
  auto range = raw_miss_range(context.table, context.classes, above);
  if (!range && above && !context.classes.list.empty()) range = MissRange{.above = INFINITY, .outlier = INFINITY};
  return range;
}

}  // namespace

Finding hits(const Context& context) {
  if (context.table.timing != records::Table::Timing::Each) return undetermined(context, "the record does not tell accesses apart; `each` would");
  if (context.table.points.size() != 1) {
    return undetermined(context, fmt::format("there are {} points, and each is a query of its own; `by` a sweep would answer each, and `where` choose one", context.table.points.size()));
  }
  const auto& point = context.table.points.front();
  if (!point.walk || point.walk->steps == 0) return undetermined(context, "what is timed is no single chase, so the accesses have no names; a chase by a pattern would decide");
  const auto range = border_of(context);
  if (!range) {
    return undetermined(context, "all latencies are of one class: all accesses may hit, and all may miss; `above: L` with the latency of a hit that another stage found would decide");
  }
  const auto length = point.runs.front().ticks.size();
  if (length > kMostAccesses) return undetermined(context, fmt::format("there are {} accesses, and an answer names {} at most; fewer laps, or `missed(lat)`, would decide", length, kMostAccesses));
  const Misses missed(*range, point);
  std::vector<Judged> accesses(length);
  for (std::size_t i = 0; i < length; ++i) {
    auto& access = accesses[i];
    access.name = name_of(*point.walk, static_cast<std::int64_t>(i) % point.walk->steps);
    for (const auto& run : point.runs) {
      if (i >= run.ticks.size() || missed.unsure(i, run.ticks[i])) continue;
      (missed(i, run.ticks[i]) ? access.misses : access.hits) += 1;
    }
    judge(access);
  }
  List list;
  double sure = model::kSurest, hit = 0;
  std::string evidence;
  const Judged* least = &accesses.front();
  for (const auto& access : accesses) {
    const double all = access.hits + access.misses;
    Fields fields;
    fields["name"] = Value(access.name);
    fields["hit"] = Value(access.hit() ? 1.0 : 0.0);
    fields["share"] = all > 0 ? Value(access.hits / all) : Value();
    fields["confidence"] = Value(access.confidence());
    if (list.size() < kShown) evidence += fmt::format("{}{} {}", list.empty() ? "" : ", ", access.name, access.hit() ? "hits" : "misses");
    list.emplace_back(std::move(fields));
    hit += access.hit() ? 1 : 0;
    if (access.confidence() < sure) sure = access.confidence(), least = &access;
  }
  if (accesses.size() > kShown) evidence += fmt::format(" and {} more", accesses.size() - kShown);
  const auto unsure = fmt::format("the least sure one is {}, which hits in {:g} of {} runs", least->name, least->hits, point.runs.size());
  return found(context, Value(std::move(list)), sure, fmt::format("{:g} of {} accesses hit; {}", hit, accesses.size(), unsure), evidence);
}

}  // namespace gexp::infer
