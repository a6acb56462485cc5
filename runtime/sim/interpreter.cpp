// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "lang/base/budget.h"
#include "lang/base/units.h"
#include "runtime/sim/compute.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/observer.h"

namespace gexp::sim {
namespace {

std::atomic<std::uint64_t> all_instructions{0};

constexpr std::uint64_t kCheckEvery = 1u << 11;  // instructions between looks at the time, for an interrupt and at the host's memory
constexpr std::uint64_t kLocalBase = 1ull << 50;  // of local memory among the addresses that caches see

/// The lanes of the group that the guard lets through.
inline std::uint32_t guarded_lanes(Warp& w, const Instruction& i) {
  if (i.guard == kTrue) return w.mask;
  const std::uint64_t* const guard = w.slot(i.guard);
  std::uint32_t active = 0;
  each_lane(w.mask, [&](std::uint32_t lane) { active |= static_cast<std::uint32_t>((guard[lane] != 0) != i.guard_not) << lane; });
  return active;
}

}  // namespace

Machine::Machine(const LaunchContext& context, std::uint64_t start, std::uint32_t blocks_per_sm)
    : c_(context),
      code_(context.kernel.code),
      data_(context),
      memory_(context.model, context.hierarchy, events_, warps_, context.shape.bank_bytes),
      placement_(static_cast<std::uint32_t>(context.model.sms), static_cast<std::uint32_t>(context.model.sms_per_tpc), blocks_per_sm),
      sms_(static_cast<std::size_t>(context.model.sms)),
      start_(start),
      end_(start) {
  const Pipeline& p = c_.model.pipeline;
  latency_ = {p.alu, p.multiply, p.divide, p.clock};
  interval_ = {p.alu_interval, p.multiply_interval, p.divide_interval, 0};
  for (Sm& sm : sms_) sm.schedulers.resize(p.schedulers, 0);
  fetches_ = c_.hierarchy.present(LoadPath::Instruction);
  if (fetches_) fetch_line_ = c_.hierarchy.sector(LoadPath::Instruction);
  for (const Instruction& i : code_) lanes_.push_back(lane_function(i.op)), wide_.push_back(wide_function(i.wide));
}

LaunchResult Machine::run() {
  start_blocks(start_);
  while (!events_.empty() && !stopped_) {
    const Event event = events_.take();
    switch (event.kind) {
      case Event::Kind::Run: advance(event.who, event.time); break;
      case Event::Kind::Arrive: memory_.arrive(event.who, event.time); break;
      case Event::Kind::Return: memory_.come_back(event.who, event.time); break;
      case Event::Kind::Finish: memory_.finish(event.who, event.time); break;
    }
  }
  if (!stopped_ && next_block_ < c_.shape.grid.count()) fault("no block could start");
  if (!stopped_ && !barriers_.empty()) fault(deadlock());
  all_instructions.fetch_add(instructions_, std::memory_order_relaxed);
  const auto stored = static_cast<std::uint64_t>(std::max(0.0, memory_.last_store()));
  return {std::move(outcome_), std::max(end_, stored), instructions_};
}

/// False: no lane can go on. Lanes in deeper functions go first, so that they meet the others at the return.
bool Machine::select_group(Warp& w) {
  w.mask = 0, w.pc = w.limit = ~0u;
  std::uint32_t lanes = w.live & ~(w.at_barrier | w.parked);
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

/// When an instruction that could begin at `at` finds its operands there; kNever: not before another event.
inline std::uint64_t Machine::when_ready(const Warp& w, const Instruction& i, std::uint64_t at) const {
  const std::uint64_t* const ready = w.ready.data();
  at = std::max({at, ready[i.a], ready[i.b], ready[i.c]});
  if (i.kind == Kind::Compute) {
    // Results of one register come in order: a load that is still under way is waited for.
    const std::uint64_t latency = latency_[static_cast<std::size_t>(i.cost)], result = ready[i.to];
    if (at != kNever && result > at + latency) at = result == kNever ? kNever : result - latency;
  } else if (i.kind == Kind::Load || i.kind == Kind::Texture) {
    for (std::size_t k = 0; k < i.count; ++k) at = ready[i.data[k]] == kNever ? kNever : at;
    if (!memory_.may_load(w)) at = kNever;
  } else if (i.kind == Kind::Store) {
    for (std::size_t k = 0; k < i.count; ++k) at = std::max(at, ready[i.data[k]]);
  } else if (i.kind == Kind::Wide) {
    const std::uint32_t* const slots = c_.kernel.lists.data() + i.list;
    for (std::size_t k = 0; k < std::size_t{i.reads} + i.writes; ++k) at = std::max(at, ready[slots[k]]);
  } else if (i.kind == Kind::Matrix || i.kind == Kind::Copy) {
    for (std::size_t k = 0; k < i.count; ++k) at = std::max(at, ready[i.data[k]]);
  } else if (i.kind == Kind::Call) {
    for (const Passed& p : c_.kernel.calls[i.list].arguments) at = std::max(at, ready[p.slot]);
  } else if (ready[i.to] == kNever) {
    at = kNever;
  }
  return at;
}

/// Runs a warp from its event on, until another event is due, or it must wait, or it has ended.
void Machine::advance(std::uint32_t index, std::uint64_t now) {
  Warp& w = warps_[index];
  Sm& sm = sms_[w.sm];
  const std::uint64_t issue_interval = c_.model.pipeline.issue;
  const auto later = [&](std::uint64_t time) { events_.add(time, Event::Kind::Run, index); };
  const auto dissolve = [&w] {
    each_lane(w.mask, [&w](std::uint32_t lane) { w.pcs[lane] = w.pc; });
    w.mask = 0;
  };
  while (!stopped_) {
    if (w.mask != 0 && w.pc >= w.limit) dissolve();
    if (w.mask == 0 && !select_group(w) && !(unpark(w) && select_group(w))) {
      if (w.live != 0) w.state = Warp::State::Barrier;
      return;
    }
    const Instruction& i = code_[w.pc];
    if (++instructions_ % kCheckEvery == 0 && !check(i)) return;
    if (fetches_) {
      const std::uint64_t address = c_.code + static_cast<std::uint64_t>(w.pc) * c_.model.pipeline.instruction_bytes;
      if (address / fetch_line_ != w.fetched) {
        w.fetched = address / fetch_line_;
        const std::uint32_t cycles = c_.hierarchy.fetch(w.sm, address);
        w.next += cycles;
        if (c_.observer) c_.observer->fetched(index, cycles);
      }
    }
    const std::uint32_t active = guarded_lanes(w, i);
    std::uint64_t at = std::max(w.next, w.ready[i.guard]);
    if (active != 0) at = when_ready(w, i, at);
    if (at == kNever) {
      --instructions_;
      w.state = Warp::State::Waiting;
      return;
    }
    // Who finds its unit or its scheduler taken is next in line there: the slot is its own, others come after it.
    if (!w.slot_granted) {
      if (at > now && at >= events_.first()) return --instructions_, later(at);
      const auto cost = static_cast<std::size_t>(i.cost);
      if (i.kind == Kind::Compute && interval_[cost] > 0 && !w.unit_granted) {
        const double wait = sm.units[cost].wait(static_cast<double>(at), interval_[cost]);
        if (wait >= 1) {
          at += static_cast<std::uint64_t>(wait);
          w.next = std::max(w.next, at);
          w.unit_granted = true;
          if (at >= events_.first()) return --instructions_, later(at);
        }
      }
      std::uint64_t& free = sm.schedulers[w.scheduler];
      const std::uint64_t slot = std::max(at, free);
      free = slot + issue_interval;
      if (slot > at) {
        w.next = std::max(w.next, slot);
        at = slot;
        if (at >= events_.first()) {
          w.slot_granted = true;
          return --instructions_, later(at);
        }
      }
    }
    w.slot_granted = w.unit_granted = false;
    w.next = at + issue_interval;
    if (c_.observer) c_.observer->issue(index, w, active, at);
    if (active == 0) {
      ++w.pc;
      continue;
    }
    switch (execute(index, i, active, at)) {
      case Step::Next: ++w.pc; break;
      case Step::Jumped: break;
      case Step::Regroup: w.mask = 0; break;
      case Step::Leave: return;
    }
    now = at;
  }
}

Machine::Step Machine::execute(std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  Warp& w = warps_[index];
  switch (i.kind) {
    case Kind::Compute: {
      std::uint64_t* const to = w.slot(i.to);
      const std::uint64_t *const a = w.slot(i.a), *const b = w.slot(i.b), *const c = w.slot(i.c);
      if (one_lane(active)) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(active));
        to[lane] = compute(i.op, i, a[lane], b[lane], c[lane]);
      } else {
        lanes_[w.pc](i, active, w.width, a, b, c, to);
      }
      w.ready[i.to] = issue + latency_[static_cast<std::size_t>(i.cost)];
      return Step::Next;
    }
    case Kind::Special: {
      const std::uint64_t value = clock(i.special, issue) & i.mask;
      each_lane(active, [&](std::uint32_t lane) { w.slot(i.to)[lane] = value; });
      w.next = w.ready[i.to] = issue + latency_[static_cast<std::size_t>(Cost::Clock)];
      return Step::Next;
    }
    case Kind::Branch:
      if (active == w.mask) {
        w.pc = i.target;
        return Step::Jumped;
      }
      each_lane(w.mask, [&](std::uint32_t lane) { w.pcs[lane] = active >> lane & 1 ? i.target : w.pc + 1; });
      if (c_.observer) c_.observer->parted();
      return Step::Regroup;
    case Kind::Trap: return fault(fmt::format("a trap ({})", place_of(c_.kernel, i)));
    case Kind::Exit:
      each_lane(w.mask & ~active, [&](std::uint32_t lane) { w.pcs[lane] = w.pc + 1; });
      return end_lanes(index, active, w.next) ? Step::Leave : Step::Regroup;
    case Kind::Load:
    case Kind::Store:
    case Kind::Atomic:
    case Kind::Texture: return access(index, i, active, issue);
    case Kind::Matrix:
    case Kind::Copy: return access(index, i, active, issue);
    case Kind::Barrier: return barrier(index, i, active, issue);
    case Kind::Wide: return wide(index, i, active, issue);
    case Kind::BranchTable: return branch_by_table(w, i, active);
    case Kind::Call: return call(w, i, active);
    case Kind::Return: return come_back(w, i, active);
    case Kind::Nothing: return Step::Next;
  }
  return Step::Next;
}

