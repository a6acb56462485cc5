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
#include "runtime/sim/random.h"

namespace gexp::sim {
namespace {

std::atomic<std::uint64_t> all_instructions{0};


/// The lanes of the group that the guard lets through.
inline std::uint32_t guarded_lanes(Warp& w, const Decoded& d) {
  if (d.guard == kTrue) return w.mask;
  const std::uint64_t* const guard = w.slot(d.guard);
  if (one_lane(w.mask)) return (guard[std::countr_zero(w.mask)] != 0) != d.guard_not ? w.mask : 0;
  std::uint32_t active = 0;
  each_lane(w.mask, [&](std::uint32_t lane) { active |= static_cast<std::uint32_t>((guard[lane] != 0) != d.guard_not) << lane; });
  return active;
}

}  // namespace

Machine::Machine(const LaunchContext& context, std::uint64_t start, std::uint32_t blocks_per_sm)
    : c_(context),
      code_(context.kernel.code),
      data_(context),
      memory_(context.model, context.hierarchy, events_, warps_, context.shape.bank_bytes, context.observer),
      placement_(context.model, blocks_per_sm),
      sms_(static_cast<std::size_t>(context.model.sms)),
      stack_(context.model.pipeline.divergence == Divergence::Stack),
      lone_(!context.observer && context.model.pipeline.ahead == 0),
      issue_interval_(context.model.pipeline.issue),
      ahead_(context.model.pipeline.ahead),
      start_(start),
      end_(start),
      cluster_(cluster_size(context.kernel, context.shape)) {
  const Pipeline& p = c_.model.pipeline;
  latency_ = {p.alu, p.multiply, p.divide, p.clock};
  interval_ = {p.alu_interval, p.multiply_interval, p.divide_interval, 0};
  for (Sm& sm : sms_) sm.schedulers.resize(p.schedulers, 0), sm.units.resize(interval_.size() + c_.model.units.size() + c_.model.operations.size());
  plan_steps();
  constexpr int kClockBits = 28;  // of how far two registers are apart at most: some tenths of a second
  for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
    clocks_.push_back(c_.model.clocks == Scope::Device ? 0 : mix(c_.model.seed + place_of(c_.model, c_.model.clocks, sm)) >> (64 - kClockBits));
  }
  fetches_ = c_.hierarchy.present(LoadPath::Instruction);
  if (fetches_) fetch_line_ = c_.model.paths[static_cast<std::size_t>(LoadPath::Instruction)].fetch;
  const auto rows = operations_of_opcodes();
  for (const Instruction& i : code_) {
    const auto cost = static_cast<std::size_t>(i.cost);
    Decoded d{lane_function(i), scalar_function(i.op), interval_[cost], latency_[cost], i.guard, i.to, i.a, i.b, i.c, i.kind, i.guard_not,
              static_cast<std::uint16_t>(cost)};
    if (i.kind == Kind::Wide) d.interval = 0;  // which of the units these keep busy is known only where the model says so
    if (const auto row = rows[i.opcode]; row && (i.kind == Kind::Compute || i.kind == Kind::Wide)) {
      const OperationModel& operation = c_.model.operations[*row];
      d.latency = least_latency_[*row], d.interval = operation.interval;
      d.unit = static_cast<std::uint16_t>(interval_.size() + c_.model.units.size() + *row);
      d.steps = static_cast<std::uint16_t>(operation.runs.size()), d.first = first_steps_[*row];
    }
    decoded_.push_back(d);
  }
  note_awaited();
  note_lone();
}

