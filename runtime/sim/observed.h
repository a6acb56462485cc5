// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/device/counters.h"

/// What a launch on a simulated device did, beside its results: for people who look at a kernel (`gexp sim`). It is never evidence: no
/// measurement and no finding reads it.
namespace gexp::sim {

/// Why a warp did not issue in a cycle, though its instruction before it had: runtime/device/counters.def says what each is.
enum class Stall : std::uint8_t {
#define STALL(Id, name, meaning) Id,
#include "runtime/device/counters.def"
};
inline constexpr std::size_t kStalls = 0
#define STALL(Id, name, meaning) +1
#include "runtime/device/counters.def"
    ;
/// "memory", "shared memory".
const char* name(Stall stall);

/// Of a cache or a TLB, all its instances together.
struct LevelCount {
  std::string name;
  std::uint64_t sector = 0;   ///< bytes of a lookup; 0: a TLB's
  bool takes_stores = false;  ///< a cache that stores go through
  std::uint64_t lookups = 0, hits = 0, stores = 0, store_hits = 0;
};

/// Of an instruction, or of a whole launch.
struct WorkCount {
  std::uint64_t issued = 0;    ///< by warps
  std::uint64_t executed = 0;  ///< by threads: those whose guard held
  std::array<std::uint64_t, kStalls> stalled{};  ///< cycles of warps that waited to issue it, by Stall
  WorkCount& operator+=(const WorkCount& more);
  [[nodiscard]] std::uint64_t all_stalled() const;
};

/// Of one launch or several; the members are explained in counters.def.
struct Counters {
#define COUNT(name, unit, meaning) std::uint64_t name = 0;
#include "runtime/device/counters.def"
  struct Replays {
#define REPLAY(name, unit, meaning) std::uint64_t name = 0;
#include "runtime/device/counters.def"
  } replays;
  std::array<std::uint64_t, kStalls> stalled{};
  std::vector<LevelCount> levels;  ///< of the model: caches, then TLBs
  struct Traffic {
#define TRAFFIC(name, unit, meaning) std::uint64_t name = 0;
#include "runtime/device/counters.def"
  } dram;

  /// `more`: of the same device; or of nothing.
  Counters& operator+=(const Counters& more);
  /// By name, in the order of counters.def.
  [[nodiscard]] device::Counters by_name() const;
};

/// What a warp did from one cycle to another.
struct TimelineSpan {
  enum class Kind : std::uint8_t { Issues, Waits, Loads };
  std::uint32_t sm = 0, warp = 0;  ///< `warp`: its place on the device
  std::uint64_t block = 0;
  std::uint32_t first_thread = 0;
  std::uint64_t begin = 0, end = 0;  ///< cycles from the launch's begin
  Kind kind = Kind::Issues;          ///< loads overlap the rest, and each other
  Stall stall = Stall::Memory;       ///< Waits: for what
  std::uint32_t level = 0;           ///< Loads: where the furthest part was found: of Observed::caches, or one of these
  std::uint32_t instruction = 0;     ///< of Observed::instructions: the first one issued, the one that waits, or the load
};

inline constexpr std::uint32_t kFromMemory = ~0u, kFromHost = ~0u - 1, kFromPeer = ~0u - 2;  ///< the device's, the host's, another device's

/// An instruction of a kernel, for people.
struct NamedInstruction {
  std::uint32_t line = 0;  ///< of the PTX
  std::string opcode;      ///< as written: "ld.global.nc.u32"
  std::string statement;   ///< of the spec: "chase A"; empty: none
};

inline constexpr std::size_t kMostPrinted = 1 << 20;  ///< bytes of what threads print: limit: CUDA's own buffer, as it is by default

struct Observed {
  Counters counters;
  std::vector<std::pair<std::uint32_t, WorkCount>> lines;  ///< by line of the PTX, ascending
  std::vector<TimelineSpan> timeline;
  bool timeline_cut = false;  ///< there was more than it may hold
  std::vector<NamedInstruction> instructions;  ///< of the kernel, where there is a timeline
  std::vector<std::string> caches;             ///< of the model
  std::uint64_t began = 0;                     ///< cycle of the device
  std::string printed;                         ///< by its threads
  bool printed_cut = false;                    ///< there was more
};

/// From now on `backend`, a simulated device of this process, and devices made from it note what their launches do, up to
/// `most_spans` of a timeline.
void observe(device::Backend& backend, std::size_t most_spans);
/// What all its launches did since.
const Counters& counted(const device::Backend& backend);
/// The launches since: all of them where the timeline still had room, else the last one.
const std::vector<Observed>& observed(const device::Backend& backend);

}  // namespace gexp::sim