Machine::Step Machine::access(std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  const Space space = i.kind == Kind::Texture ? Space::Global : data_.gather(i, warps_[index], active, addresses_);
  const std::uint64_t passes = memory_.passes();
  const bool block = i.kind == Kind::Matrix || i.kind == Kind::Copy;
  const Step step = block ? access_block(index, i, active, issue) : access_in(space, index, i, active, issue);
  if (c_.observer) {
    c_.observer->accessed(i.kind == Kind::Matrix ? Space::Shared : space, i.kind, memory_.passes() - passes);
    if (step == Step::Leave && !stopped_) c_.observer->stalled(index);
  }
  return step;
}

/// Of global, shared and other memory, by lanes of their own: the data first, then the time.
Machine::Step Machine::access_in(Space space, std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  Warp& w = warps_[index];
  Block& block = blocks_[w.block];
  const bool good = i.kind == Kind::Load      ? data_.read(i, space, w, block, active, addresses_)
                    : i.kind == Kind::Store   ? data_.write(i, space, w, block, active, addresses_)
                    : i.kind == Kind::Texture ? data_.texels(i, w, active, addresses_)
                                              : data_.atomic(i, space, w, block, active, addresses_);
  if (!good) return fault(data_.fault());

  const Pipeline& p = c_.model.pipeline;
  const auto result_in = [&](std::uint64_t cycles) {
    for (std::size_t k = 0; k < i.count && i.kind == Kind::Load; ++k) w.ready[i.data[k]] = issue + cycles;
    if (i.kind == Kind::Atomic) w.ready[i.to] = issue + cycles;
    w.ready[kTrue] = 0;
    return Step::Next;
  };
  LoadPath path = i.path;
  switch (space) {
    case Space::Param: return result_in(p.constant);
    case Space::Frame: return result_in(p.alu);
    case Space::Shared: return result_in(memory_.shared(w.sm, i, addresses_, active, issue));
    case Space::Const:
      path = LoadPath::Constant;
      if (!c_.hierarchy.present(path)) return result_in(p.constant);
      break;
    case Space::Local:
      path = LoadPath::Local;
      if (!c_.hierarchy.present(path)) return result_in(p.local);
      // Words of a thread lie so that those of a warp's lanes are neighbours.
      each_lane(active, [&](std::uint32_t lane) {
        const std::uint64_t offset = addresses_[lane] & 0xffffffffu, room = (c_.kernel.local_bytes + 3) / 4 * 4;
        addresses_[lane] = kLocalBase + (static_cast<std::uint64_t>(index) * room + offset / 4 * 4) * kLanes + lane * 4 + offset % 4;
      });
      break;
    default:
      if (i.kind == Kind::Texture) path = LoadPath::Texture;
      else if (i.kind == Kind::Atomic) path = c_.hierarchy.present(LoadPath::Cg) ? LoadPath::Cg : LoadPath::Default;  // done at the L2
  }
  if (!c_.hierarchy.present(path)) return fault(fmt::format("the device has no path for such an access ({})", place_of(c_.kernel, i)));
  if (i.kind == Kind::Store) {
    if (space != Space::Const) memory_.store(index, addresses_, active, issue);
    return Step::Next;
  }
  // A chase reads the index of the element that it will read next.
  if (i.kind == Kind::Load && i.count == 1 && one_lane(active)) {
    if (const std::uint64_t next = c_.memory.expect_element(w.slot(i.data[0])[std::countr_zero(active)], i.bytes)) c_.hierarchy.expect(path, next);
  }
  if (events_.empty() && alone(w, i, active)) {
    const std::uint64_t ready = memory_.lone_load(w, path, addresses_[static_cast<std::size_t>(std::countr_zero(active))], issue);
    return result_in(ready - issue);
  }
  memory_.load(index, i, path, addresses_, active, issue);
  if (w.state != Warp::State::Stalled) return Step::Next;
  ++w.pc;
  return Step::Leave;
}