/// What the machine instructions of the model's operations take, and of which units.
void Machine::plan_steps() {
  const auto use = [&](int which) -> Use {
    if (which < kUnitClasses) return {interval_[static_cast<std::size_t>(which)], latency_[static_cast<std::size_t>(which)], static_cast<std::uint16_t>(which)};
    const UnitModel& unit = c_.model.units[static_cast<std::size_t>(which - kUnitClasses)];
    int owner = which;
    while (owner >= kUnitClasses && c_.model.units[static_cast<std::size_t>(owner - kUnitClasses)].part_of >= 0) owner = c_.model.units[static_cast<std::size_t>(owner - kUnitClasses)].part_of;
    const std::size_t server = owner < kUnitClasses ? static_cast<std::size_t>(owner) : interval_.size() + static_cast<std::size_t>(owner - kUnitClasses);
    return {unit.interval, unit.latency, static_cast<std::uint16_t>(server)};
  };
  for (const OperationModel& operation : c_.model.operations) {
    first_steps_.push_back(static_cast<std::uint32_t>(steps_.size()));
    std::uint32_t least = operation.runs.empty() ? operation.latency : 0;
    for (const MachineInstruction& instruction : operation.runs) {
      MachineStep step{{}, instruction.in_turn};
      for (const int which : instruction.units) step.uses.push_back(use(which));
      least += std::min_element(step.uses.begin(), step.uses.end(), [](const Use& a, const Use& b) { return a.latency < b.latency; })->latency;
      steps_.push_back(std::move(step));
    }
    least_latency_.push_back(least);
  }
}

/// The unit that the warp's next machine instruction takes: of those that are free, or else the one that is free first.
Machine::Use Machine::use_of(const Sm& sm, Warp& w, const Decoded& d, std::uint64_t at) const {
  if (d.steps == 0) return {d.interval, d.latency, d.unit};
  const MachineStep& step = steps_[d.first + w.step];
  const auto free = [&](const Use& use) { return std::max(sm.units[use.unit].free(), static_cast<double>(at)); };
  const std::size_t from = step.in_turn ? w.turn++ % step.uses.size() : 0;
  const Use* first = &step.uses[from];
  for (std::size_t k = 1; k < step.uses.size(); ++k) {
    const Use& next = step.uses[(from + k) % step.uses.size()];
    if (free(next) < free(*first)) first = &next;
  }
  return *first;
}

std::vector<std::optional<std::uint16_t>> Machine::operations_of_opcodes() const {
  std::vector<std::optional<std::uint16_t>> rows;
  const auto& operations = c_.model.operations;
  for (const std::string& opcode : c_.kernel.opcodes) {
    auto& row = rows.emplace_back();
    const std::string around = opcode + ".";
    for (std::size_t k = 0; k < operations.size(); ++k) {
      const auto& words = operations[k].words;
      const bool fits = around.starts_with(words.front() + ".") &&
                        std::all_of(words.begin() + 1, words.end(), [&](const std::string& word) { return around.find("." + word + ".") != std::string::npos; });
      if (fits && (!row || words.size() > operations[*row].words.size())) row = static_cast<std::uint16_t>(k);
    }
  }
  return rows;
}

LaunchResult Machine::run() {
  start_blocks(start_);
  const bool one_each = std::all_of(sms_.begin(), sms_.end(), [](const Sm& sm) { return sm.warps <= 1; });
  is_ahead_ = lone_ && !fetches_ && one_each && next_block_ >= c_.shape.grid.count() && c_.shape.grid.count() > 1;
  if (is_ahead_) events_.expect_ahead();
  while (!events_.empty() && !stopped_) {
    const Event event = events_.take();
    switch (event.kind) {
      case Event::Kind::Run: advance(event.who, event.time); break;
      case Event::Kind::Arrive: memory_.arrive(event.who, event.time); break;
      case Event::Kind::Return:
        if (const std::uint32_t copy = memory_.come_back(event.who, event.time); copy != kNobody) end_copy(copy);
        break;
      case Event::Kind::Finish: memory_.finish(event.who, event.time); break;
    }
  }
  if (!stopped_ && next_block_ < c_.shape.grid.count()) fault("no block could start");
  const auto waits = [](const Block& block) { return !block.meeting.empty(); };
  if (!stopped_ && (!barriers_.empty() || std::any_of(blocks_.begin(), blocks_.end(), waits))) hang(deadlock());
  if (c_.observer) c_.observer->requested(memory_.sectors(), memory_.merged());
  all_instructions.fetch_add(instructions_, std::memory_order_relaxed);
  const auto stored = static_cast<std::uint64_t>(std::max(0.0, memory_.last_store()));
  return {std::move(outcome_), std::max(end_, stored), instructions_};
}

