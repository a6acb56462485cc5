// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/observer.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace gexp::sim {
namespace {

/// "shared memory" of "shared_memory".
std::string in_words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

const std::array<std::string, kStalls> kStallNames{
#define STALL(Id, name, meaning) in_words(name),
#include "runtime/device/counters.def"
};

}  // namespace

const char* name(Stall stall) { return kStallNames[static_cast<std::size_t>(stall)].c_str(); }

std::uint64_t WorkCount::all_stalled() const { return std::accumulate(stalled.begin(), stalled.end(), std::uint64_t{0}); }

WorkCount& WorkCount::operator+=(const WorkCount& more) {
  issued += more.issued, executed += more.executed;
  for (std::size_t k = 0; k < kStalls; ++k) stalled[k] += more.stalled[k];
  return *this;
}

Counters& Counters::operator+=(const Counters& more) {
#define COUNT(name, unit, meaning) name += more.name;
#define REPLAY(name, unit, meaning) replays.name += more.replays.name;
#define TRAFFIC(name, unit, meaning) dram.name += more.dram.name;
#include "runtime/device/counters.def"
  for (std::size_t k = 0; k < kStalls; ++k) stalled[k] += more.stalled[k];
  if (levels.empty()) {
    levels = more.levels;
    return *this;
  }
  for (std::size_t k = 0; k < more.levels.size(); ++k) {
    LevelCount& to = levels[k];
    const LevelCount& from = more.levels[k];
    to.lookups += from.lookups, to.hits += from.hits, to.stores += from.stores, to.store_hits += from.store_hits;
  }
  return *this;
}

device::Counters Counters::by_name() const {
  device::Counters all;
#define COUNT(name, unit, meaning) all.emplace_back(#name, name);
#define REPLAY(name, unit, meaning) all.emplace_back("replays." #name, replays.name);
#define STALL(Id, name, meaning) all.emplace_back("stalled." name, stalled[static_cast<std::size_t>(Stall::Id)]);
#include "runtime/device/counters.def"
  for (const LevelCount& level : levels) {
    const auto add = [&](const char* what, std::uint64_t count) { all.emplace_back(level.name + what, count); };
    add(".lookups", level.lookups), add(".hits", level.hits), add(".misses", level.lookups - level.hits);
    if (level.sector > 0) add(".bytes", level.lookups * level.sector);
    if (level.takes_stores) add(".stores", level.stores), add(".store_hits", level.store_hits);
  }
#define TRAFFIC(name, unit, meaning) all.emplace_back("dram." #name, dram.name);
#include "runtime/device/counters.def"
  return all;
}

Observer::Observer(const Kernel& kernel, std::uint64_t start, std::uint64_t interval, std::size_t most_spans)
    : kernel_(kernel), start_(start), interval_(interval), most_spans_(most_spans), by_code_(kernel.code.size()) {}

void Observer::begin(std::uint32_t warp, const Warp& w, std::uint64_t block, std::uint64_t now) {
  if (warp >= tracks_.size()) tracks_.resize(warp + std::size_t{1});
  Track& track = tracks_[warp] = {};
  track.sm = w.sm, track.first_thread = w.first_thread;
  track.block = block;
  track.began = track.could = track.issuing_since = now;
  track.made_by.assign(kernel_.slots, Stall::Arithmetic);
  result_.counters.blocks += w.first_thread == 0;
  ++result_.counters.warps;
}

Observer::Wait Observer::operands(const Track& track, const Warp& w, const Instruction& i) const {
  Wait latest;
  const auto look = [&](std::uint32_t slot) {
    if (w.ready[slot] > latest.until) latest = {w.ready[slot], track.made_by[slot]};
  };
  for (const std::uint32_t slot : {i.guard, i.a, i.b, i.c}) look(slot);
  if (i.gives_data() || i.kind == Kind::Matrix || i.kind == Kind::Copy) {
    for (std::size_t k = 0; k < i.count; ++k) look(i.data[k]);
  } else if (i.kind == Kind::Wide) {
    for (std::size_t k = 0; k < i.reads; ++k) look(kernel_.lists[i.list + k]);
  } else if (i.kind == Kind::Call) {
    for (const Passed& passed : kernel_.calls[i.list].arguments) look(passed.slot);
  }
  return latest;
}

void Observer::note_results(Track& track, const Instruction& i) const {
  const Stall by = i.space == Space::Shared ? Stall::Shared : Stall::Memory;
  switch (i.kind) {
    case Kind::Load:
    case Kind::Texture:
    case Kind::Matrix:
      for (std::size_t k = 0; k < i.count; ++k) track.made_by[i.data[k]] = i.kind == Kind::Matrix ? Stall::Shared : by;
      break;
    case Kind::Atomic: track.made_by[i.to] = by; break;
    case Kind::Copy:
      if (!i.bulk) track.made_by[i.data[0]] = Stall::Memory;  // what a wait for copies reads
      break;
    case Kind::Wide:
      for (std::size_t k = 0; k < i.writes; ++k) track.made_by[kernel_.lists[i.list + i.reads + k]] = Stall::Arithmetic;
      break;
    default: track.made_by[i.to] = Stall::Arithmetic;
  }
}

