// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/sim/events.h"
#include "runtime/sim/hierarchy.h"
#include "runtime/sim/ptx.h"

namespace gexp::sim {

inline constexpr std::uint32_t kLanes = 32;
inline constexpr std::uint32_t kNobody = ~0u;

/// Addresses, one a lane.
using Addresses = std::array<std::uint64_t, kLanes>;

/// Whether a mask, which is of some lanes, is of one.
inline bool one_lane(std::uint32_t mask) { return (mask & (mask - 1)) == 0; }

template <class F> void each_lane(std::uint32_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

/// The functions that a thread is in.
struct CallStack {
  struct Frame {
    std::uint32_t call = 0;       ///< of Kernel::calls
    std::uint32_t function = 0;   ///< of Kernel::functions
    std::uint32_t back = 0;       ///< the instruction to go on with
    std::uint64_t begin = 0;      ///< where the stack ended before
  };
  std::vector<Frame> frames;
  std::vector<std::uint64_t> kept;  ///< what the functions' slots held before
  std::uint64_t top = 0;            ///< where the next frame begins in local memory
};

/// Lanes that go one way where others of their warp go another: they run until they are at `end`, in functions nested `depth` deep.
struct Path {
  std::uint32_t lanes = 0, end = kNowhere;
  std::size_t depth = 0;
};

/// A warp that an SM holds. Registers are per lane, the scoreboard is the warp's: an instruction issues for all its lanes at once.
/// Which lanes run, of those that took different ways, hangs on Pipeline::divergence. Stack: those of the innermost path; the others wait.
/// Independent: of all groups the one with the smallest program counter, so that lanes meet again at the first instruction that both reach.
struct Warp {
  enum class State : std::uint8_t {
    Ready,    ///< an event will let it go on
    Waiting,  ///< for a load that is under way
    Stalled,  ///< a part of its load has no entry to be booked in
    Barrier,  ///< every lane waits at a barrier, or for lanes that do
    Done,
  };
  State state = State::Ready;
  bool slot_granted = false, unit_granted = false;  ///< the issue slot, or the arithmetic unit, of this cycle is its own
  std::uint16_t step = 0;            ///< of the instruction at hand: its machine instructions that have been issued
  std::uint16_t turn = 0;            ///< machine instructions that units took in turn
  std::uint32_t step_latency = 0;    ///< of the machine instruction at hand
  std::uint64_t step_ready = 0;      ///< cycle at which the next machine instruction of it can issue
  std::uint32_t block = 0, sm = 0, scheduler = 0, load_unit = 0;
  std::uint32_t first_thread = 0, width = 0;  ///< lanes that were started
  std::uint32_t live = 0;     ///< lanes that have not ended
  std::uint32_t at_barrier = 0;  ///< lanes that wait at a barrier
  std::vector<Path> paths;       ///< Stack: the innermost last, each of some lanes of the one before; empty: all lanes are together
  std::array<std::uint32_t, kLanes> met{};  ///< how often each has come to the barrier of its cluster
  std::uint32_t parked = 0;      ///< Independent: lanes that wait, at their counter, for other lanes of the warp
  std::uint32_t yielded = 0;     ///< Independent: lanes that turned long enough in a loop while others waited behind it: those go first
  std::uint32_t turns = 0;       ///< that the group jumped back while others waited
  std::uint32_t mask = 0, pc = 0, limit = 0;  ///< the group that runs; from `limit` on others may go first
  std::array<std::uint32_t, kLanes> pcs{};    ///< of lanes outside the group
  std::vector<std::uint64_t> values;  ///< [slot * width + lane]
  std::vector<std::uint64_t> ready;   ///< [slot]: cycle from which it can be used; kNever while a load is under way
  std::vector<std::byte> local;       ///< [lane * local_bytes]
  std::vector<CallStack> stacks;      ///< [lane]; empty where the kernel calls nothing
  std::uint64_t issued = 0;           ///< cycle at which its last instruction issued
  std::uint64_t next = 0;             ///< cycle at which the next instruction can issue
  std::uint64_t fetched = kNever;     ///< which instructions it has, by what a fetch takes
  std::uint32_t loads = 0;            ///< under way
  std::uint64_t stored = 0;           ///< cycle at which it knows that its stores have come to what all SMs share
  std::vector<Hierarchy::Piece> rest;  ///< Stalled: what is left of `stalled_load`
  std::uint32_t stalled_load = kNobody;

  /// How many functions a lane is in.
  [[nodiscard]] std::size_t depth(std::uint32_t lane) const { return stacks.empty() ? 0 : stacks[lane].frames.size(); }
  std::uint64_t* slot(std::uint32_t s) { return values.data() + static_cast<std::size_t>(s) * width; }
};

/// All warps that SMs hold. Places are used again once no load of the warp that had one is under way.
class Warps {
 public:
  /// A warp as it begins.
  std::uint32_t add() {
    if (free_.empty()) return warps_.emplace_back(), static_cast<std::uint32_t>(warps_.size() - 1);
    const std::uint32_t index = free_.back();
    free_.pop_back();
    warps_[index] = {};
    return index;
  }
  /// The warp at `index` has run its last instruction.
  void end(std::uint32_t index) {
    Warp& warp = warps_[index];
    warp.state = Warp::State::Done;
    if (warp.loads == 0) free_.push_back(index);
  }
  /// A load of it is back. True: the warp is there to use it.
  bool loaded(std::uint32_t index) {
    Warp& warp = warps_[index];
    --warp.loads;
    if (warp.state != Warp::State::Done) return true;
    if (warp.loads == 0) free_.push_back(index);
    return false;
  }
  Warp& operator[](std::uint32_t index) { return warps_[index]; }
  const Warp& operator[](std::uint32_t index) const { return warps_[index]; }

 private:
  std::deque<Warp> warps_;  // references stay valid
  std::vector<std::uint32_t> free_;
};

/// Lanes of a warp that wait, at an instruction.
struct Waiting {
  std::uint32_t warp = 0, lanes = 0, instruction = 0;
};

/// Threads that share shared memory and barriers.
struct Block {
  std::uint64_t id = 0;   ///< of the grid
  std::uint32_t index = 0;  ///< among those that SMs hold
  std::vector<Block*> cluster;  ///< its blocks by their rank, itself one of them; they keep their places until the last has ended
  std::uint32_t rank = 0;
  /// Of the block of rank 0: the barrier of the cluster. Phases that are over, threads that have come to the one under way, and who waits for it.
  std::uint32_t phases = 0, arrived = 0;
  std::vector<Waiting> meeting;
  std::uint64_t met_at = 0;  ///< the cycle at which the last phase let its threads go
  std::uint32_t sm = 0;
  std::uint32_t live = 0;  ///< threads that have not ended
  std::vector<std::byte> shared;
};

}  // namespace gexp::sim