/// When an instruction that could begin at `at` finds its operands there; kNever: not before another event.
inline std::uint64_t Machine::when_ready(const Warp& w, const Decoded& d, std::uint64_t at) const {
  const std::uint64_t* const ready = w.ready.data();
  at = std::max({at, ready[d.a], ready[d.b], ready[d.c]});
  if (d.awaited) return ready[d.to] == kNever || !memory_.may_load(w) ? kNever : at;
  if (d.kind != Kind::Compute) return when_rest_ready(w, code_[w.pc], at);
  // Results of one register come in order: a load that is still under way is waited for.
  const std::uint64_t result = ready[d.to];
  if (at != kNever && result > at + d.latency) at = result == kNever ? kNever : result - d.latency;
  return at;
}

/// The same of what is no arithmetic, whose first operands are there at `at`.
std::uint64_t Machine::when_rest_ready(const Warp& w, const Instruction& i, std::uint64_t at) const {
  const std::uint64_t* const ready = w.ready.data();
  if (i.kind == Kind::Load || i.kind == Kind::Texture) {
    for (std::size_t k = 0; k < i.count; ++k) at = ready[i.data[k]] == kNever ? kNever : at;
    if (i.kind == Kind::Texture) at = std::max({at, ready[i.data[kThird]], ready[i.data[kLayer]]});
    if (!memory_.may_load(w)) at = kNever;
  } else if (i.gives_data()) {
    for (std::size_t k = 0; k < i.count; ++k) at = std::max(at, ready[i.data[k]]);
    if (i.kind == Kind::Atomic && ready[i.to] == kNever) at = kNever;
    if (i.beyond != 0) at = std::max({at, ready[i.data[kThird]], ready[i.data[kLayer]]});
  } else if (i.kind == Kind::Wide) {
    const std::uint32_t* const slots = c_.kernel.lists.data() + i.list;
    for (std::size_t k = 0; k < std::size_t{i.reads} + i.writes; ++k) at = std::max(at, ready[slots[k]]);
  } else if (i.kind == Kind::Copy && !i.bulk) {
    return at;  // it waits for no other, its own of the loop's turn before included
  } else if (i.kind == Kind::Matrix || i.kind == Kind::Copy) {
    for (std::size_t k = 0; k < i.count; ++k) at = std::max(at, ready[i.data[k]]);
  } else if (i.kind == Kind::Call) {
    for (const Passed& p : c_.kernel.calls[i.list].arguments) at = std::max(at, ready[p.slot]);
  } else if (ready[i.to] == kNever) {
    at = kNever;
  } else if (i.kind == Kind::Atomic && i.bytes == 16) {
    at = std::max({at, ready[i.data[0]], ready[i.data[1]], ready[i.data[2]]});
  }
  return at;
}

/// How much later than at `at`, when its operand is there, a warp can be picked by alu units that pick ahead: who picks among warps that are
/// ready has to idle before it takes one that becomes ready just then.
double Machine::picked_later(Sm& sm, const Warp& w, std::uint64_t at) const {
  const double free = sm.units[static_cast<std::size_t>(Cost::Alu)].free(), now = static_cast<double>(at);
  const bool late = free >= now && sm.busy_since <= w.issued;
  if (free < now) sm.busy_since = at;
  if (late && now + ahead_ > free) sm.busy_since = at + ahead_;
  return late ? ahead_ : 0;
}

