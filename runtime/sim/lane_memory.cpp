// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/lane_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/device/backend.h"
#include "runtime/sim/compute.h"
#include "runtime/sim/phases.h"

namespace gexp::sim {
namespace {

std::uint64_t read_element(const std::byte* at, std::uint32_t bytes) {
  std::uint64_t value = 0;
  switch (bytes) {
    case 4: { std::uint32_t v; std::memcpy(&v, at, 4); return v; }
    case 8: { std::memcpy(&value, at, 8); return value; }
    default: std::memcpy(&value, at, bytes); return value;
  }
}

/// Of 4 or 8 bytes.
void write_element(std::byte* at, std::uint64_t value, std::uint32_t bytes) {
  if (bytes == 4) std::memcpy(at, &value, 4);
  else std::memcpy(at, &value, 8);
}

Space space_of(const Instruction& i, std::uint64_t address) {
  if (i.space != Space::Generic) return i.space;
  if (address - kSharedWindow < kWindowBytes) return Space::Shared;
  if (address - kLocalWindow < kWindowBytes) return Space::Local;
  if (address - kParamWindow < kWindowBytes) return Space::Param;
  return Space::Global;
}

const char* verb(Kind kind) {
  switch (kind) {
    case Kind::Store: return "store";
    case Kind::Atomic: return "atomic operation";
    case Kind::Texture: return "texture fetch";
    case Kind::Matrix: return "row of a matrix";
    case Kind::Copy: return "copy";
    default: return "load";
  }
}

/// Atomic sums of f32 flush subnormals in global memory, and keep them in shared memory; those of halves are .noftz.
std::uint64_t sum(const Instruction& i, Space space, std::uint64_t a, std::uint64_t b) {
  Instruction plain = i;
  plain.flush = i.type == Type::F32 && space != Space::Shared;
  return compute(Op::FAdd, plain, a, b, 0);
}

/// What an atomic operation that needs nothing but the value there and another makes of them.
std::uint64_t updated(const Instruction& i, Space space, std::uint64_t old, std::uint64_t b) {
  const auto extend = [&i](std::uint64_t x) { return static_cast<std::int64_t>(x << i.shift) >> i.shift; };
  switch (i.atomic) {
    case AtomicOp::Add: return old + b;
    case AtomicOp::MinS: return extend(old) < extend(b) ? old : b;
    case AtomicOp::MinU: return std::min(old, b);
    case AtomicOp::MaxS: return extend(old) > extend(b) ? old : b;
    case AtomicOp::MaxU: return std::max(old, b);
    case AtomicOp::And: return old & b;
    case AtomicOp::Or: return old | b;
    case AtomicOp::Xor: return old ^ b;
    case AtomicOp::FAdd: return sum(i, space, old, b);
    case AtomicOp::Inc: return old >= b ? 0 : old + 1;
    case AtomicOp::Dec: return old == 0 || old > b ? b : old - 1;
    default: return b;
  }
}

}  // namespace

void LaneMemory::update(const Instruction& i, std::uint64_t value, std::byte* at) {
  const std::uint64_t made = updated(i, Space::Global, read_element(at, i.bytes), value) & i.mask;
  std::memcpy(at, &made, i.bytes);
}

Space LaneMemory::gather(const Instruction& i, Warp& warp, std::uint32_t mask, Addresses& addresses) const {
  const std::uint64_t* const base = warp.slot(i.a);
  each_lane(mask, [&](std::uint32_t lane) { addresses[lane] = base[lane] + static_cast<std::uint64_t>(i.offset); });
  return space_of(i, addresses[static_cast<std::size_t>(std::countr_zero(mask))]);
}

std::byte* LaneMemory::locate(const Instruction& i, Space space, Warp& warp, Block& block, std::uint64_t address, std::uint32_t lane,
                              std::uint32_t bytes) {
  const auto describe = [&](const char* why) -> std::byte* {
    fault_ = fmt::format("{} of {} B at 0x{:x} {} ({})", verb(i.kind), bytes, address, why, place_of(c_.kernel, i));
    return nullptr;
  };
  const auto inside = [&](std::byte* begin, std::uint64_t offset, std::uint64_t size, const char* why) -> std::byte* {
    return offset >= size || bytes > size - offset ? describe(why) : begin + offset;
  };
  if ((address & (bytes - 1)) != 0) return describe("is misaligned");  // elements are powers of two
  // Lanes of one generic access may be in several spaces; how long it takes follows from that of the first.
  switch (i.space == Space::Generic ? space_of(i, address) : space) {
    case Space::Shared: {
      const std::uint64_t offset = i.space == Space::Generic ? address - kSharedWindow : address & 0xffffffffu;
      const std::uint64_t rank = offset >> kRankShift;
      if (rank == 0) return inside(block.shared.data(), offset, block.shared.size(), "is outside the block's shared memory");
      if (rank > block.cluster.size()) return describe("is in a block that the cluster does not have");
      Block& other = *block.cluster[rank - 1];
      if (other.live == 0) return describe("is in a block that has ended");
      return inside(other.shared.data(), offset & ((1u << kRankShift) - 1), other.shared.size(), "is outside the other block's shared memory");
    }
    case Space::Local:
    case Space::Frame: {
      const std::uint64_t offset = i.space == Space::Generic ? address - kLocalWindow : address;
      return inside(warp.local.data() + static_cast<std::size_t>(lane) * c_.kernel.local_bytes, offset, c_.kernel.local_bytes,
                    "is outside the thread's local memory");
    }
    case Space::Param: {
      if (i.kind == Kind::Atomic || i.kind == Kind::Store) return describe("is to a parameter");
      const std::uint64_t offset = i.space == Space::Generic ? address - kParamWindow : address;
      return inside(const_cast<std::byte*>(c_.parameters.data()), offset, c_.parameters.size(), "is outside the kernel's parameters");
    }
    default:
      if (std::byte* host = c_.memory.find(address, bytes)) return host;
      return describe(address < 4096 ? "is through a null pointer" : "is outside every allocation");
  }
}

LaneMemory::Span LaneMemory::together(const Instruction& i, Space space, Block& block, std::uint32_t mask, const Addresses& addresses) {
  std::uint64_t least = ~0ull, most = 0, all = 0;
  each_lane(mask, [&](std::uint32_t lane) {
    least = std::min(least, addresses[lane]), most = std::max(most, addresses[lane]);
    all |= addresses[lane];
  });
  if ((all & (i.bytes - 1u)) != 0) return {};
  if (space == Space::Global) return {c_.memory.find(least, most - least + i.bytes), least};
  if (space != Space::Shared || i.space == Space::Generic || most >= block.shared.size() || i.bytes > block.shared.size() - most) return {};
  return {block.shared.data(), 0};
}

bool LaneMemory::read(const Instruction& i, Space space, Warp& warp, Block& block, std::uint32_t mask, const Addresses& addresses) {
  if (i.count == 1 && i.extend == 0 && (i.bytes == 4 || i.bytes == 8)) {
    if (const Span span = together(i, space, block, mask, addresses); span.host) {
      std::uint64_t* const to = warp.slot(i.data[0]);
      each_lane(mask, [&](std::uint32_t lane) { to[lane] = read_element(span.host + (addresses[lane] - span.begin), i.bytes); });
      return true;
    }
  }
  const std::uint32_t bytes = static_cast<std::uint32_t>(i.bytes) * i.count;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    const std::byte* const at = locate(i, space, warp, block, addresses[lane], lane, bytes);
    if (!at) return false;
    for (std::uint32_t k = 0; k < i.count; ++k) {
      std::uint64_t value = read_element(at + k * i.bytes, i.bytes);
      if (i.extend != 0 && (value & (i.mask ^ (i.mask >> 1))) != 0) value |= i.extend;
      warp.slot(i.data[k])[lane] = value;
    }
  }
  return true;
}

