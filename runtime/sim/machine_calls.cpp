// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/sim/machine.h"
#include "runtime/sim/observer.h"

// Functions: where lanes go, and what they take along.
namespace gexp::sim {
namespace {

// Of one thread: what a hostile text could fill the host's memory with.
constexpr std::size_t kMostFrames = 1u << 12, kMostKept = 1u << 15;
constexpr std::uint64_t kKeptLook = 1u << 22;  // words between looks at the host's memory

}  // namespace

/// Registers move as they are; bytes of local memory are copied, as many as both have.
void Machine::pass(Warp& w, std::uint32_t lane, const Passed& from, const Passed& to) {
  std::byte* const local = w.local.data() + static_cast<std::size_t>(lane) * c_.kernel.local_bytes;
  std::uint64_t& source = w.slot(from.slot)[lane];
  std::uint64_t& target = w.slot(to.slot)[lane];
  if (from.bytes == 0 && to.bytes == 0) target = source;
  else if (from.bytes == 0) std::memcpy(local + target, &source, std::min(8u, to.bytes));
  else if (to.bytes == 0) target = 0, std::memcpy(&target, local + source, std::min(8u, from.bytes));
  else std::memmove(local + target, local + source, std::min(from.bytes, to.bytes));
  w.ready[to.slot] = std::max(w.ready[to.slot], w.next);
}

/// False: the thread's stack is full, or the call does not fit the function; the machine has stopped.
bool Machine::enter(Warp& w, const Instruction& i, const Call& call, std::uint32_t function, std::uint32_t lane) {
  const Function& to = c_.kernel.functions[function];
  CallStack& stack = w.stacks[lane];
  const std::uint64_t base = (stack.top + 15) / 16 * 16, top = base + (to.frame_bytes + 15) / 16 * 16;
  if (top > c_.kernel.local_bytes && to.frame_bytes > 0) return fault(fmt::format("the stack of a thread overflows ({})", place_of(c_.kernel, i))), false;
  if (stack.frames.size() >= kMostFrames || stack.kept.size() + to.slots.size() > kMostKept)
    return fault(fmt::format("calls are nested too deeply ({})", place_of(c_.kernel, i))), false;
  if (call.arguments.size() != to.parameters.size() || call.results.size() != to.results.size())
    return fault(fmt::format("a call that does not fit '{}' ({})", to.name, place_of(c_.kernel, i))), false;
  stack.frames.push_back({i.list, function, w.pc + 1, stack.top});
  // Arguments may be of this very function, when it calls itself: they are taken first.
  std::vector<std::uint64_t> values;
  for (const Passed& p : call.arguments) values.push_back(w.slot(p.slot)[lane]);
  for (const std::uint32_t slot : to.slots) stack.kept.push_back(w.slot(slot)[lane]);
  for (const Function::Local& local : to.locals) w.slot(local.slot)[lane] = base + local.offset;
  stack.top = top;
  for (std::size_t k = 0; k < values.size(); ++k) {
    // A value on its way stands in the constant's slot for a moment.
    std::uint64_t& between = w.slot(kTrue)[lane];
    between = values[k];
    pass(w, lane, {kTrue, call.arguments[k].bytes}, to.parameters[k]);
    between = 1;
  }
  kept_ += to.slots.size();
  return true;
}

Machine::Step Machine::call(Warp& w, const Instruction& i, std::uint32_t active) {
  const Call& call = c_.kernel.calls[i.list];
  if (call.function == Call::kPrint) return print(w, i, call, active);
  const std::uint64_t* const pointer = w.slot(i.a);
  each_lane(w.mask, [&](std::uint32_t lane) { w.pcs[lane] = w.pc + 1; });
  if (stack_) part(w, 0, w.pc + 1);
  for (std::uint32_t left = active; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint64_t function = call.function == Call::kIndirect ? pointer[lane] - kFunctionWindow : call.function;
    if (function >= c_.kernel.functions.size()) return fault(fmt::format("a call through what is no function ({})", place_of(c_.kernel, i)));
    if (!enter(w, i, call, static_cast<std::uint32_t>(function), lane)) return Step::Leave;
    w.pcs[lane] = c_.kernel.functions[function].entry;
  }
  if (kept_ > kKeptLook) {
    kept_ = 0;
    if (!check(i, w.next)) return Step::Leave;
  }
  return Step::Regroup;
}

/// alloca gives the end of the stack, which grows towards higher addresses, and moves it.
Machine::Step Machine::move_stack(Warp& w, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  for (std::uint32_t left = active; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint64_t most = c_.kernel.local_bytes, asked = w.slot(i.a)[lane] & i.mask, align = static_cast<std::uint64_t>(i.offset);
    CallStack& stack = w.stacks[lane];
    const std::uint64_t begin = i.moves ? asked : (stack.top + align - 1) / align * align, bytes = i.moves ? 0 : asked;
    if (i.moves && (asked < c_.kernel.stack_begin || asked > most)) return fault(fmt::format("a stack that ends at 0x{:x} ({})", asked, place_of(c_.kernel, i)));
    if (begin > most || bytes > most - begin) return fault(fmt::format("the stack of a thread overflows ({})", place_of(c_.kernel, i)));
    stack.top = begin + bytes;
    if (!i.moves) w.slot(i.to)[lane] = begin;
  }
  if (!i.moves) w.ready[i.to] = issue + latency_[static_cast<std::size_t>(Cost::Alu)];
  return Step::Next;
}

/// vprintf, lane by lane. It takes no more than the instruction: what a device does for it is not modelled.
Machine::Step Machine::print(Warp& w, const Instruction& i, const Call& call, std::uint32_t active) {
  for (std::uint32_t left = active; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    std::byte* const local = w.local.data() + static_cast<std::size_t>(lane) * c_.kernel.local_bytes;
    const auto given = [&](const Passed& passed) {
      std::uint64_t value = w.slot(passed.slot)[lane];
      if (passed.bytes > 0) std::memcpy(&value, local + std::exchange(value, 0), std::min(8u, passed.bytes));
      return value;
    };
    auto text = data_.printed(i, w, blocks_[w.block], lane, given(call.arguments[0]), given(call.arguments[1]));
    if (!text) return fault(data_.fault());
    const Passed& result = call.results[0];
    std::uint64_t& slot = w.slot(result.slot)[lane];
    const std::uint32_t values = text->values;
    if (result.bytes > 0) std::memcpy(local + slot, &values, std::min(4u, result.bytes));
    else slot = values, w.ready[result.slot] = w.next;
    if (c_.observer) c_.observer->printed(text->text);
  }
  if (!check(i, w.next)) return Step::Leave;  // one call may take as long as many other instructions
  return Step::Next;
}

Machine::Step Machine::come_back(Warp& w, const Instruction&, std::uint32_t active) {
  each_lane(w.mask & ~active, [&](std::uint32_t lane) { w.pcs[lane] = w.pc + 1; });
  each_lane(active, [&](std::uint32_t lane) {
    CallStack& stack = w.stacks[lane];
    const CallStack::Frame frame = stack.frames.back();
    stack.frames.pop_back();
    const Function& from = c_.kernel.functions[frame.function];
    const Call& call = c_.kernel.calls[frame.call];
    std::vector<std::uint64_t> values;
    for (const Passed& p : from.results) values.push_back(w.slot(p.slot)[lane]);
    const std::size_t first = stack.kept.size() - from.slots.size();
    for (std::size_t k = 0; k < from.slots.size(); ++k) w.slot(from.slots[k])[lane] = stack.kept[first + k];
    stack.kept.resize(first);
    stack.top = frame.begin;  // and with it goes what alloca gave
    for (std::size_t k = 0; k < values.size(); ++k) {
      std::uint64_t& between = w.slot(kTrue)[lane];
      between = values[k];
      pass(w, lane, {kTrue, from.results[k].bytes}, call.results[k]);
      between = 1;
    }
    w.pcs[lane] = frame.back;
  });
  return Step::Regroup;
}

}  // namespace gexp::sim
