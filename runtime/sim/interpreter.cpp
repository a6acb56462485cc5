// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>

#include "runtime/sim/compute.h"
#include "runtime/sim/shared_memory.h"

// Lanes have program counters of their own; the group with the smallest one runs, so lanes that branched apart meet again at
// the first instruction that both reach. While one lane is left, or only one was started (a pointer chase), no lane loop runs.
namespace gexp::sim {
namespace {

constexpr std::uint32_t kLanes = 32;
std::atomic<std::uint64_t> all_instructions{0};

void count_instructions(std::uint64_t n) { all_instructions.fetch_add(n, std::memory_order_relaxed); }

constexpr std::uint64_t kCheckEvery = 1u << 20;  // instructions between looks at the wall clock and the interrupt flag

/// One warp. Registers are per lane, the scoreboard is the warp's: an instruction issues for all its lanes at once.
struct Warp {
  std::uint32_t live = 0;
  std::array<std::uint32_t, kLanes> pc{};
  std::vector<std::uint64_t> values;  ///< [lane * slots + slot]
  std::vector<std::uint64_t> ready;   ///< [slot]: cycle from which it can be used
  std::uint64_t next = 0;             ///< cycle at which the next instruction can issue
  std::vector<std::byte> local;       ///< [lane * local_bytes]
};

std::uint64_t read_element(const std::byte* at, std::uint32_t bytes) {
  std::uint64_t value = 0;
  switch (bytes) {
    case 4: { std::uint32_t v; std::memcpy(&v, at, 4); return v; }
    case 8: { std::memcpy(&value, at, 8); return value; }
    default: std::memcpy(&value, at, bytes); return value;
  }
}

class Machine {
 public:
  Machine(const LaunchContext& context, std::uint64_t start)
      : c_(context), code_(context.kernel.code), shared_timing_(context.model.shared, context.shape.bank_bytes) {
    shared_.resize(static_cast<std::size_t>(c_.kernel.shared_bytes) + c_.shape.shared_bytes);
    const Pipeline& p = c_.model.pipeline;
    latency_[static_cast<std::size_t>(Cost::Alu)] = p.alu;
    latency_[static_cast<std::size_t>(Cost::Multiply)] = p.multiply;
    latency_[static_cast<std::size_t>(Cost::Divide)] = p.divide;
    latency_[static_cast<std::size_t>(Cost::Clock)] = p.clock;
    issue_ = p.issue;
    if (c_.model.paths[static_cast<std::size_t>(LoadPath::Cg)].present) atomic_path_ = LoadPath::Cg;
    start_warp(start);
  }

  LaunchResult run() {
    while (warp_.live != 0 && !stopped_) step_group();
    count_instructions(instructions_);
    return {std::move(outcome_), warp_.next, instructions_};
  }

 private:
  void start_warp(std::uint64_t start);
  std::uint64_t preset_value(const Preset& preset, std::uint32_t lane) const;
  void step_group();
  template <bool One> void run_group(std::uint32_t mask, std::uint32_t pc, std::uint32_t limit);
  bool check();
  void fault(std::string what) {
    if (stopped_) return;
    stopped_ = true;
    outcome_.status = runtime::Outcome::Status::Fault;
    outcome_.what = std::move(what);
  }

