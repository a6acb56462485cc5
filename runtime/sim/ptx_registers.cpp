// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_registers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

// Liveness by the usual backward data-flow equations, iterated until nothing changes: loops need a second round, nests one more.
namespace gexp::sim {
namespace {

constexpr std::uint32_t kAdded = 8, kStep = 8;
constexpr std::size_t kMostWork = 1u << 25;  // words of all live sets; beyond it the estimate is not worth its memory

struct Places {
  std::array<std::uint32_t, 40> reads, writes;
  std::size_t read = 0, written = 0;
};

Places places_of(const Kernel& kernel, const Instruction& i) {
  Places p;
  const auto reads = [&p](std::uint32_t slot) { p.reads[p.read++] = slot; };
  const auto writes = [&p](std::uint32_t slot) { p.writes[p.written++] = slot; };
  for (const std::uint32_t slot : {i.guard, i.a, i.b, i.c}) reads(slot);
  switch (i.kind) {
    case Kind::Load:
    case Kind::Texture:
      for (std::size_t k = 0; k < i.count; ++k) writes(i.data[k]);
      break;
    case Kind::Store:
      for (std::size_t k = 0; k < i.count; ++k) reads(i.data[k]);
      break;
    case Kind::Wide:
      for (std::size_t k = 0; k < std::min<std::size_t>(i.reads, 32); ++k) reads(kernel.lists[i.list + k]);
      for (std::size_t k = 0; k < i.writes; ++k) writes(kernel.lists[i.list + i.reads + k]);
      break;
    case Kind::Matrix:
      for (std::size_t k = 0; k < i.count; ++k) i.waits ? writes(i.data[k]) : reads(i.data[k]);
      break;
    case Kind::Copy: i.bulk ? reads(i.data[0]) : writes(i.data[0]); break;
    default: writes(i.to);
  }
  return p;
}

bool makes_predicate(const Instruction& i) {
  return i.type == Type::Pred || (i.op >= Op::Eq && i.op <= Op::GeU) || (i.op >= Op::FEq && i.op <= Op::FNan);
}

}  // namespace

std::uint32_t estimate_registers(const Kernel& kernel) {
  const auto& code = kernel.code;
  const std::size_t words = (kernel.slots + 63) / 64;
  if ((code.size() + kernel.lists.size()) * words > kMostWork) return 0;
  // What a slot takes: nothing if it holds a constant or a predicate.
  std::vector<std::uint32_t> width(kernel.slots, 0);
  for (const Instruction& i : code) {
    const Places p = places_of(kernel, i);
    const bool predicate = i.kind == Kind::Compute && makes_predicate(i);
    for (std::size_t k = 0; k < p.written; ++k) width[p.writes[k]] = predicate ? 0 : bits(i.type) > 32 ? 2 : 1;
  }
  for (const Preset& preset : kernel.presets) width[preset.slot] = 0;
  width[kTrue] = 0;

  std::vector<std::uint64_t> live(code.size() * words, 0), now(words);  // before each instruction
  std::uint32_t most = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t at = code.size(); at-- > 0;) {
      const Instruction& i = code[at];
      std::fill(now.begin(), now.end(), 0);
      const auto add = [&](std::size_t next) {
        for (std::size_t w = 0; w < words && next < code.size(); ++w) now[w] |= live[next * words + w];
      };
      if ((i.kind != Kind::Exit && i.kind != Kind::Return) || i.guard != kTrue) add(at + 1);
      if (i.kind == Kind::BranchTable) {
        for (std::size_t k = 0; k < i.writes; ++k) add(kernel.lists[i.list + k]);
      }
      if (i.kind == Kind::Branch) {
        if (i.guard == kTrue) std::fill(now.begin(), now.end(), 0);
        add(i.target);
      }
      const Places p = places_of(kernel, i);
      for (std::size_t k = 0; k < p.written && i.guard == kTrue; ++k) now[p.writes[k] / 64] &= ~(1ull << (p.writes[k] % 64));
      for (std::size_t k = 0; k < p.read; ++k) now[p.reads[k] / 64] |= 1ull << (p.reads[k] % 64);
      const auto known = live.begin() + static_cast<std::ptrdiff_t>(at * words);
      if (std::equal(now.begin(), now.end(), known)) continue;
      std::copy(now.begin(), now.end(), known);
      changed = true;
      std::uint32_t registers = 0;
      for (std::size_t w = 0; w < words; ++w) {
        for (std::uint64_t left = now[w]; left != 0; left &= left - 1) registers += width[w * 64 + static_cast<std::size_t>(std::countr_zero(left))];
      }
      most = std::max(most, registers);
    }
  }
  return (most + kAdded + kStep - 1) / kStep * kStep;
}

}  // namespace gexp::sim
