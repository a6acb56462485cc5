// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/sim/interpreter.h"
#include "runtime/sim/lane_memory.h"
#include "runtime/sim/lanes.h"
#include "runtime/sim/memory_unit.h"
#include "runtime/sim/placement.h"
#include "runtime/sim/warp.h"
#include "runtime/sim/wide.h"

namespace gexp::sim {

/// How a warp of one thread runs an instruction while nothing else is due; No: as any other warp.
enum class Lone : std::uint8_t { No, Compute, Load, Access, Branch, Clock };

/// What the issue of an instruction needs of it, in one line of the host's cache.
struct alignas(64) Decoded {
  LaneFunction lanes;
  ScalarFunction scalar;
  double interval;         ///< cycles that it keeps its arithmetic unit
  std::uint32_t latency;   ///< of its result
  std::uint32_t guard, to, a, b, c;  ///< `to`: what an awaited load loads, too
  Kind kind;
  bool guard_not;
  std::uint16_t unit;      ///< its arithmetic unit, of Sm::units
  bool awaited = false;    ///< a load of one element that the next instruction, which the warp has, needs
  bool plain = false;      ///< such a load of a word of global memory, kept by the caches of its path
  std::uint16_t steps = 0; ///< machine instructions that it is made of; 0: `interval`, `latency` and `unit` say it all
  std::uint32_t first = 0; ///< of those, in Machine::steps_
  Lone lone = Lone::No;
};
static_assert(sizeof(Decoded) == 64);

/// One launch: a discrete-event simulation. A warp runs on without an event until another one is due, so that a lone pointer chase costs
/// next to nothing, and warps that compete take turns instruction by instruction, in the order of their issue cycles.
class Machine {
 public:
  Machine(const LaunchContext& context, std::uint64_t start, std::uint32_t blocks_per_sm);

  LaunchResult run();

 private:
  static constexpr std::uint32_t kFairTurns = 4096;       ///< jumps back after which lanes that turn in a loop let the others go on
  static constexpr std::uint64_t kCheckEvery = 1u << 11;  ///< instructions between looks at the time, for an interrupt and at the host's memory
  static constexpr std::uint64_t kMostAhead = 1u << 16;   ///< cycles that a warp which meets nobody goes on before it lets others come

  struct Sm {
    Server others;                          ///< accesses of other blocks' shared memory
    std::vector<std::uint64_t> schedulers;  ///< cycle from which each can issue
    std::vector<Server> units;              ///< by Cost, then one for each of the model's units and operations
    std::uint32_t warps = 0;                ///< that are in it
    std::uint64_t busy_since = 0;           ///< cycle from which the alu units have not idled, where they pick ahead
  };
  struct Barrier {
    std::uint32_t block = 0, id = 0, threads = 0, wanted = 0;
    std::uint32_t yes = 0;  ///< threads whose predicate holds, of a reduction
    std::vector<Waiting> waiting;
  };

  /// What one machine instruction takes of a unit.
  struct Use {
    double interval = 0;
    std::uint32_t latency = 0;
    std::uint16_t unit = 0;
  };
  struct MachineStep {
    std::vector<Use> uses;  ///< one of them
    bool in_turn = false;
  };

