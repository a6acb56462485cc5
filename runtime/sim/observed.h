// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/backend.h"

/// What a launch on a simulated device did, beside its results: for people who look at a kernel (`gexp sim`). It is never evidence: no
/// measurement and no finding reads it.
namespace gexp::sim {

/// Why a warp did not issue in a cycle, though its instruction before it had.
enum class Stall : std::uint8_t {
  Memory,      ///< an operand is on its way from global, local or constant memory
  Shared,      ///< an operand is on its way from shared memory
  Arithmetic,  ///< an operand is being computed
  Requests,    ///< no entry for another request, or no room for another store
  Barrier,
  Fetch,       ///< the instruction itself was not there
  Issue,       ///< scheduler or unit served another warp
};
inline constexpr std::size_t kStalls = 7;
const char* name(Stall stall);

/// Of a cache or a TLB, all its instances together.
struct LevelCount {
  std::string name;
  std::uint64_t lookups = 0;  ///< of a sector, by loads and stores; of a page
  std::uint64_t hits = 0;
};

/// Of an instruction, or of a whole launch.
struct WorkCount {
  std::uint64_t issued = 0;    ///< by warps
  std::uint64_t executed = 0;  ///< by threads: those whose guard held
  std::array<std::uint64_t, kStalls> stalled{};  ///< cycles of warps that waited to issue it, by Stall
  [[nodiscard]] std::uint64_t all_stalled() const;
};

struct Counters {
  std::uint64_t cycles = 0, blocks = 0, warps = 0;
  std::uint64_t warp_cycles = 0;      ///< from each warp's begin to its end
  WorkCount work;
  std::uint64_t diverged = 0;         ///< branches at which the lanes of a warp parted
  std::uint64_t loads = 0, stores = 0, atomics = 0;  ///< warp instructions on global, local or constant memory
  std::uint64_t requests = 0;         ///< regions that these touched: one each where they coalesce
  std::uint64_t shared = 0;           ///< warp instructions on shared memory
  std::uint64_t shared_replays = 0;   ///< passes beyond the first, of bank conflicts
  std::vector<LevelCount> levels;     ///< those that were looked up, caches first
  double dram_read = 0, dram_written = 0;  ///< bytes
};

/// What a warp did from one cycle to another.
struct TimelineSpan {
  std::uint32_t sm = 0, warp = 0;  ///< `warp`: its place on the device
  std::uint64_t block = 0;
  std::uint32_t first_thread = 0;
  std::uint64_t begin = 0, end = 0;  ///< cycles from the launch's begin
  bool issues = false;               ///< else it waits
  Stall stall = Stall::Memory;
  std::uint32_t line = 0;            ///< of the PTX: the first instruction issued, or the one that waits
};

struct Observed {
  Counters counters;
  std::vector<std::pair<std::uint32_t, WorkCount>> lines;  ///< by line of the PTX, ascending
  std::vector<TimelineSpan> timeline;
  bool timeline_cut = false;  ///< there was more than it may hold
};

/// From now on `backend`, a simulated device of this process, notes what its launches do, up to `most_spans` of a timeline.
void observe(device::Backend& backend, std::size_t most_spans);
/// What its last launch did. Empty before `observe`.
const Observed& observed(const device::Backend& backend);

}  // namespace gexp::sim