/// Whether a load, when nothing is due, is over before anything else happens: its warp has one thread, whose next instruction is at hand and needs it.
bool Machine::alone(const Warp& w, const Instruction& i, std::uint32_t active) const {
  if (i.kind != Kind::Load || i.count != 1 || w.live != active || !one_lane(active)) return false;
  const Instruction& next = code_[w.pc + 1];
  const std::uint32_t loaded = i.data[0];
  if (loaded == kTrue || next.guard != kTrue || (next.a != loaded && next.b != loaded && next.c != loaded)) return false;
  return !fetches_ || (c_.code + (w.pc + std::uint64_t{1}) * c_.model.pipeline.instruction_bytes) / fetch_line_ == w.fetched;
}

/// Rows of matrices, and copies from global to shared memory.
Machine::Step Machine::access_block(std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  Warp& w = warps_[index];
  Block& block = blocks_[w.block];
  w.ready[kTrue] = 0;
  if (i.kind == Kind::Matrix) {
    if (!data_.matrix(i, w, block, active, addresses_)) return fault(data_.fault());
    Instruction row = i;
    row.count = 1;
    const std::uint64_t cycles = memory_.shared(w.sm, row, addresses_, active, issue);
    for (std::size_t k = 0; k < i.count && i.waits; ++k) w.ready[i.data[k]] = issue + cycles;
    return Step::Next;
  }
  if (!data_.copy(i, w, block, active, addresses_)) return fault(data_.fault());
  const LoadPath path = i.path;
  if (!c_.hierarchy.present(path)) return fault(fmt::format("the device has no path for such an access ({})", place_of(c_.kernel, i)));
  memory_.load(index, i, path, addresses_, active, issue);
  if (w.state != Warp::State::Stalled) return Step::Next;
  ++w.pc;
  return Step::Leave;
}