/// Who finds its unit or its scheduler taken is next in line there: the slot is its own, others come after it. False: another event is
/// `due` before `at`, which is then when the warp goes on.
inline bool Machine::take_slot(std::uint32_t index, Warp& w, const Decoded& d, std::uint64_t now, std::uint64_t due, std::uint64_t& at) {
  if (at > now && at >= due) return false;
  Sm& sm = sms_[w.sm];
  if ((d.interval > 0 || d.steps > 0) && (d.kind == Kind::Compute || d.kind == Kind::Wide) && !w.unit_granted) {
    const Use use = use_of(sm, w, d, at);
    w.step_latency = use.latency;
    Server& unit = sm.units[use.unit];
    const double later = ahead_ > 0 && use.unit == static_cast<std::uint16_t>(Cost::Alu) && at > w.next ? picked_later(sm, w, at) : 0;
    const double wait = later + unit.wait(static_cast<double>(at) + later, use.interval);
    if (wait >= 1) {
      at += static_cast<std::uint64_t>(wait);
      w.next = std::max(w.next, at);
      w.unit_granted = true;
      if (c_.observer) c_.observer->unit_busy(index, static_cast<std::uint64_t>(wait));
      if (at >= due) return false;
    }
  }
  std::uint64_t& free = sm.schedulers[w.scheduler];
  const std::uint64_t slot = std::max(at, free);
  free = slot + issue_interval_;
  if (slot > at) {
    w.next = std::max(w.next, slot);
    at = slot;
    if (at >= due) {
      w.slot_granted = true;
      return false;
    }
  }
  return true;
}

/// The warp takes the instructions that it needs from the first cache, unless it has them.
void Machine::fetch(std::uint32_t index, Warp& w) {
  const std::uint64_t line = (c_.code + static_cast<std::uint64_t>(w.pc) * c_.model.pipeline.instruction_bytes) / fetch_line_;
  if (line == w.fetched) return;
  w.fetched = line;
  const std::uint32_t cycles = c_.hierarchy.fetch(w.sm, c_.code + static_cast<std::uint64_t>(w.pc) * c_.model.pipeline.instruction_bytes);
  w.next += cycles;
  if (c_.observer) c_.observer->fetched(index, cycles);
}

/// Runs a warp from its event on, until another event is due, or it must wait, or it has ended.
void Machine::advance(std::uint32_t index, std::uint64_t now) {
  Warp& w = warps_[index];
  while (!stopped_) {
    if ((w.mask == 0 || w.pc >= w.limit) && !regroup(w)) return;
    if (runs_alone(w)) {
      run_alone(index, w);
      now = std::max(now, w.issued);
    }
    const Decoded& d = decoded_[w.pc];
    if (instructions_ >= next_check_) {
      if (!check(code_[w.pc], now)) return;
      if (w.next > events_.first() && w.next - events_.first() > kMostAhead) return events_.add(w.next, Event::Kind::Run, index);
      continue;
    }
    if (fetches_) fetch(index, w);
    const std::uint32_t active = guarded_lanes(w, d);
    std::uint64_t at = std::max(w.next, w.ready[d.guard]);
    if (active != 0) at = when_ready(w, d, at);
    if (w.step > 0) at = std::max(at, w.step_ready);
    if (at == kNever) {
      w.state = Warp::State::Waiting;
      return;
    }
    if (!w.slot_granted && !take_slot(index, w, d, now, due(d), at)) return events_.add(at, Event::Kind::Run, index);
    w.slot_granted = w.unit_granted = false;
    w.next = at + issue_interval_;
    now = w.issued = at;
    if (is_ahead_) events_.go_on(at);
    if (d.steps > 0 && active != 0 && w.step + 1 < d.steps) {
      ++w.step, w.step_ready = at + w.step_latency;
      continue;
    }
    w.step = 0;
    ++instructions_;
    if (c_.observer) c_.observer->issue(index, w, active, at);
    if (active == 0) {
      ++w.pc;
    } else if (d.kind == Kind::Compute) {
      const std::uint64_t *const a = w.slot(d.a), *const b = w.slot(d.b), *const c = w.slot(d.c);
      std::uint64_t* const to = w.slot(d.to);
      if (one_lane(active)) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(active));
        to[lane] = d.scalar(code_[w.pc], a[lane], b[lane], c[lane]);
      } else {
        d.lanes(code_[w.pc], active, w.width, a, b, c, to);
      }
      w.ready[d.to] = at + (d.steps > 0 ? w.step_latency : d.latency);
      ++w.pc;
    } else {
      switch (execute(index, code_[w.pc], active, at)) {
        case Step::Next: ++w.pc; break;
        case Step::Jumped: break;
        case Step::Regroup: w.mask = 0; break;
        case Step::Leave: return;
      }
    }
  }
}