bool LaneMemory::write(const Instruction& i, Space space, Warp& warp, Block& block, std::uint32_t mask, const Addresses& addresses) {
  if (i.count == 1 && (i.bytes == 4 || i.bytes == 8)) {
    if (const Span span = together(i, space, block, mask, addresses); span.host) {
      const std::uint64_t* const from = warp.slot(i.data[0]);
      each_lane(mask, [&](std::uint32_t lane) { write_element(span.host + (addresses[lane] - span.begin), from[lane], i.bytes); });
      return true;
    }
  }
  const std::uint32_t bytes = static_cast<std::uint32_t>(i.bytes) * i.count;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    std::byte* const at = locate(i, space, warp, block, addresses[lane], lane, bytes);
    if (!at) return false;
    for (std::uint32_t k = 0; k < i.count; ++k) std::memcpy(at + k * i.bytes, &warp.slot(i.data[k])[lane], i.bytes);
  }
  return true;
}

/// Of 128 bits: an exchange, or one where both halves are what was expected.
static void atomic_wide(const Instruction& i, Warp& warp, std::uint32_t lane, std::byte* at) {
  const auto held = [&](std::uint32_t slot) -> std::uint64_t& { return warp.slot(slot)[lane]; };
  const std::uint64_t low = read_element(at, 8), high = read_element(at + 8, 8);
  const bool expected = low == held(i.b) && high == held(i.data[1]);
  if (i.atomic == AtomicOp::Exch || expected) {
    const std::array<std::uint64_t, 2> made{held(i.atomic == AtomicOp::Exch ? i.b : i.c), held(i.data[i.atomic == AtomicOp::Exch ? 1 : 2])};
    std::memcpy(at, made.data(), sizeof made);
  }
  held(i.to) = low, held(i.data[0]) = high;
}

