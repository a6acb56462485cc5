// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "runtime/sim/ptx.h"

/// An mbarrier object in shared memory. PTX leaves its 64 bits open; here: arrivals that are pending (20 bits), that the next phase
/// expects (20 bits), bytes that are to come (22 bits, signed) and, highest, the parity of the phase.
namespace gexp::sim {

inline constexpr std::uint64_t kPhaseCount = (1u << 20) - 1, kPhaseBytes = (1u << 22) - 1;

struct PhaseStep {
  std::uint64_t value;   ///< of the object
  std::uint64_t result;  ///< of the instruction: the state before, or whether the phase is over
};

/// What an instruction with operand `b` does to the object `old`. A phase ends once no arrival is pending and no byte is to come.
[[nodiscard]] constexpr PhaseStep phase_step(AtomicOp op, std::uint64_t old, std::uint64_t b) {
  std::uint64_t pending = old & kPhaseCount, expected = old >> 20 & kPhaseCount, bytes = old >> 40 & kPhaseBytes, parity = old >> 63;
  switch (op) {
    case AtomicOp::PhaseInit: return {(b & kPhaseCount) | (b & kPhaseCount) << 20, old};
    case AtomicOp::PhaseEnd: return {0, old};
    case AtomicOp::PhaseTest: return {old, parity != b >> 63};
    case AtomicOp::PhaseParity: return {old, parity != (b & 1)};
    case AtomicOp::PhaseExpect: bytes = (bytes + b) & kPhaseBytes; break;
    case AtomicOp::PhaseBytes: bytes = (bytes - b) & kPhaseBytes; break;
    case AtomicOp::PhaseArriveExpect: bytes = (bytes + b) & kPhaseBytes, pending = (pending - 1) & kPhaseCount; break;
    default:
      if (op == AtomicOp::PhaseDrop) expected = (expected - b) & kPhaseCount;
      pending = (pending - b) & kPhaseCount;
  }
  if (pending == 0 && bytes == 0) pending = expected, parity ^= 1;
  return {pending | expected << 20 | bytes << 40 | parity << 63, old};
}

}  // namespace gexp::sim