bool Machine::check(const Instruction& i) {
  const auto over = Budget::own() ? Budget::own()->look() : Budget::End::None;
  if (over == Budget::End::Interrupted || (c_.interrupt && c_.interrupt->load(std::memory_order_relaxed))) {
    outcome_.status = device::Outcome::Status::Interrupted;
    outcome_.what = "interrupted";
    stopped_ = true;
  } else if (over == Budget::End::Memory) {
    const auto most = show(static_cast<double>(Budget::own()->memory()), kBytes);
    fault(fmt::format("the simulated device fills more than the {} of the host's memory that gexp may hold ({})", most, place_of(c_.kernel, i)));
  } else if (std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count() > c_.time_limit) {
    outcome_.status = device::Outcome::Status::Timeout;
    outcome_.what = fmt::format("the kernel was still running after {:g} s ({})", c_.time_limit, place_of(c_.kernel, i));
    stopped_ = true;
  }
  return !stopped_;
}

std::uint64_t Machine::clock(Special which, std::uint64_t cycle) const {
  const auto nanoseconds = [&] { return static_cast<std::uint64_t>(static_cast<double>(cycle) * 1e9 / c_.model.sm_clock_hz); };
  switch (which) {
    case Special::Clock:
    case Special::Clock64: return cycle;
    case Special::ClockHi: return cycle >> 32;
    case Special::GlobalTimer:
    case Special::GlobalTimerLo: return nanoseconds();
    case Special::GlobalTimerHi: return nanoseconds() >> 32;
  }
  return 0;
}

std::uint64_t instructions_executed() { return all_instructions.load(std::memory_order_relaxed); }

std::uint32_t blocks_per_sm(const DeviceModel& model, const Kernel& kernel, const device::LaunchShape& shape, std::uint64_t carveout) {
  const std::uint64_t warps = (shape.block.count() + kLanes - 1) / kLanes, shared = static_cast<std::uint64_t>(kernel.shared_bytes) + shape.shared_bytes;
  std::uint64_t most = std::min<std::uint64_t>(model.limits.blocks_per_sm, model.limits.threads_per_sm / kLanes / warps);
  if (shared > 0) most = std::min(most, carveout / shared);
  // Of registers there are enough for one block: a compiler that is short of them spills.
  if (kernel.registers > 0 && most > 1)
    most = std::clamp<std::uint64_t>(model.limits.registers_per_sm / (static_cast<std::uint64_t>(kernel.registers) * warps * kLanes), 1, most);
  return static_cast<std::uint32_t>(most);
}

LaunchResult interpret(const LaunchContext& context, std::uint64_t start) {
  return Machine(context, start, blocks_per_sm(context.model, context.kernel, context.shape, context.carveout)).run();
}

}  // namespace gexp::sim