Machine::Step Machine::execute(std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  Warp& w = warps_[index];
  switch (i.kind) {
    case Kind::Special: {
      const std::uint64_t value = clock(i.special, w.sm, issue) & i.mask;
      each_lane(active, [&](std::uint32_t lane) { w.slot(i.to)[lane] = value; });
      w.next = w.ready[i.to] = issue + latency_[static_cast<std::size_t>(Cost::Clock)];
      return Step::Next;
    }
    case Kind::Branch:
      if (active != w.mask || (i.target <= w.pc && !(w.limit == kNowhere && w.paths.empty()))) return branch(w, i, active);
      w.pc = i.target;
      return Step::Jumped;
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
    case Kind::Meet: return cluster_barrier(index, i, active, issue);
    case Kind::Wide: return wide(index, i, active, issue);
    case Kind::BranchTable: return branch_by_table(w, i, active);
    case Kind::Call: return call(w, i, active);
    case Kind::Return: return come_back(w, i, active);
    case Kind::Stack: return move_stack(w, i, active, issue);
    case Kind::Nothing:
      if (i.fences) w.next = std::max(w.next, w.stored);
      return Step::Next;
    case Kind::Compute: return Step::Next;
  }
  return Step::Next;
}

bool Machine::check(const Instruction& i, std::uint64_t now) {
  next_check_ = instructions_ + kCheckEvery;
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
  } else if (c_.shape.limit > 0 && static_cast<double>(now - std::min(now, start_)) > c_.shape.limit * c_.model.sm_clock_hz) {
    hang(fmt::format("the kernel was still running after {:g} s of the device's time ({})", c_.shape.limit, place_of(c_.kernel, i)));
  }
  return !stopped_;
}

std::uint64_t Machine::clock(Special which, std::uint32_t sm, std::uint64_t cycle) const {
  const auto nanoseconds = [&] { return static_cast<std::uint64_t>(static_cast<double>(cycle) * 1e9 / c_.model.sm_clock_hz); };
  switch (which) {
    case Special::Clock:
    case Special::Clock64: return cycle + clocks_[sm];
    case Special::ClockHi: return (cycle + clocks_[sm]) >> 32;
    case Special::GlobalTimer:
    case Special::GlobalTimerLo: return nanoseconds();
    case Special::GlobalTimerHi: return nanoseconds() >> 32;
  }
  return 0;
}

std::uint64_t instructions_executed() { return all_instructions.load(std::memory_order_relaxed); }

std::uint32_t cluster_size(const Kernel& kernel, const device::LaunchShape& shape) { return std::max(kernel.cluster, shape.cluster); }

std::uint32_t blocks_per_sm(const DeviceModel& model, const Kernel& kernel, const device::LaunchShape& shape, std::uint64_t carveout) {
  const std::uint64_t warps = (shape.block.count() + kLanes - 1) / kLanes, shared = static_cast<std::uint64_t>(kernel.shared_bytes) + shape.shared_bytes;
  std::uint64_t most = std::min<std::uint64_t>(model.limits.blocks_per_sm, model.limits.threads_per_sm / kLanes / warps);
  if (shared > 0) most = std::min(most, carveout / shared);
  const auto up = [](std::uint64_t count, std::uint64_t step) { return (count + step - 1) / step * step; };
  const std::uint64_t registers = up(kernel.registers, model.limits.register_step) * up(warps * kLanes, model.limits.register_threads);
  // Where their number is an estimate there are enough for one block: a compiler that is short of them spills.
  const std::uint64_t least = kernel.takes_all() ? 0 : std::min<std::uint64_t>(most, 1);
  if (registers > 0) most = std::clamp<std::uint64_t>(model.limits.registers_per_sm / registers, least, most);
  return static_cast<std::uint32_t>(most);
}

LaunchResult interpret(const LaunchContext& context, std::uint64_t start) {
  return Machine(context, start, blocks_per_sm(context.model, context.kernel, context.shape, context.carveout)).run();
}

}  // namespace gexp::sim