void Observer::wait(Track& track, std::uint32_t warp, std::uint32_t instruction, Stall stall, std::uint64_t until) {
  if (until <= track.could) return;
  const auto at = static_cast<std::size_t>(stall);
  by_code_[instruction].stalled[at] += until - track.could;
  result_.counters.stalled[at] += until - track.could;
  span(warp, track.could, until, instruction, {.kind = TimelineSpan::Kind::Waits, .stall = stall});
  track.could = until;
}

void Observer::issue(std::uint32_t warp, const Warp& w, std::uint32_t active, std::uint64_t now) {
  Track& track = tracks_[warp];
  const Instruction& i = kernel_.code[w.pc];
  if (now > track.could) {
    span(warp, track.issuing_since, track.could, track.issuing, {});
    if (track.after == Stall::Barrier || track.after == Stall::Requests) wait(track, warp, w.pc, track.after, now);
    wait(track, warp, w.pc, Stall::Fetch, std::min(now, track.could + track.fetch));
    const Wait ready = operands(track, w, i);
    wait(track, warp, w.pc, ready.stall, std::min(now, ready.until));
    wait(track, warp, w.pc, Stall::Unit, std::min(now, track.could + track.unit));
    wait(track, warp, w.pc, track.after, now);
    track.issuing_since = now, track.issuing = w.pc;
  }
  if (track.issuing == kNobody) track.issuing = w.pc;
  WorkCount& of = by_code_[w.pc];
  ++of.issued;
  of.executed += static_cast<std::uint64_t>(std::popcount(active));
  note_results(track, i);
  track.could = now + interval_;
  track.fetch = track.unit = 0;
  track.after = i.kind == Kind::Barrier || i.kind == Kind::Meet ? Stall::Barrier
                : i.kind == Kind::Store || i.fences             ? Stall::Requests
                : i.kind == Kind::Special                       ? Stall::Arithmetic
                                                                : Stall::Issue;
}

void Observer::loaded(std::uint32_t warp, const Instruction& i, std::uint64_t issued, std::uint64_t now, std::uint32_t level) {
  const auto instruction = static_cast<std::uint32_t>(&i - kernel_.code.data());
  span(warp, issued, now, instruction, {.kind = TimelineSpan::Kind::Loads, .level = level});
}

void Observer::accessed(Space space, Kind kind, std::uint64_t passes, std::uint64_t turns) {
  if (passes == 0) return;  // parameters and other values that no cache serves
  Counters& c = result_.counters;
  c.replays.atomic += turns;
  if (space == Space::Shared) {
    ++c.shared, c.replays.bank += passes - 1;
    return;
  }
  ++(kind == Kind::Store ? c.stores : kind == Kind::Atomic ? c.atomics : c.loads);
  (space == Space::Const ? c.replays.constant : c.replays.coalescing) += passes - 1;
  c.requests += passes;
}

void Observer::end(std::uint32_t warp, std::uint64_t now) {
  Track& track = tracks_[warp];
  span(warp, track.issuing_since, track.could, track.issuing, {});
  result_.counters.warp_cycles += now - track.began;
}

void Observer::span(std::uint32_t warp, std::uint64_t begin, std::uint64_t end, std::uint32_t instruction, TimelineSpan what) {
  if (most_spans_ == 0 || end <= begin) return;
  if (result_.timeline.size() >= most_spans_) {
    result_.timeline_cut = true;
    return;
  }
  const Track& track = tracks_[warp];
  what.sm = track.sm, what.warp = warp, what.block = track.block, what.first_thread = track.first_thread;
  what.begin = begin - start_, what.end = end - start_;
  what.instruction = instruction;
  result_.timeline.push_back(what);
}

Observed Observer::take(std::uint64_t end) {
  Counters& c = result_.counters;
  c.launches = 1;
  c.cycles = end - start_;
  result_.began = start_;
  for (const Instruction& i : kernel_.code) {
    if (most_spans_ == 0) break;
    result_.instructions.push_back({i.line, kernel_.opcodes[i.opcode], kernel_.statements[i.statement]});
  }
  std::map<std::uint32_t, WorkCount> lines;
  for (std::size_t k = 0; k < by_code_.size(); ++k) {
    const WorkCount& from = by_code_[k];
    if (from.issued == 0) continue;
    c.issued += from.issued, c.executed += from.executed;
    lines[kernel_.code[k].line] += from;
  }
  c.issue_cycles = c.issued * interval_;
  result_.lines.assign(lines.begin(), lines.end());
  return std::move(result_);
}

}  // namespace gexp::sim
