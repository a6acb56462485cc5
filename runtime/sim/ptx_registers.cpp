// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_registers.h"

#include <vector>

#include "ptx/registers.h"

namespace gexp::sim {
namespace {

void note_places(const Kernel& kernel, const Instruction& i, ptx::LiveStep& step) {
  const auto reads = [&step](std::uint32_t slot) { step.reads.push_back(slot); };
  const auto writes = [&step](std::uint32_t slot) { step.writes.push_back(slot); };
  for (const std::uint32_t slot : {i.guard, i.a, i.b, i.c}) reads(slot);
  switch (i.kind) {
    case Kind::Texture:
      reads(i.data[kThird]), reads(i.data[kLayer]);
      [[fallthrough]];
    case Kind::Load:
      for (std::size_t k = 0; k < i.count; ++k) writes(i.data[k]);
      break;
    case Kind::Store:
      for (std::size_t k = 0; k < i.count; ++k) reads(i.data[k]);
      if (i.beyond != 0) reads(i.data[kThird]), reads(i.data[kLayer]);
      break;
    case Kind::Wide:
      for (std::size_t k = 0; k < i.reads; ++k) reads(kernel.lists[i.list + k]);
      for (std::size_t k = 0; k < i.writes; ++k) writes(kernel.lists[i.list + i.reads + k]);
      break;
    case Kind::Matrix:
      for (std::size_t k = 0; k < i.count; ++k) i.waits ? writes(i.data[k]) : reads(i.data[k]);
      break;
    case Kind::Copy:
      if (!i.bulk) writes(i.data[0]);
      for (std::size_t k = 0; k < i.count && i.bulk; ++k) reads(i.data[k]);
      break;
    case Kind::Atomic:
      if (i.beyond != 0) reads(i.data[0]), reads(i.data[kThird]);
      for (std::size_t k = 1; k < 3 && i.bytes == 16; ++k) reads(i.data[k]);
      if (i.bytes == 16) writes(i.data[0]);
      [[fallthrough]];
    default: writes(i.to);
  }
}

bool makes_predicate(const Instruction& i) {
  return i.type == Type::Pred || (i.op >= Op::Eq && i.op <= Op::GeU) || (i.op >= Op::FEq && i.op <= Op::FNan);
}

}  // namespace

std::uint32_t estimate_registers(const Kernel& kernel) {
  // What a slot takes: nothing if it holds a constant or a predicate.
  std::vector<std::uint32_t> width(kernel.slots, 0);
  std::vector<ptx::LiveStep> code(kernel.code.size());
  for (std::size_t at = 0; at < code.size(); ++at) {
    const Instruction& i = kernel.code[at];
    ptx::LiveStep& step = code[at];
    note_places(kernel, i, step);
    step.always = i.guard == kTrue;
    const bool predicate = i.kind == Kind::Compute && makes_predicate(i);
    for (const std::uint32_t slot : step.writes) width[slot] = predicate ? 0 : bits(i.type) > 32 ? 2 : 1;
    const bool ends = i.kind == Kind::Exit || i.kind == Kind::Return || i.kind == Kind::Branch;
    if (!ends || !step.always) step.next.push_back(at + 1);
    if (i.kind == Kind::Branch) step.next.push_back(i.target);
    for (std::size_t k = 0; i.kind == Kind::BranchTable && k < i.writes; ++k) step.next.push_back(kernel.lists[i.list + k]);
  }
  for (const Preset& preset : kernel.presets) width[preset.slot] = 0;
  width[kTrue] = 0;
  return ptx::registers_needed(code, width);
}

}  // namespace gexp::sim