bool LaneMemory::atomic(const Instruction& i, Space space, Warp& warp, Block& block, std::uint32_t mask, const Addresses& addresses) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    std::byte* const at = locate(i, space, warp, block, addresses[lane], lane, i.bytes);
    if (!at) return false;
    if (i.bytes == 16) {
      atomic_wide(i, warp, lane, at);
      continue;
    }
    const std::uint64_t old = read_element(at, i.bytes), b = warp.slot(i.b)[lane];
    std::uint64_t value = 0, result = old;
    if (i.atomic == AtomicOp::Cas) {
      value = old == b ? warp.slot(i.c)[lane] : old;
    } else if (i.atomic >= AtomicOp::PhaseInit) {
      const PhaseStep step = phase_step(i.atomic, old, b);
      value = step.value, result = step.result;
    } else {
      value = updated(i, space, old, b);
    }
    value &= i.mask;
    std::memcpy(at, &value, i.bytes);
    warp.slot(i.to)[lane] = result;
  }
  return true;
}

bool LaneMemory::matrix(const Instruction& i, Warp& warp, Block& block, std::uint32_t& mask, Addresses& addresses) {
  constexpr std::uint32_t kRows = 8, kRowBytes = 16;
  // Lanes 8m to 8m + 7 name the rows of matrix m.
  std::array<std::byte*, kLanes> rows{};
  const std::uint32_t named = kRows * i.count, all = named == kLanes ? ~0u : (1u << named) - 1;
  if ((all & ~mask) != 0 || mask != ~0u) return fails(i, "a matrix instruction that not all lanes of a warp run");
  for (std::uint32_t lane = 0; lane < named; ++lane) {
    const Space space = space_of(i, addresses[lane]);
    if (space != Space::Shared) return fails(i, fmt::format("a row of a matrix at 0x{:x} is not in shared memory", addresses[lane]));
    rows[lane] = locate(i, space, warp, block, addresses[lane], lane, kRowBytes);
    if (!rows[lane]) return false;
  }
  // A lane has two neighbours of a row; transposed, of a column.
  const bool transposed = i.extend != 0;
  for (std::uint32_t m = 0; m < i.count; ++m) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      std::uint64_t& held = warp.slot(i.data[m])[lane];
      if (i.waits) held = 0;
      for (std::uint32_t k = 0; k < 2; ++k) {
        const std::uint32_t outer = lane / 4, inner = lane % 4 * 2 + k;
        std::byte* const at = rows[m * kRows + (transposed ? inner : outer)] + std::size_t{transposed ? outer : inner} * 2;
        std::uint16_t element = 0;
        if (i.waits) {
          std::memcpy(&element, at, 2);
          held |= static_cast<std::uint64_t>(element) << (16 * k);
        } else {
          element = static_cast<std::uint16_t>(held >> (16 * k));
          std::memcpy(at, &element, 2);
        }
      }
    }
  }
  mask = all;
  return true;
}

