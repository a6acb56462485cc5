// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/drawn_part.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "lang/base/visible.h"

// Kernels end by writing down what they measured, and begin by what they need for it. What a reader wants to see is in between: it
// ends with the last value that came from a memory and was not merely stored on.
namespace gexp::cli {
namespace {

using result::Timeline;
using sim::Observed;
using sim::TimelineSpan;
using Kind = TimelineSpan::Kind;
using Identity = std::pair<std::uint64_t, std::uint32_t>;  // block and first thread: a place has one warp after the other

Identity identity(const TimelineSpan& span) { return {span.block, span.first_thread}; }

bool brings_a_value(const Observed& launch, const TimelineSpan& span) {
  const bool shared = span.kind == Kind::Waits && span.stall == sim::Stall::Shared;
  return span.kind == Kind::Loads || (shared && !launch.instructions[span.instruction].opcode.starts_with("st"));
}

/// Null: no such value came.
const TimelineSpan* last_value(const Observed& launch) {
  const TimelineSpan* last = nullptr;
  for (const auto& span : launch.timeline) {
    if (brings_a_value(launch, span) && (!last || span.end > last->end)) last = &span;
  }
  return last;
}

/// The last one in which such a value came; where none did, the last one of which anything was noted.
const Observed& launch_to_draw(const std::vector<Observed>& launches) {
  const auto last_that = [&](const auto& holds) { return std::find_if(launches.rbegin(), launches.rend(), holds); };
  auto found = last_that([](const Observed& launch) { return last_value(launch) != nullptr; });
  if (found == launches.rend()) found = last_that([](const Observed& launch) { return !launch.timeline.empty(); });
  return found == launches.rend() ? launches.back() : *found;
}

/// Those of the SM that had begun when the last value came, or all: the block of the one that got it, and its neighbours.
std::set<Identity> warps_to_draw(const Observed& launch, const TimelineSpan* last, Timeline& drawn) {
  std::set<Identity> all, begun;
  for (const auto& span : launch.timeline) {
    if (span.sm != drawn.sm) continue;
    all.insert(identity(span));
    if (!last || span.begin < last->end) begun.insert(identity(span));
  }
  drawn.warps_of_sm = all.size();
  const std::vector<Identity> some(begun.begin(), begun.end());
  const auto index = [&](const Identity& from) { return std::lower_bound(some.begin(), some.end(), from) - some.begin(); };
  const auto most = static_cast<std::ptrdiff_t>(std::min(some.size(), Timeline::kMostWarps));
  const auto first = last ? std::max(index({last->block, 0}), index(identity(*last)) + 1 - most) : 0;
  const auto begin = some.begin() + std::min(first, static_cast<std::ptrdiff_t>(some.size()) - most);
  return {begin, begin + most};
}

/// Where the one that `holds` is in a list, to whose end `made` comes where there is none.
template <class T> std::size_t index_of(std::vector<T>& list, const auto& holds, T made) {
  const auto index = static_cast<std::size_t>(std::find_if(list.begin(), list.end(), holds) - list.begin());
  if (index == list.size()) list.push_back(std::move(made));
  return index;
}

/// Names and instructions as they are needed, once each.
class Filling {
 public:
  Filling(const Observed& launch, const Places& places, Timeline& to) : launch_(launch), places_(places), to_(to) {}

  void add(const TimelineSpan& span) {
    const auto name = name_of(span);
    const auto named = index_of(
        to_.names, [&](const auto& each) { return each.kind == name.kind && each.text == name.text; }, name);
    const auto [at, is_new] = instructions_.emplace(span.instruction, to_.instructions.size());
    if (is_new) {
      const auto& words = launch_.instructions[span.instruction];
      to_.instructions.push_back({places_.of(words.line), visible(words.opcode), visible(words.statement)});
    }
    const auto [block, thread] = identity(span);
    const auto warp = index_of(
        to_.warps, [&, block = block, thread = thread](const auto& each) { return each.block == block && each.first_thread == thread; },
        Timeline::Warp{block, thread, {}});
    to_.warps[warp].spans.push_back({std::max(span.begin, to_.from), std::min(span.end, to_.to),
                                     static_cast<std::uint32_t>(named), static_cast<std::uint32_t>(at->second)});
  }

 private:
  [[nodiscard]] Timeline::Name name_of(const TimelineSpan& span) const {
    switch (span.kind) {
      case Kind::Issues: return {Timeline::Kind::Issues, "issues"};
      case Kind::Waits: return {Timeline::Kind::Waits, sim::name(span.stall)};
      default: return {Timeline::Kind::Loads, level_name(launch_, span.level)};
    }
  }

  const Observed& launch_;
  const Places& places_;
  Timeline& to_;
  std::map<std::uint32_t, std::size_t> instructions_;
};

}  // namespace

Timeline drawn_part(const std::vector<Observed>& launches, const sim::Counters& all, const Places& places, std::string of) {
  Timeline drawn;
  drawn.of = visible(of);
  drawn.launches = all.launches;
  drawn.counters = all.by_name();
  const auto& launch = launch_to_draw(launches);
  drawn.launch = static_cast<std::uint64_t>(&launch - launches.data()) + 1;
  drawn.cycles = launch.counters.cycles;
  drawn.noted_whole = !launch.timeline_cut;
  if (launch.timeline.empty()) return drawn;
  const auto* last = last_value(launch);
  drawn.sm = (last ? *last : launch.timeline.front()).sm;
  const auto warps = warps_to_draw(launch, last, drawn);
  std::vector<const TimelineSpan*> spans;
  for (const auto& span : launch.timeline) {
    const bool in_time = !last || span.begin < last->end;
    if (span.sm == drawn.sm && in_time && warps.contains(identity(span))) spans.push_back(&span);
  }
  std::sort(spans.begin(), spans.end(), [](const auto* a, const auto* b) { return a->end > b->end; });
  drawn.to = last ? last->end : spans.front()->end;
  if (spans.size() > Timeline::kMostSpans) drawn.from = spans[Timeline::kMostSpans]->end;
  std::erase_if(spans, [&](const auto* span) { return span->end <= drawn.from; });
  std::sort(spans.begin(), spans.end(), [](const auto* a, const auto* b) {
    return std::tuple(identity(*a), a->begin, a->end) < std::tuple(identity(*b), b->begin, b->end);
  });
  Filling filling(launch, places, drawn);
  for (const auto* span : spans) filling.add(*span);
  return drawn;
}

}  // namespace gexp::cli
