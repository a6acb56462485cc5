// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/sim/machine.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/phases.h"

// Loads, stores and atomic operations: their data first, then their time.
namespace gexp::sim {
namespace {

constexpr std::uint64_t kLocalBase = 1ull << 50;  // of local memory among the addresses that caches see

}  // namespace

Machine::Step Machine::access(std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  const Space space = i.kind == Kind::Texture || i.beyond != 0 ? Space::Global : data_.gather(i, warps_[index], active, addresses_);
  const std::uint64_t passes = memory_.passes();
  turns_ = 0;
  // Each lane may touch a page of the host's memory: what 32 lanes fill is looked at as often as what 32 instructions do.
  next_check_ -= std::min<std::uint64_t>(next_check_, static_cast<std::uint64_t>(std::popcount(active)));
  const bool block = i.kind == Kind::Matrix || i.kind == Kind::Copy;
  const Step step = block ? access_block(index, i, active, issue) : access_in(space, index, i, active, issue);
  if (c_.observer) {
    const Space read = i.kind == Kind::Matrix ? Space::Shared : i.kind == Kind::Copy ? Space::Global : space;
    c_.observer->accessed(read, i.kind, memory_.passes() - passes, turns_);
    if (step != Step::Next && !stopped_) c_.observer->stalled(index);
  }
  return step;
}

/// Of what a prefetch asks for, the lanes whose address is one of an allocation. False: none is.
bool Machine::prefetched(Space space, std::uint32_t& active) {
  if (space != Space::Global) return false;
  each_lane(active, [&](std::uint32_t lane) {
    if (!c_.memory.find(addresses_[lane], 1)) active &= ~(1u << lane);
  });
  return active != 0;
}

/// Cycles by which lanes that update one address make an atomic operation later than if each had its own.
std::uint64_t Machine::conflicts(Space space, std::uint32_t active) {
  const double each = space == Space::Shared ? c_.model.atomics.shared : c_.model.atomics.global;
  if (each <= 0 || one_lane(active)) return 0;
  std::uint32_t most = 1;
  for (std::uint32_t left = active; left != 0;) {
    const std::uint64_t address = addresses_[static_cast<std::size_t>(std::countr_zero(left))];
    std::uint32_t same = 0;
    each_lane(left, [&](std::uint32_t lane) { same |= static_cast<std::uint32_t>(addresses_[lane] == address) << lane; });
    most = std::max(most, static_cast<std::uint32_t>(std::popcount(same)));
    left &= ~same;
  }
  turns_ = most - 1;
  return static_cast<std::uint64_t>(std::llround((most - 1) * each));
}

/// Of global, shared and other memory, by lanes of their own: the data first, then the time.
Machine::Step Machine::access_in(Space space, std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  Warp& w = warps_[index];
  Block& block = blocks_[w.block];
  if (i.prefetches && !prefetched(space, active)) return Step::Next;
  const bool placed = i.kind == Kind::Texture || i.beyond != 0;  // by coordinates
  if (space == Space::Global && !placed && !i.prefetches && far(active) && waits_for_pages(w, active, issue)) return Step::Jumped;
  corners_.clear();
  const bool good = i.beyond != 0             ? data_.surface(i, w, active, addresses_)
                    : i.kind == Kind::Load    ? data_.read(i, space, w, block, active, addresses_)
                    : i.kind == Kind::Store   ? data_.write(i, space, w, block, active, addresses_)
                    : i.kind == Kind::Texture ? data_.texels(i, w, active, addresses_, corners_)
                                              : data_.atomic(i, space, w, block, active, addresses_);
  if (!good) return fault(data_.fault());
  if (active == 0) return Step::Next;  // all outside of a surface

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
    case Space::Shared: {
      const std::uint64_t later = i.kind == Kind::Atomic ? conflicts(space, active) : 0;
      return result_in(memory_.shared(w.sm, i, addresses_, active, issue) + later + way_to_others(w, active, issue));
    }
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
  if (space == Space::Global && far(active) && !over_bus(i, active, path)) return Step::Leave;
  if (path != LoadPath::Host && path != LoadPath::Peer && !i.allocates && !held(path, w.sm, active) && c_.hierarchy.present(LoadPath::Cg)) path = LoadPath::Cg;
  if (i.prefetches && !c_.hierarchy.present(path)) path = LoadPath::Default;
  if (!c_.hierarchy.present(path)) return fault(fmt::format("the device has no path for such an access ({})", place_of(c_.kernel, i)));
  if (i.kind == Kind::Store) {
    if (space != Space::Const) memory_.store(index, addresses_, active, issue);
    return Step::Next;
  }
  if (i.kind == Kind::Load && i.count == 1 && one_lane(active)) expect_next(i, path, w.slot(i.data[0])[std::countr_zero(active)]);
  if (alone(w, decoded_[w.pc].awaited, active)) {
    const std::uint64_t ready =
        memory_.lone_load(index, w, i, path, addresses_[static_cast<std::size_t>(std::countr_zero(active))], issue);
    return result_in(ready - issue);
  }
  memory_.load(index, i, path, addresses_, active, issue + (i.kind == Kind::Atomic ? conflicts(space, active) : 0), corners_);
  if (w.state != Warp::State::Stalled) return Step::Next;
  ++w.pc;
  return Step::Leave;
}

/// Cycles by which an access of another block's shared memory is later than one of the own.
std::uint64_t Machine::way_to_others(const Warp& w, std::uint32_t active, std::uint64_t issue) {
  const std::uint32_t own = blocks_[w.block].rank + 1;
  std::uint32_t others = 0;
  each_lane(active, [&](std::uint32_t lane) {
    const auto rank = static_cast<std::uint32_t>(addresses_[lane] & 0xffffffffu) >> kRankShift;
    others += rank != 0 && rank != own;
  });
  if (others == 0) return 0;
  const ClusterModel& model = c_.model.clusters;
  const double bytes = std::max(32.0, others * 4.0);  // whole sectors
  const double wait = model.bandwidth > 0 ? sms_[w.sm].others.wait(static_cast<double>(issue), bytes / model.bandwidth) : 0;
  return static_cast<std::uint64_t>(std::llround(std::max(0.0, model.latency - c_.model.shared.cycles.front()) + wait));
}

bool Machine::far(std::uint32_t active) const {
  bool some = false;
  each_lane(active, [&](std::uint32_t lane) { some |= DeviceMemory::where(addresses_[lane]) != device::Where::Device; });
  return some;
}

/// Pages of managed memory come before an access of the warp does anything: it is issued again once they are there.
bool Machine::waits_for_pages(Warp& w, std::uint32_t active, std::uint64_t issue) {
  if (c_.model.managed.page == 0) return false;
  std::uint64_t there = 0;
  each_lane(active, [&](std::uint32_t lane) {
    if (DeviceMemory::where(addresses_[lane]) == device::Where::Managed) there = std::max(there, c_.hierarchy.page_there(addresses_[lane], issue));
  });
  if (there <= issue) return false;
  w.next = std::max(w.next, there);
  return true;
}

/// Takes an access of global memory to the bus, or to the link, where its lanes' addresses are the host's or a peer's. False: only some
/// are, which is a fault.
bool Machine::over_bus(const Instruction& i, std::uint32_t active, LoadPath& path) {
  std::uint32_t on_host = 0, on_peer = 0;
  each_lane(active, [&](std::uint32_t lane) {
    const auto where = DeviceMemory::where(addresses_[lane]);
    on_host |= static_cast<std::uint32_t>(where == device::Where::Host) << lane;
    on_peer |= static_cast<std::uint32_t>(where == device::Where::Peer) << lane;
  });
  if ((on_host | on_peer) == 0) return true;
  path = on_host != 0 ? LoadPath::Host : LoadPath::Peer;
  if (on_host == active || on_peer == active) return true;
  const char* const whose = on_host == 0 ? "a peer's memory and the device's" : on_peer == 0 ? "the host's memory and the device's" : "the host's memory and a peer's";
  fault(fmt::format("lanes of one warp access {} at once, whose time is not simulated ({})", whose, place_of(c_.kernel, i)));
  return false;
}

/// Whether the SM's caches of a path have what some lane reads.
bool Machine::held(LoadPath path, std::uint32_t sm, std::uint32_t active) const {
  if (!c_.hierarchy.present(path)) return false;
  bool some = false;
  each_lane(active, [&](std::uint32_t lane) { some = some || c_.hierarchy.holds(path, sm, c_.hierarchy.piece(path, addresses_[lane])); });
  return some;
}

/// By which path a bulk copy reaches what it reads or writes, from addresses_ on. A step where it does not yet: that is what comes of it
/// instead.
std::optional<Machine::Step> Machine::kept_from(std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue,
                                                LoadPath& path) {
  Warp& w = warps_[index];
  if (!far(active)) return std::nullopt;
  bool waits = false;
  const Addresses begins = addresses_;
  for (std::uint64_t at = 0, most = 0; at <= most; at += c_.model.managed.page) {  // each page that it touches
    each_lane(active, [&](std::uint32_t lane) {
      const std::uint64_t last = std::max<std::uint64_t>(w.slot(i.c)[lane] & 0xffffffffu, 1) - 1;
      most = std::max(most, last), addresses_[lane] = begins[lane] + std::min(at, last);
    });
    waits = waits_for_pages(w, active, issue) || waits;
    if (c_.model.managed.page == 0) break;
  }
  addresses_ = begins;
  if (waits) return Step::Jumped;
  if (!over_bus(i, active, path)) return Step::Leave;
  return std::nullopt;
}

/// The data go at once; the time is that of stores of so many sectors.
Machine::Step Machine::bulk_store(std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  Warp& w = warps_[index];
  const Addresses from = addresses_;
  each_lane(active, [&](std::uint32_t lane) { addresses_[lane] = w.slot(i.b)[lane] + i.extend; });
  LoadPath path = i.path;
  if (const auto step = kept_from(index, i, active, issue, path)) return *step;
  const Addresses to = addresses_;
  const std::uint64_t sector = c_.hierarchy.store_sector();
  for (std::uint32_t left = active; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const auto bytes = static_cast<std::uint32_t>(w.slot(i.c)[lane]);
    if (!data_.bulk_store(i, w, blocks_[w.block], lane, from[lane], to[lane], bytes)) return fault(data_.fault());
    const std::uint64_t end = to[lane] + bytes;
    for (std::uint64_t at = to[lane] / sector * sector; at < end;) {
      std::uint32_t mask = 0;
      for (std::uint32_t k = 0; k < kLanes && at < end; ++k, at += sector) addresses_[k] = at, mask |= 1u << k;
      memory_.store(index, addresses_, mask, issue);
    }
  }
  return Step::Next;
}

/// The data come at once, and the barrier is told when the time of all lines is over.
Machine::Step Machine::bulk_copy(std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  Warp& w = warps_[index];
  const Addresses to = addresses_;
  each_lane(active, [&](std::uint32_t lane) { addresses_[lane] = w.slot(i.b)[lane] + i.extend; });
  LoadPath path = c_.hierarchy.present(i.path) ? i.path : LoadPath::Default;
  if (const auto step = kept_from(index, i, active, issue, path)) return *step;
  for (std::uint32_t left = active; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const auto bytes = static_cast<std::uint32_t>(w.slot(i.c)[lane]);
    std::byte* const barrier = data_.bulk(i, w, blocks_[w.block], lane, to[lane], addresses_[lane], bytes);
    if (!barrier) return fault(data_.fault());
    copies_[memory_.bulk(index, i, path, addresses_[lane], bytes, issue)] = {w.block, blocks_[w.block].id, barrier, bytes};
  }
  return Step::Next;
}

/// As a bulk copy of each of its rows. What lies outside is there at once.
Machine::Step Machine::tile_copy(std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  Warp& w = warps_[index];
  const Addresses to = addresses_;
  const LoadPath path = c_.hierarchy.present(i.path) ? i.path : LoadPath::Default;
  for (std::uint32_t left = active; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    LaneMemory::TileCopy copy;
    if (!data_.tile(i, w, blocks_[w.block], lane, to[lane], copy)) return fault(data_.fault());
    for (const auto& [from, bytes] : copy.rows) {
      copies_[memory_.bulk(index, i, path, from, bytes, issue)] = {w.block, blocks_[w.block].id, copy.barrier, bytes};
    }
    if (copy.zeros > 0) tell({w.block, blocks_[w.block].id, copy.barrier, copy.zeros});
  }
  return Step::Next;
}

void Machine::end_copy(std::uint32_t copy) {
  const BulkCopy told = copies_.at(copy);
  copies_.erase(copy);
  tell(told);
}

void Machine::tell(const BulkCopy& told) {
  const Block& block = blocks_[told.block];
  if (block.live == 0 || block.id != told.id) return;
  std::uint64_t value = 0;
  std::memcpy(&value, told.barrier, sizeof value);
  value = phase_step(AtomicOp::PhaseBytes, value, told.bytes).value;
  std::memcpy(told.barrier, &value, sizeof value);
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
  if (i.stores) return bulk_store(index, i, active, issue);
  if (i.bulk) return i.tile ? tile_copy(index, i, active, issue) : bulk_copy(index, i, active, issue);
  if (!data_.copy(i, w, block, active, addresses_)) return fault(data_.fault());
  LoadPath path = i.path;
  if (far(active)) {
    if (waits_for_pages(w, active, issue)) return Step::Jumped;
    if (!over_bus(i, active, path)) return Step::Leave;
  }
  if (!c_.hierarchy.present(path)) return fault(fmt::format("the device has no path for such an access ({})", place_of(c_.kernel, i)));
  memory_.load(index, i, path, addresses_, active, issue);
  if (w.state != Warp::State::Stalled) return Step::Next;
  ++w.pc;
  return Step::Leave;
}

}  // namespace gexp::sim
