// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "runtime/sim/machine.h"

// A warp of one thread while nothing else is due: a pointer chase, mostly. What it does meets nobody before the next event, so its place
// and its time stay in the host's registers. Where it has its SM for itself, its arithmetic meets nobody at all, and goes on until memory
// is accessed. All results and all times are those of Machine::advance.
namespace gexp::sim {
namespace {

std::uint64_t word_at(const std::byte* at, std::uint32_t bytes) {
  std::uint64_t value = 0;
  if (bytes == 4) std::memcpy(&value, at, 4);
  else std::memcpy(&value, at, 8);
  return value;
}

}  // namespace

/// Which loads may be alone, as far as the text tells.
void Machine::note_awaited() {
  const auto line = [&](std::size_t pc) { return (c_.code + pc * c_.model.pipeline.instruction_bytes) / fetch_line_; };
  for (std::size_t pc = 0; pc + 1 < code_.size(); ++pc) {
    const Instruction &i = code_[pc], &next = code_[pc + 1];
    const std::uint32_t loaded = i.data[0];
    Decoded& d = decoded_[pc];
    const bool needed = next.guard == kTrue && (next.a == loaded || next.b == loaded || next.c == loaded);
    d.awaited = i.kind == Kind::Load && i.count == 1 && loaded != kTrue && needed && (!fetches_ || line(pc) == line(pc + 1));
    if (d.awaited) d.to = loaded;
    const bool word = (i.space == Space::Global || i.space == Space::Generic) && (i.bytes == 4 || i.bytes == 8) && i.extend == 0;
    d.plain = d.awaited && word && i.allocates && !i.prefetches && c_.hierarchy.present(i.path);
  }
}

/// Which instructions a lone thread runs without asking what they are not. Its arithmetic never waits for a unit that is free again before
/// the thread's next instruction.
void Machine::note_lone() {
  for (std::size_t pc = 0; pc < code_.size(); ++pc) {
    Decoded& d = decoded_[pc];
    const bool never_waits = d.steps == 0 && d.unit < interval_.size() && d.interval <= static_cast<double>(issue_interval_);
    if (d.kind == Kind::Compute && never_waits) d.lone = Lone::Compute;
    if (d.kind == Kind::Branch) d.lone = Lone::Branch;
    if (d.kind == Kind::Special) d.lone = Lone::Clock;
    if (d.plain) d.lone = Lone::Load;
    const Instruction& i = code_[pc];
    const bool one = i.count == 1 && i.extend == 0 && i.beyond == 0 && !i.prefetches;
    if (one && i.space == Space::Shared && i.bytes <= 8 && (d.kind == Kind::Load || d.kind == Kind::Store)) d.lone = Lone::Access;
    const bool word = (i.space == Space::Global || i.space == Space::Generic) && (i.bytes == 4 || i.bytes == 8);
    if (one && word && d.kind == Kind::Store && i.allocates && c_.hierarchy.present(i.path)) d.lone = Lone::Access;
  }
}

/// Where a word of the device's memory lies that a plain load may read, or a plain store write; null: nowhere.
inline std::byte* Machine::lone_word(const Instruction& i, std::uint64_t address) const {
  if ((address & (i.bytes - 1u)) != 0 || DeviceMemory::where(address) != device::Where::Device) return nullptr;
  return c_.memory.find(address, i.bytes);
}

/// Where an element of the own block's shared memory lies; null: nowhere.
inline std::byte* Machine::lone_element(const Instruction& i, const Warp& w, std::uint64_t address) {
  std::vector<std::byte>& shared = blocks_[w.block].shared;
  if ((address & (i.bytes - 1u)) != 0 || address >= shared.size() || i.bytes > shared.size() - address) return nullptr;
  return shared.data() + address;
}

/// A store, or an access of shared memory, that issues at cycle `at`: its data, then its time.
inline void Machine::lone_access(std::uint32_t index, Warp& w, const Instruction& i, std::uint64_t address, std::byte* element, std::uint64_t at) {
  const auto lane = static_cast<std::size_t>(std::countr_zero(w.live));
  std::uint64_t& value = w.slot(i.data[0])[lane];
  if (i.kind == Kind::Store) std::memcpy(element, &value, i.bytes);
  else value = 0, std::memcpy(&value, element, i.bytes);
  if (i.space == Space::Shared) {
    const std::uint64_t cycles = memory_.shared(w.sm, i, addresses_, w.live, at);
    if (i.kind == Kind::Load) w.ready[i.data[0]] = at + cycles;
    return;
  }
  addresses_[lane] = address;
  memory_.store(index, addresses_, w.live, at);
}

/// Whether no unit that is free again before a warp's next instruction is taken at cycle `at`.
inline bool Machine::units_are_free(const Sm& sm, std::uint64_t at) const {
  for (std::size_t unit = 0; unit < interval_.size(); ++unit) {
    if (interval_[unit] <= static_cast<double>(issue_interval_) && sm.units[unit].free() > static_cast<double>(at)) return false;
  }
  return true;
}

/// advance(), until something is due, or it must be, or an instruction comes that is not for a lone thread.
void Machine::run_alone(std::uint32_t index, Warp& w) {
  const std::size_t width = w.width;
  std::uint64_t *const values = w.values.data() + std::countr_zero(w.live), *const ready = w.ready.data();
  Sm& sm = sms_[w.sm];
  std::uint64_t free = sm.schedulers[w.scheduler], next = w.next, issued = w.issued, done = 0;
  std::uint64_t due = events_.first(), until = is_ahead_ ? kNever : due;  // `until`: of what is no access
  std::uint32_t pc = w.pc;
  const Decoded* const decoded = decoded_.data();
  const Instruction* const code = code_.data();
  const bool fetches = fetches_;
  const std::uint64_t interval = issue_interval_;
  std::array<std::uint64_t, std::tuple_size_v<decltype(interval_)>> took{};  // when it took each unit last, and one
  if (!units_are_free(sm, next)) return;
  const std::uint64_t most = next_check_ - std::min(next_check_, instructions_);
  // When an instruction issues whose operands are there at `at`; what it does to the warp's time.
  const auto issue = [&](std::uint64_t at) {
    issued = std::max(at, free);
    next = free = issued + interval, ++done;
    if (is_ahead_) events_.go_on(issued);
    return issued;
  };
  while (done < most) {
    const Decoded& d = decoded[pc];
    if (d.lone == Lone::No) break;
    if (fetches) w.pc = pc, w.next = next, fetch(index, w), next = w.next;
    std::uint64_t at = next;
    if (d.guard != kTrue) {
      at = std::max(at, ready[d.guard]);
      if ((values[d.guard * width] != 0) == d.guard_not) {  // it does nothing but issue
        if (std::max(at, free) >= until) break;
        if (d.lone == Lone::Compute) took[d.unit] = at + 1;
        issue(at), ++pc;
        continue;
      }
    }
    at = std::max({at, ready[d.a], ready[d.b], ready[d.c]});
    if (std::max(at, free) >= until || ready[d.to] == kNever) break;
    const Instruction& i = code[pc];
    std::uint64_t* const to = values + d.to * width;
    if (d.lone == Lone::Compute) {
      if (ready[d.to] > at + d.latency) at = ready[d.to] - d.latency;
      if (at >= until) break;
      took[d.unit] = at + 1;
      at = issue(at);
      *to = d.scalar(i, values[d.a * width], values[d.b * width], values[d.c * width]);
      ready[d.to] = at + d.latency;
    } else if (d.lone == Lone::Load) {
      const std::uint64_t address = values[d.a * width] + static_cast<std::uint64_t>(i.offset);
      const std::byte* const word = due == kNever ? lone_word(i, address) : nullptr;
      if (!word) break;
      at = issue(at);
      expect_next(i, i.path, *to = word_at(word, i.bytes));
      ready[d.to] = memory_.lone_load(index, w, i, i.path, address, at);
    } else if (d.lone == Lone::Access) {
      const std::uint64_t address = values[d.a * width] + static_cast<std::uint64_t>(i.offset), there = ready[i.data[0]];
      std::byte* const element = i.space == Space::Shared ? lone_element(i, w, address) : lone_word(i, address);
      if (d.kind == Kind::Store) at = std::max(at, there);
      if (!element || std::max(at, free) >= due || there == kNever || !memory_.may_load(w)) break;
      at = issue(at);
      w.next = next;
      lone_access(index, w, i, address, element, at);
      next = w.next, due = events_.first(), until = is_ahead_ ? kNever : due;
    } else if (d.lone == Lone::Clock) {
      at = issue(at);
      *to = clock(i.special, w.sm, at) & i.mask;
      next = ready[d.to] = at + latency_[static_cast<std::size_t>(Cost::Clock)];
    } else {
      issue(at);
      pc = i.target;
      continue;
    }
    ++pc;
  }
  for (std::size_t unit = 0; unit < took.size(); ++unit) {
    if (took[unit] > 0) sm.units[unit].wait(static_cast<double>(took[unit] - 1), interval_[unit]);
  }
  instructions_ += done;
  sm.schedulers[w.scheduler] = free;
  w.pc = pc, w.next = next, w.issued = issued;
}

}  // namespace gexp::sim