  enum class Step : std::uint8_t { Next, Jumped, Regroup, Leave };
  void start_blocks(std::uint64_t now);
  void end_block(Block& block, std::uint64_t now);
  Step cluster_barrier(std::uint32_t warp, const Instruction& i, std::uint32_t active, std::uint64_t issue);
  void release_meeting(Block& first, std::uint64_t now);
  void let_go(const Waiting& waiting, std::uint64_t when);
  void start_warp(std::uint32_t block, std::uint32_t first_thread, std::uint64_t now);
  std::uint64_t preset_value(const Preset& preset, const Warp& warp, std::uint32_t lane) const;
  bool end_lanes(std::uint32_t warp, std::uint32_t lanes, std::uint64_t now);
  void advance(std::uint32_t warp, std::uint64_t now);
  std::uint64_t when_ready(const Warp& w, const Decoded& d, std::uint64_t at) const;
  std::uint64_t when_rest_ready(const Warp& w, const Instruction& i, std::uint64_t at) const;
  /// The row of the model that says what instructions take, the one of most words; nothing where none does.
  [[nodiscard]] std::vector<std::optional<std::uint16_t>> operations_of_opcodes() const;
  void plan_steps();
  [[nodiscard]] Use use_of(const Sm& sm, Warp& w, const Decoded& d, std::uint64_t at) const;
  double picked_later(Sm& sm, const Warp& w, std::uint64_t at) const;
  bool take_slot(std::uint32_t warp, Warp& w, const Decoded& d, std::uint64_t now, std::uint64_t due, std::uint64_t& at);
  bool regroup(Warp& w);
  void fetch(std::uint32_t warp, Warp& w);
  bool select_group(Warp& w);
  bool select_path(Warp& w);
  void part(Warp& w, std::uint32_t first, std::uint32_t end);
  Step execute(std::uint32_t warp, const Instruction& i, std::uint32_t active, std::uint64_t issue);
  void note_awaited();
  void note_lone();
  /// A chase reads the index of the element that it will read next. What an SM's caches hold is in the host's as well.
  void expect_next(const Instruction& i, LoadPath path, std::uint64_t value) const {
    if (!c_.hierarchy.missed()) return;
    if (const std::uint64_t next = c_.memory.expect_element(value, i.bytes)) c_.hierarchy.expect(path, next);
  }
  /// Whether a load is over before anything else happens: nothing is due, its warp has one thread, and what follows needs it.
  [[nodiscard]] bool alone(const Warp& w, bool awaited, std::uint32_t active) const {
    return awaited && w.live == active && one_lane(active) && events_.empty();
  }
  /// The cycle before which an instruction meets nobody: of what is no access, none where each warp has an SM for itself.
  [[nodiscard]] std::uint64_t due(const Decoded& d) const {
    const bool is_own = d.kind == Kind::Compute || d.kind == Kind::Branch || d.kind == Kind::Special;
    return is_ahead_ && is_own ? kNever : events_.first();
  }
  /// Whether what the warp does next meets nobody. It has one thread.
  [[nodiscard]] bool runs_alone(const Warp& w) const {
    return one_lane(w.live) && w.mask == w.live && lone_ && w.next < due(decoded_[w.pc]) && w.limit == kNowhere && w.paths.empty() &&
           w.step == 0 && !w.slot_granted && !w.unit_granted;
  }
  void run_alone(std::uint32_t warp, Warp& w);
  [[nodiscard]] std::byte* lone_word(const Instruction& i, std::uint64_t address) const;
  [[nodiscard]] std::byte* lone_element(const Instruction& i, const Warp& w, std::uint64_t address);
  void lone_access(std::uint32_t warp, Warp& w, const Instruction& i, std::uint64_t address, std::byte* element, std::uint64_t at);
  [[nodiscard]] bool units_are_free(const Sm& sm, std::uint64_t at) const;
  Step access(std::uint32_t warp, const Instruction& i, std::uint32_t active, std::uint64_t issue);
  Step access_in(Space space, std::uint32_t warp, const Instruction& i, std::uint32_t active, std::uint64_t issue);
  bool prefetched(Space space, std::uint32_t& active);
  [[nodiscard]] std::uint64_t conflicts(Space space, std::uint32_t active);
  [[nodiscard]] std::uint64_t way_to_others(const Warp& w, std::uint32_t active, std::uint64_t issue);
  /// Whether some lane's address is not in the device's own memory.
  [[nodiscard]] bool far(std::uint32_t active) const;
  bool waits_for_pages(Warp& w, std::uint32_t active, std::uint64_t issue);
  bool over_bus(const Instruction& i, std::uint32_t active, LoadPath& path);
  [[nodiscard]] bool held(LoadPath path, std::uint32_t sm, std::uint32_t active) const;
  Step tile_copy(std::uint32_t warp, const Instruction& i, std::uint32_t active, std::uint64_t issue);
  std::optional<Step> kept_from(std::uint32_t warp, const Instruction& i, std::uint32_t active, std::uint64_t issue, LoadPath& path);
  Step bulk_store(std::uint32_t warp, const Instruction& i, std::uint32_t active, std::uint64_t issue);
  Step bulk_copy(std::uint32_t warp, const Instruction& i, std::uint32_t active, std::uint64_t issue);
  void end_copy(std::uint32_t copy);
  Step access_block(std::uint32_t warp, const Instruction& i, std::uint32_t active, std::uint64_t issue);
  Step wide(std::uint32_t warp, const Instruction& i, std::uint32_t active, std::uint64_t issue);
  bool meet(Warp& w, const Instruction& i, std::uint32_t& active);
  bool unpark(Warp& w);
  Step branch(Warp& w, const Instruction& i, std::uint32_t active);
  Step branch_by_table(Warp& w, const Instruction& i, std::uint32_t active);
  Step call(Warp& w, const Instruction& i, std::uint32_t active);
  Step move_stack(Warp& w, const Instruction& i, std::uint32_t active, std::uint64_t issue);
  Step come_back(Warp& w, const Instruction& i, std::uint32_t active);
  bool enter(Warp& w, const Instruction& i, const Call& call, std::uint32_t function, std::uint32_t lane);
  void pass(Warp& w, std::uint32_t lane, const Passed& from, const Passed& to);
  Step print(Warp& w, const Instruction& i, const Call& call, std::uint32_t active);
  Step barrier(std::uint32_t warp, const Instruction& i, std::uint32_t active, std::uint64_t issue);
  void release_full_barriers(std::uint32_t block, std::uint64_t now);
  bool check(const Instruction& i, std::uint64_t now);
  std::uint64_t clock(Special which, std::uint32_t sm, std::uint64_t cycle) const;
  std::string deadlock() const;
  Step fault(std::string what) {
    if (!stopped_) outcome_.status = device::Outcome::Status::Fault, outcome_.what = std::move(what);
    stopped_ = true;
    return Step::Leave;
  }