bool LaneMemory::copy(const Instruction& i, Warp& warp, Block& block, std::uint32_t& mask, Addresses& addresses) {
  const std::uint32_t lanes = mask;
  mask = 0;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    std::byte* const to = locate(i, Space::Shared, warp, block, addresses[lane], lane, i.bytes);
    if (!to) return false;
    const std::uint64_t from = warp.slot(i.b)[lane] + i.extend;
    const auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(warp.slot(i.c)[lane], i.bytes));
    addresses[lane] = from;
    std::memset(to, 0, i.bytes);
    if (taken == 0) continue;
    const std::byte* const source = locate(i, Space::Global, warp, block, from, lane, i.bytes);
    if (!source) return false;
    std::memcpy(to, source, taken);
    mask |= 1u << lane;
  }
  if (mask == 0) mask = lanes & (0 - lanes);  // nothing is read, and it takes the time of one lane
  return true;
}

bool LaneMemory::fails(const Instruction& i, std::string_view what) {
  fault_ = fmt::format("{} ({})", what, place_of(c_.kernel, i));
  return false;
}

std::byte* LaneMemory::bulk(const Instruction& i, Warp& warp, Block& block, std::uint32_t lane, std::uint64_t to, std::uint64_t from, std::uint32_t bytes) {
  const auto refuse = [&](const char* why) { return fault_ = fmt::format("bulk copy of {} B from 0x{:x} {} ({})", bytes, from, why, place_of(c_.kernel, i)), nullptr; };
  constexpr std::uint32_t kStep = 16;
  if (bytes == 0 || bytes % kStep != 0 || from % kStep != 0) return refuse("is no whole number of 16 B");
  std::byte* const first = locate(i, Space::Shared, warp, block, to, lane, kStep);
  std::byte* const last = first ? locate(i, Space::Shared, warp, block, to + bytes - kStep, lane, kStep) : nullptr;
  if (!last) return nullptr;
  if (last - first != static_cast<std::ptrdiff_t>(bytes - kStep)) return refuse("goes to shared memory of two blocks");
  const std::byte* const source = c_.memory.find(from, bytes);
  if (!source) return refuse("is outside every allocation");
  std::byte* const barrier = locate(i, Space::Shared, warp, block, warp.slot(i.data[0])[lane], lane, 8);
  if (barrier && (barrier < block.shared.data() || barrier >= block.shared.data() + block.shared.size())) return refuse("tells a barrier of another block");
  if (barrier) std::memcpy(first, source, bytes);
  return barrier;
}

bool LaneMemory::bulk_store(const Instruction& i, Warp& warp, Block& block, std::uint32_t lane, std::uint64_t from, std::uint64_t to,
                            std::uint32_t bytes) {
  const auto refuse = [&](const char* why) {
    return fault_ = fmt::format("bulk copy of {} B to 0x{:x} {} ({})", bytes, to, why, place_of(c_.kernel, i)), false;
  };
  constexpr std::uint32_t kStep = 16;
  if (bytes == 0 || bytes % kStep != 0 || to % kStep != 0) return refuse("is no whole number of 16 B");
  const std::byte* const first = locate(i, Space::Shared, warp, block, from, lane, kStep);
  const std::byte* const last = first ? locate(i, Space::Shared, warp, block, from + bytes - kStep, lane, kStep) : nullptr;
  if (!last) return false;
  if (first < block.shared.data() || first >= block.shared.data() + block.shared.size()) return refuse("comes from another block");
  std::byte* const there = c_.memory.find(to, bytes);
  if (!there) return refuse("is outside every allocation");
  if (i.atomic == AtomicOp::Exch) return std::memcpy(there, first, bytes), true;
  for (std::uint32_t at = 0; at < bytes; at += i.bytes) update(i, read_element(first + at, i.bytes), there + at);
  return true;
}