  std::uint64_t* lane_values(std::uint32_t lane) { return warp_.values.data() + static_cast<std::size_t>(lane) * c_.kernel.slots; }
  Space space_of(const Instruction& i, std::uint64_t address) const {
    if (i.space != Space::Generic) return i.space;
    if (address - kSharedWindow < kWindowBytes) return Space::Shared;
    if (address - kLocalWindow < kWindowBytes) return Space::Local;
    return Space::Global;
  }
  /// The lanes' addresses into `addresses_` (a load may overwrite its address register), and the space of the first.
  Space gather(const Instruction& i, std::uint32_t mask) {
    each(mask, [&](std::uint32_t l) { addresses_[l] = lane_values(l)[i.a] + static_cast<std::uint64_t>(i.offset); });
    return space_of(i, addresses_[static_cast<std::size_t>(std::countr_zero(mask))]);
  }
  std::byte* locate(const Instruction& i, Space space, std::uint64_t address, std::uint32_t lane);
  std::uint32_t memory_latency(const Instruction& i, Space space, std::uint32_t mask);
  void read_lane(const Instruction& i, Space space, std::uint32_t lane);
  void write_lane(const Instruction& i, Space space, std::uint32_t lane);
  void atomic_lane(const Instruction& i, Space space, std::uint32_t lane);
  std::uint64_t special(Special which, std::uint64_t cycle) const;
  template <class F> void each(std::uint32_t mask, F f) {
    for (; mask != 0 && !stopped_; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
  }

  const LaunchContext& c_;
  const std::vector<Instruction>& code_;
  SharedTiming shared_timing_;
  std::vector<std::byte> shared_;
  std::array<std::uint32_t, 4> latency_{};
  std::uint32_t issue_ = 1;
  LoadPath atomic_path_ = LoadPath::Default;  // atomic operations are done at the L2
  Warp warp_;
  std::array<std::uint64_t, kLanes> addresses_{};
  bool stopped_ = false;
  runtime::Outcome outcome_;
  std::uint64_t instructions_ = 0;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

void Machine::start_warp(std::uint64_t start) {
  const std::uint32_t lanes = c_.shape.block, slots = c_.kernel.slots;
  warp_.live = lanes >= 32 ? ~0u : (1u << lanes) - 1;
  warp_.values.assign(static_cast<std::size_t>(lanes) * slots, 0);
  warp_.ready.assign(slots, 0);
  warp_.local.resize(static_cast<std::size_t>(lanes) * c_.kernel.local_bytes);
  warp_.next = start;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    lane_values(lane)[kTrue] = 1;
    for (const Preset& preset : c_.kernel.presets) lane_values(lane)[preset.slot] = preset_value(preset, lane);
  }
}

std::uint64_t Machine::preset_value(const Preset& preset, std::uint32_t lane) const {
  const bool x = preset.value == 0;
  switch (preset.what) {
    case Preset::What::Value: return preset.value;
    case Preset::What::Tid: return x ? lane : 0;
    case Preset::What::Ntid: return x ? c_.shape.block : 1;
    case Preset::What::Ctaid: return 0;
    case Preset::What::Nctaid: return 1;
    case Preset::What::LaneId: return lane;
    case Preset::What::WarpId: return 0;
    case Preset::What::SmId: return 0;
    case Preset::What::NSmId: return static_cast<std::uint64_t>(c_.model.sms);
    case Preset::What::LaneMask: {
      const std::uint64_t eq = 1ull << lane, lt = eq - 1;
      const std::uint64_t masks[] = {eq, lt, lt | eq, ~(lt | eq), ~lt};
      return masks[preset.value] & 0xffffffffu;
    }
    case Preset::What::SharedDynamic: return c_.shape.shared_bytes;
    case Preset::What::SharedTotal: return c_.kernel.shared_bytes + c_.shape.shared_bytes;
    case Preset::What::Global: return c_.globals[preset.value];
  }
  return 0;
}

void Machine::step_group() {
  std::uint32_t pc = ~0u, limit = ~0u, mask = 0;
  each(warp_.live, [&](std::uint32_t lane) { pc = std::min(pc, warp_.pc[lane]); });
  each(warp_.live, [&](std::uint32_t lane) {
    if (warp_.pc[lane] == pc) mask |= 1u << lane;
    else limit = std::min(limit, warp_.pc[lane]);
  });
  if (std::has_single_bit(mask)) run_group<true>(mask, pc, limit);
  else run_group<false>(mask, pc, limit);
}

/// Runs lanes that stand together at `pc` until they split, end, or come to `limit`, where others wait.
template <bool One> void Machine::run_group(std::uint32_t mask, std::uint32_t pc, std::uint32_t limit) {
  const std::uint32_t lane = static_cast<std::uint32_t>(std::countr_zero(mask));
  std::uint64_t* const own = lane_values(lane);
  std::uint64_t* const ready = warp_.ready.data();
  std::uint64_t next = warp_.next;
  const auto leave = [&] {
    warp_.next = next;
    for (std::uint32_t m = mask; m != 0; m &= m - 1) warp_.pc[static_cast<std::size_t>(std::countr_zero(m))] = pc;
  };
  while (true) {
    if (pc >= limit) return leave();
    if (++instructions_ % kCheckEvery == 0 && !check()) return leave();
    const Instruction& i = code_[pc];
    std::uint64_t issue = std::max(next, ready[i.guard]);
    std::uint32_t active = mask;
    if (i.guard != kTrue) {
      if constexpr (One) {
        if ((own[i.guard] != 0) == i.guard_not) active = 0;
      } else {
        active = 0;
        each(mask, [&](std::uint32_t l) { active |= static_cast<std::uint32_t>((lane_values(l)[i.guard] != 0) != i.guard_not) << l; });
      }
      if (active == 0) {
        next = issue + issue_;
        ++pc;
        continue;
      }
    }
    switch (i.kind) {
      case Kind::Compute: {
        const std::uint32_t latency = latency_[static_cast<std::size_t>(i.cost)];
        issue = std::max({issue, ready[i.a], ready[i.b], ready[i.c]});
        // Results of one register come in order: a load that is still under way is waited for.
        if (ready[i.to] > issue + latency) issue = ready[i.to] - latency;
        if constexpr (One) {
          own[i.to] = compute(i, own[i.a], own[i.b], own[i.c]);
        } else {
          each(active, [&](std::uint32_t l) {
            std::uint64_t* const v = lane_values(l);
            v[i.to] = compute(i, v[i.a], v[i.b], v[i.c]);
          });
        }
        ready[i.to] = issue + latency;
        next = issue + issue_;
        break;
      }
      case Kind::Special: {
        const std::uint64_t value = special(i.special, issue) & i.mask;
        each(active, [&](std::uint32_t l) { lane_values(l)[i.to] = value; });
        next = ready[i.to] = issue + latency_[static_cast<std::size_t>(Cost::Clock)];
        break;
      }
      case Kind::Branch:
        next = issue + issue_;
        if (One || active == mask) {
          pc = i.target;
          continue;
        }
        for (std::uint32_t m = mask; m != 0; m &= m - 1) {
          const auto l = static_cast<std::size_t>(std::countr_zero(m));
          warp_.pc[l] = active >> l & 1 ? i.target : pc + 1;
        }
        warp_.next = next;
        return;
      case Kind::Trap:
        return fault(fmt::format("a trap (PTX line {})", i.line));
      case Kind::Exit:
        next = issue + issue_;
        warp_.live &= ~active;
        mask &= ~active;
        if (mask == 0) return leave();
        break;
      case Kind::Load:
      case Kind::Atomic: {
        issue = std::max({issue, ready[i.a], ready[i.b], ready[i.c]});
        const Space space = gather(i, active);
        const std::uint32_t latency = memory_latency(i, space, active);
        if (i.kind == Kind::Load) each(active, [&](std::uint32_t l) { read_lane(i, space, l); });
        else each(active, [&](std::uint32_t l) { atomic_lane(i, space, l); });
        if (stopped_) return leave();
        if (i.kind == Kind::Atomic) {
          ready[i.to] = issue + latency;
        } else {
          for (std::size_t k = 0; k < i.count; ++k) {
            if (ready[i.data[k]] > issue + latency) issue = ready[i.data[k]] - latency;
          }
          for (std::size_t k = 0; k < i.count; ++k) ready[i.data[k]] = issue + latency;
        }
        next = issue + issue_;
        break;
      }
      case Kind::Store: {
        const Space space = gather(i, active);
        issue = std::max(issue, ready[i.a]);
        for (std::size_t k = 0; k < i.count; ++k) issue = std::max(issue, ready[i.data[k]]);
        each(active, [&](std::uint32_t l) { write_lane(i, space, l); });
        if (stopped_) return leave();
        next = issue + issue_;
        break;
      }
      case Kind::Texture: return fault(fmt::format("a texture load (PTX line {})", i.line));
      case Kind::Barrier:
      case Kind::Nothing: next = issue + issue_; break;
    }
    ++pc;
  }
}

bool Machine::check() {
  if (c_.interrupt && c_.interrupt->load(std::memory_order_relaxed)) {
    outcome_.status = runtime::Outcome::Status::Interrupted;
    outcome_.what = "interrupted";
    stopped_ = true;
  } else if (std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count() > c_.time_limit) {
    outcome_.status = runtime::Outcome::Status::Timeout;
    outcome_.what = fmt::format("the kernel was still running after {:g} s", c_.time_limit);
    stopped_ = true;
  }
  return !stopped_;
}

std::byte* Machine::locate(const Instruction& i, Space space, std::uint64_t address, std::uint32_t lane) {
  const std::uint32_t bytes = static_cast<std::uint32_t>(i.bytes) * i.count;
  const char* const what = i.kind == Kind::Store ? "store" : i.kind == Kind::Atomic ? "atomic operation" : "load";
  const auto describe = [&](const char* why) { fault(fmt::format("{} of {} B at 0x{:x} {} (PTX line {})", what, bytes, address, why, i.line)); };
  if (address % bytes != 0) return describe("is misaligned"), nullptr;
  const auto inside = [&](std::byte* begin, std::uint64_t offset, std::uint64_t size, const char* why) -> std::byte* {
    if (offset >= size || bytes > size - offset) return describe(why), nullptr;
    return begin + offset;
  };
  switch (space) {
    case Space::Shared: {
      const std::uint64_t offset = i.space == Space::Generic ? address - kSharedWindow : address & 0xffffffffu;
      return inside(shared_.data(), offset, shared_.size(), "is outside the block's shared memory");
    }
    case Space::Local: {
      const std::uint64_t offset = i.space == Space::Generic ? address - kLocalWindow : address;
      return inside(warp_.local.data() + static_cast<std::size_t>(lane) * c_.kernel.local_bytes, offset, c_.kernel.local_bytes, "is outside the thread's local memory");
    }
    case Space::Param:
      return inside(const_cast<std::byte*>(c_.parameters.data()), address, c_.parameters.size(), "is outside the kernel's parameters");
    default:
      if (std::byte* host = c_.memory.find(address, bytes)) return host;
      return describe(address < 4096 ? "is through a null pointer" : "is outside every allocation"), nullptr;
  }
}

/// Cycles until what the lanes of `mask` load from `addresses_` can be used.
std::uint32_t Machine::memory_latency(const Instruction& i, Space space, std::uint32_t mask) {
  const Pipeline& p = c_.model.pipeline;
  switch (space) {
    case Space::Param:
    case Space::Const: return p.constant;
    case Space::Local: return p.local;
    case Space::Shared: {
      if (std::has_single_bit(mask)) return shared_timing_.cycles(1);
      std::array<std::uint32_t, kLanes> offsets{};
      each(mask, [&](std::uint32_t l) { offsets[l] = static_cast<std::uint32_t>(addresses_[l]); });
      return shared_timing_.cycles(shared_timing_.ways(offsets, mask, static_cast<std::uint32_t>(i.bytes) * i.count));
    }
    default: break;
  }
  const LoadPath path = i.kind == Kind::Atomic ? atomic_path_ : i.path;
  if (!c_.model.paths[static_cast<std::size_t>(path)].present) {
    fault(fmt::format("the device has no load path of this kind (PTX line {})", i.line));
    return 0;
  }
  if (std::has_single_bit(mask)) return c_.hierarchy.load(path, addresses_[static_cast<std::size_t>(std::countr_zero(mask))]);
  // Lanes within one unit of the first cache share a transaction; further ones follow it through the pipe.
  const std::uint64_t unit = c_.hierarchy.unit(path);
  std::uint32_t worst = 0, count = 0;
  std::array<std::uint64_t, kLanes> seen{};
  each(mask, [&](std::uint32_t l) {
    const std::uint64_t block = addresses_[l] / unit;
    if (std::find(seen.begin(), seen.begin() + count, block) != seen.begin() + count) return;
    seen[count++] = block;
    worst = std::max(worst, c_.hierarchy.load(path, addresses_[l]));
  });
  return worst + (count - 1) * p.transaction;
}

void Machine::read_lane(const Instruction& i, Space space, std::uint32_t lane) {
  const std::byte* const at = locate(i, space, addresses_[lane], lane);
  if (!at) return;
  for (std::uint32_t k = 0; k < i.count; ++k) {
    std::uint64_t value = read_element(at + k * i.bytes, i.bytes);
    if (i.extend != 0 && (value & (i.mask ^ (i.mask >> 1))) != 0) value |= i.extend;
    lane_values(lane)[i.data[k]] = value;
  }
}

void Machine::write_lane(const Instruction& i, Space space, std::uint32_t lane) {
  std::byte* const at = locate(i, space, addresses_[lane], lane);
  if (!at) return;
  for (std::uint32_t k = 0; k < i.count; ++k) std::memcpy(at + k * i.bytes, &lane_values(lane)[i.data[k]], i.bytes);
  if (space == Space::Global) c_.hierarchy.store(addresses_[lane]);
}

void Machine::atomic_lane(const Instruction& i, Space space, std::uint32_t lane) {
  std::byte* const at = locate(i, space, addresses_[lane], lane);
  if (!at) return;
  std::uint64_t* const v = lane_values(lane);
  const std::uint64_t old = read_element(at, i.bytes), b = v[i.b];
  const auto extend = [&i](std::uint64_t x) { return static_cast<std::int64_t>(x << i.shift) >> i.shift; };
  std::uint64_t value = 0;
  switch (i.atomic) {
    case AtomicOp::Add: value = old + b; break;
    case AtomicOp::Exch: value = b; break;
    case AtomicOp::Cas: value = old == b ? v[i.c] : old; break;
    case AtomicOp::MinS: value = extend(old) < extend(b) ? old : b; break;
    case AtomicOp::MinU: value = std::min(old, b); break;
    case AtomicOp::MaxS: value = extend(old) > extend(b) ? old : b; break;
    case AtomicOp::MaxU: value = std::max(old, b); break;
    case AtomicOp::And: value = old & b; break;
    case AtomicOp::Or: value = old | b; break;
    case AtomicOp::Xor: value = old ^ b; break;
    case AtomicOp::Inc: value = old >= b ? 0 : old + 1; break;
    case AtomicOp::Dec: value = old == 0 || old > b ? b : old - 1; break;
  }
  std::memcpy(at, &value, i.bytes);
  v[i.to] = old;
}

std::uint64_t Machine::special(Special which, std::uint64_t cycle) const {
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

}  // namespace

std::uint64_t instructions_executed() { return all_instructions.load(std::memory_order_relaxed); }

LaunchResult interpret(const LaunchContext& context, std::uint64_t start) { return Machine(context, start).run(); }

}  // namespace gexp::sim