  /// The launch would never end by itself.
  Step hang(std::string what) {
    if (!stopped_) outcome_.status = device::Outcome::Status::Timeout, outcome_.what = std::move(what);
    stopped_ = true;
    return Step::Leave;
  }

  const LaunchContext& c_;
  const std::vector<Instruction>& code_;
  std::vector<Decoded> decoded_;  ///< the same instructions
  std::vector<MachineStep> steps_;            ///< of the model's operations, one after the other
  std::vector<std::uint32_t> first_steps_, least_latency_;  ///< [operation]
  Events events_;
  Warps warps_;
  std::deque<Block> blocks_;
  std::vector<std::uint32_t> free_blocks_;
  /// What a bulk copy that is under way tells a barrier in shared memory of, unless the block has ended.
  struct BulkCopy {
    std::uint32_t block = 0;
    std::uint64_t id = 0;  ///< the block's
    std::byte* barrier = nullptr;
    std::uint32_t bytes = 0;
  };
  void tell(const BulkCopy& told);
  std::map<std::uint32_t, BulkCopy> copies_;  ///< by the number that MemoryUnit gave it
  std::vector<Barrier> barriers_;  ///< at which somebody waits
  LaneMemory data_;
  MemoryUnit memory_;
  Placement placement_;
  std::vector<Sm> sms_;
  std::vector<std::uint64_t> clocks_;  ///< [SM]: how far its clock register is before the device's cycles
  std::array<std::uint32_t, 4> latency_{};
  std::array<double, 4> interval_{};
  bool fetches_ = false;
  const bool stack_;  ///< Divergence::Stack
  const bool lone_;   ///< warps may run alone: nobody observes them, and units do not pick ahead
  bool is_ahead_ = false;  ///< each warp has an SM for itself, so that it meets nobody before it accesses memory: it goes on ahead of time
  std::uint64_t fetch_line_ = 64;
  std::uint64_t issue_interval_;  ///< from one instruction of a warp, or of a scheduler, to the next
  std::uint32_t ahead_;            ///< Pipeline::ahead
  std::uint64_t start_, end_;
  std::uint64_t next_block_ = 0;
  std::uint32_t cluster_;  ///< blocks of one
  Addresses addresses_{};
  LaneMemory::Corners corners_;  ///< of the fetch at hand
  std::uint64_t turns_ = 0;  ///< beyond the first, that lanes took at one address of the access at hand
  bool stopped_ = false;
  device::Outcome outcome_;
  std::uint64_t instructions_ = 0, next_check_ = kCheckEvery;
  std::uint64_t kept_ = 0;  ///< words that calls have put away since the last look at the host's memory
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace gexp::sim