bool LaneMemory::tile(const Instruction& i, Warp& warp, Block& block, std::uint32_t lane, std::uint64_t to, TileCopy& copy) {
  const auto refuse = [&](const char* why) { return fault_ = fmt::format("copy of a tile {} ({})", why, place_of(c_.kernel, i)), false; };
  constexpr std::uint64_t kStep = 16, kTileStep = 128, kMostPitch = 1ull << 40;
  Instruction read = i;
  read.space = Space::Generic;
  const std::byte* const map = locate(read, Space::Generic, warp, block, warp.slot(i.b)[lane] + i.extend, lane, sizeof(device::Tiles));
  if (!map) return false;
  device::Tiles tiles;
  std::memcpy(&tiles, map, sizeof tiles);
  const bool sides = tiles.row_bytes > 0 && tiles.row_bytes <= 1024 && tiles.row_bytes % kStep == 0 && tiles.rows > 0 && tiles.rows <= 256;
  if (!sides || tiles.pitch == 0 || tiles.pitch % kStep != 0 || tiles.pitch >= kMostPitch) return refuse("by what is no map of tiles");
  const auto column = static_cast<std::int32_t>(warp.slot(i.data[1])[lane]), row = static_cast<std::int32_t>(warp.slot(i.data[2])[lane]);
  if (column < 0 || column % 4 != 0) return refuse("at a column that is no multiple of 16 B is not simulated");
  if (to % kTileStep != 0) return refuse("to shared memory at no multiple of 128 B");
  const std::uint32_t bytes = tiles.row_bytes * tiles.rows;
  std::byte* const first = locate(i, Space::Shared, warp, block, to, lane, kStep);
  std::byte* const last = first ? locate(i, Space::Shared, warp, block, to + bytes - kStep, lane, kStep) : nullptr;
  copy.barrier = last ? locate(i, Space::Shared, warp, block, warp.slot(i.data[0])[lane], lane, 8) : nullptr;
  if (!copy.barrier) return false;
  if (last - first != static_cast<std::ptrdiff_t>(bytes - kStep)) return refuse("to shared memory of two blocks");
  if (copy.barrier < block.shared.data() || copy.barrier >= block.shared.data() + block.shared.size()) return refuse("tells a barrier of another block");
  const std::uint64_t begin = static_cast<std::uint64_t>(column) * 4, most = tiles.bytes / tiles.pitch;
  std::memset(first, 0, bytes);
  for (std::uint32_t r = 0; r < tiles.rows; ++r) {
    const std::int64_t y = std::int64_t{row} + r;
    const bool outside = y < 0 || static_cast<std::uint64_t>(y) >= most || begin >= tiles.pitch;
    const auto there = outside ? 0u : static_cast<std::uint32_t>(std::min<std::uint64_t>(tiles.row_bytes, tiles.pitch - begin));
    copy.zeros += tiles.row_bytes - there;
    if (there == 0) continue;
    const std::uint64_t from = tiles.address + static_cast<std::uint64_t>(y) * tiles.pitch + begin;
    const std::byte* const source = c_.memory.find(from, there);
    if (!source) return refuse("outside every allocation");
    std::memcpy(first + std::size_t{r} * tiles.row_bytes, source, there);
    copy.rows.emplace_back(from, there);
  }
  return true;
}

}  // namespace gexp::sim
