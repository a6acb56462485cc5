// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "runtime/sim/machine.h"
#include "runtime/sim/observer.h"

// Which lanes of a warp run: where they part, where they meet again, and where they wait for each other.
namespace gexp::sim {

/// Of a device with a stack of paths. Lanes of the group go different ways and meet at `end`; of those, `first` go first: who jumps does,
/// and who falls through waits (Wong10 section IV-C2).
void Machine::part(Warp& w, std::uint32_t first, std::uint32_t end) {
  Path path{w.mask, end, w.depth(static_cast<std::uint32_t>(std::countr_zero(w.mask)))};
  const Path* const around = w.paths.empty() ? nullptr : &w.paths.back();
  if (around && (end == kNowhere || (end == around->end && path.depth == around->depth))) path = *around;
  else w.paths.push_back(path);
  path.lanes = first;
  if (first != 0) w.paths.push_back(path);
}

/// Of a device with a stack of paths: lanes of the innermost path that are not yet at its end. False: the warp waits at a barrier.
bool Machine::select_path(Warp& w) {
  if (w.at_barrier != 0) return false;
  Path path{w.live, kNowhere, 0};
  std::uint32_t lanes = w.live;
  for (; !w.paths.empty(); w.paths.pop_back(), path = {w.live, kNowhere, 0}, lanes = w.live) {
    path = w.paths.back();
    lanes = path.lanes & w.live;
    each_lane(lanes, [&](std::uint32_t lane) { lanes &= w.pcs[lane] == path.end && w.depth(lane) == path.depth ? ~(1u << lane) : ~0u; });
    if (lanes != 0) break;
  }
  if (lanes == 0) return false;
  const auto lead = static_cast<std::uint32_t>(std::countr_zero(lanes));
  w.pc = w.pcs[lead];
  each_lane(lanes, [&](std::uint32_t lane) {
    if (w.pcs[lane] == w.pc && w.depth(lane) == w.depth(lead)) w.mask |= 1u << lane;
  });
  if (w.mask != lanes) w.paths.push_back({w.mask, path.end, path.depth});
  w.limit = path.end > w.pc && path.depth == w.depth(lead) ? path.end : kNowhere;
  return true;
}

/// Of a device whose lanes are independent. False: none can go on. Lanes in deeper functions go first, so that they meet the others at the return.
bool Machine::select_group(Warp& w) {
  w.mask = 0, w.pc = w.limit = ~0u;
  std::uint32_t lanes = w.live & ~(w.at_barrier | w.parked | w.yielded);
  if (!w.stacks.empty()) {
    std::size_t deepest = 0;
    each_lane(lanes, [&](std::uint32_t lane) { deepest = std::max(deepest, w.stacks[lane].frames.size()); });
    each_lane(lanes, [&](std::uint32_t lane) { lanes &= w.stacks[lane].frames.size() == deepest ? ~0u : ~(1u << lane); });
  }
  each_lane(lanes, [&](std::uint32_t lane) { w.pc = std::min(w.pc, w.pcs[lane]); });
  each_lane(lanes, [&](std::uint32_t lane) {
    if (w.pcs[lane] == w.pc) w.mask |= 1u << lane;
    else w.limit = std::min(w.limit, w.pcs[lane]);
  });
  return w.mask != 0;
}

/// The lanes that go on together, where the group has ended or others wait at its place. False: none can; the warp's state says why.
bool Machine::regroup(Warp& w) {
  each_lane(w.mask, [&w](std::uint32_t lane) { w.pcs[lane] = w.pc; });
  w.mask = 0;
  if (stack_ ? select_path(w) : select_group(w)) return true;
  if (w.yielded != 0) {
    w.yielded = 0;
    if (select_group(w)) return true;
  }
  if (unpark(w) && select_group(w)) return true;
  if (w.live != 0) w.state = Warp::State::Barrier;
  return false;
}

/// A branch at which lanes part, or a jump back while others wait; every other one is `execute`'s.
Machine::Step Machine::branch(Warp& w, const Instruction& i, std::uint32_t active) {
  if (active != w.mask) {
    each_lane(w.mask, [&](std::uint32_t lane) { w.pcs[lane] = active >> lane & 1 ? i.target : w.pc + 1; });
    if (stack_) part(w, active, i.meeting);
    if (c_.observer) c_.observer->parted();
    return Step::Regroup;
  }
  w.pc = i.target;
  if (stack_) {
    // Only a jump back can lead from behind a path's end to it, or before it.
    if (w.limit == kNowhere && w.pc <= w.paths.back().end) w.limit = 0;
    return Step::Jumped;
  }
  if (++w.turns < kFairTurns) return Step::Jumped;
  w.turns = 0;
  w.yielded |= w.mask;
  each_lane(w.mask, [&](std::uint32_t lane) { w.pcs[lane] = i.target; });
  return Step::Regroup;
}

Machine::Step Machine::branch_by_table(Warp& w, const Instruction& i, std::uint32_t active) {
  const std::uint64_t* const choice = w.slot(i.a);
  bool good = true;
  each_lane(w.mask, [&](std::uint32_t lane) { w.pcs[lane] = w.pc + 1; });
  each_lane(active, [&](std::uint32_t lane) {
    good &= choice[lane] < i.writes;
    if (choice[lane] < i.writes) w.pcs[lane] = c_.kernel.lists[i.list + choice[lane]];
  });
  if (stack_) part(w, 0, i.meeting);
  if (!good) return fault(fmt::format("a branch beyond its table of {} targets ({})", i.writes, place_of(c_.kernel, i)));
  return Step::Regroup;
}

/// Before Volta a mask of lanes asks for nothing: those that are there run the instruction.
Machine::Step Machine::wide(std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  Warp& w = warps_[index];
  const std::uint32_t group = w.mask;
  if (i.meets && !stack_ && !meet(w, i, active)) return Step::Regroup;
  const std::uint32_t* const slots = c_.kernel.lists.data() + i.list;
  const WideCall called{i, w, active, slots, slots + i.reads};
  if (i.wide == WideOp::Wgmma) {
    if (const char* const why = multiply_shared(called, blocks_[w.block].shared)) return fault(fmt::format("{} ({})", why, place_of(c_.kernel, i)));
  } else {
    wide_function(i.wide)(called);
  }
  for (std::size_t k = 0; k < i.writes; ++k) w.ready[slots[i.reads + k]] = issue + (decoded_[w.pc].steps > 0 ? w.step_latency : decoded_[w.pc].latency);
  w.ready[kTrue] = 0;
  if ((active & ~group) == 0) return Step::Next;
  // Lanes that had waited go on with the others.
  each_lane(group | active, [&](std::uint32_t lane) { w.pcs[lane] = w.pc + 1; });
  w.parked &= ~active;
  return Step::Regroup;
}

/// Whether all lanes that the last operand names, as far as they have not ended, are at this instruction: then they are `active`. Else
/// those of the group that run it wait for them.
bool Machine::meet(Warp& w, const Instruction& i, std::uint32_t& active) {
  const std::uint64_t* const masks = w.slot(c_.kernel.lists[i.list + i.reads - 1u]);
  const auto named = static_cast<std::uint32_t>(masks[static_cast<std::size_t>(std::countr_zero(active))]);
  std::uint32_t here = active;
  each_lane(w.parked, [&](std::uint32_t lane) { here |= static_cast<std::uint32_t>(w.pcs[lane] == w.pc) << lane; });
  const std::uint32_t wanted = (named | active) & w.live;
  if ((wanted & ~here) == 0) {
    active = wanted;
    return true;
  }
  each_lane(w.mask, [&](std::uint32_t lane) { w.pcs[lane] = (active >> lane & 1) != 0 ? w.pc : w.pc + 1; });
  w.parked |= active;
  return false;
}

/// When nothing else can run: lanes may have ended since others began to wait for them. False: none of those can go on.
bool Machine::unpark(Warp& w) {
  bool some = false;
  for (std::uint32_t left = w.parked; left != 0;) {
    const std::uint32_t pc = w.pcs[static_cast<std::size_t>(std::countr_zero(left))];
    std::uint32_t here = 0, wanted = 0;
    const Instruction& i = code_[pc];
    const std::uint64_t* const masks = w.slot(c_.kernel.lists[i.list + i.reads - 1u]);
    each_lane(left, [&](std::uint32_t lane) {
      if (w.pcs[lane] == pc) here |= 1u << lane, wanted |= static_cast<std::uint32_t>(masks[lane]);
    });
    left &= ~here;
    if ((wanted & w.live & ~here) != 0) continue;
    w.parked &= ~here;
    some = true;
  }
  if (!some && w.parked != 0 && w.at_barrier == 0) {
    const Instruction& i = code_[w.pcs[static_cast<std::size_t>(std::countr_zero(w.parked))]];
    hang(fmt::format("a deadlock: lanes of a warp wait for others that do not come ({})", place_of(c_.kernel, i)));
  }
  return some;
}

}  // namespace gexp::sim
