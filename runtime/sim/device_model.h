// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/qlru.h"
#include "runtime/sim/ptx.h"

/// A simulated device, as a model file describes it (docs/device-models.md), validated. Sizes in bytes, times in SM cycles.
namespace gexp::sim {

/// How a line's address chooses its set.
struct IndexModel {
  enum class Kind : std::uint8_t { Single, Bits, Xor, Modulo, Dealt, Scattered, Hashed };
  Kind kind = Kind::Single;
  std::vector<std::vector<int>> bits;  ///< Bits, Xor: the address bits whose exclusive or is set bit i
  std::uint64_t block = 0;             ///< Modulo, Scattered, Hashed: bytes that stay together; 0: a line
};

/// Bip: LRU, but what comes in is the next victim, except now and then. Rrip: ages like QLRU's, of any number. Nrf: marks like NRU's, set
/// by what comes in alone. Turns: groups of lines lose their oldest one in turn.
enum class Policy : std::uint8_t { Lru, Fifo, Plru, Random, Weighted, Nru, Qlru, Bip, Rrip, Nrf, Turns };

/// Who shares one: an SM of its own, the SMs of a cluster of them (TPC), those of a GPC, or the whole device.
enum class Scope : std::uint8_t { Sm, Tpc, Gpc, Device };

/// A data cache, or a TLB (then a line is a page).
struct CacheModel {
  std::string name;
  std::uint64_t line = 0, sector = 0;
  std::vector<std::uint32_t> ways;  ///< of each set
  IndexModel index;
  Policy policy = Policy::Lru;
  Qlru qlru;                        ///< Policy::Qlru
  double promoted = 0;              ///< Bip: probability that what comes in is not the next victim; 0 is LIP
  std::uint32_t ages = 4, insert = 2;  ///< Rrip: how many ages there are, and that of what comes in
  std::vector<double> weights;      ///< Weighted: probability of each way to be replaced
  std::vector<std::vector<int>> groups{};  ///< Turns: the address bits whose exclusive or is bit i of a group's number
  bool late = false;                ///< Turns: a line leaves after the next access of its set
  Scope scope = Scope::Sm;          ///< a data cache that is not the device's is empty when a kernel starts
  int storage_of = -1;              ///< shares the lines of this cache, under its own index
  std::uint64_t unified = 0;        ///< bytes that it shares with shared memory: `ways` are what the least carve-out leaves; 0: its own
  bool victims = false;             ///< holds what the cache before it on the path evicts; what hits here goes back there
  std::uint64_t prefetch = 0;       ///< bytes after a miss that arrive with it, as far as there are invalid ways; 0: none
  // Where the lines of a device's cache are. All of one slice, in one place, unless the model says so.
  std::uint32_t slices = 1;         ///< each a server of its own; lines are dealt to them by a hash
  std::vector<std::uint64_t> slice_xor{};   ///< masks of address bits: their exclusive ors are the highest bits of a slice's number, the last one the highest
  double interval = 0;              ///< cycles from one request to the next that a single slice answers; 0: as [bandwidth] l2 says
  std::uint32_t partitions = 1;     ///< slices, and SMs, belong to them in equal parts
  bool copies = false;              ///< each partition keeps what its SMs read, wherever it belongs: it holds its part of the ways
  double far = 0;                   ///< cycles more when SM and slice are of different partitions
  double spread = 0;                ///< slices lie up to so many cycles further from an SM than the nearest
  Scope spread_by = Scope::Sm;      ///< whose SMs are all as far from a slice
};

/// One way for a load to reach its data.
struct PathModel {
  bool present = false;
  std::vector<int> caches;   ///< looked up in this order; then memory
  std::vector<int> tlbs;     ///< looked up in this order; then the page table
  std::size_t translate_at = 0;  ///< lookups before this one use virtual addresses
  std::uint64_t fetch = 0;       ///< of instructions: bytes that a warp takes at a time from the first cache
  bool has_window = false;       ///< the last column below is a walk outside the active window
  /// [where the data is found: a cache or, last, memory][where the translation is found: a TLB, the page table, the page table of another window]
  std::vector<std::vector<double>> latency;
};

struct SharedModel {
  std::uint64_t per_sm = 0, per_block = 0;
  std::vector<std::uint64_t> carveouts;  ///< that an SM can be set to, ascending; empty: only per_sm
  std::uint32_t banks = 32, bank_bytes = 4;
  std::vector<std::uint32_t> modes;  ///< bank widths that a launch can choose
  std::uint32_t default_mode = 4;
  std::vector<std::uint32_t> ways;   ///< conflict degrees for which `cycles` is known, ascending from 1
  std::vector<double> cycles;
};

/// How the lanes of a warp run that took different ways.
enum class Divergence : std::uint8_t {
  Stack,        ///< one way after the other, each to where they meet; a warp comes to a barrier as a whole
  Independent,  ///< every lane gets on, whatever others wait for; each comes to a barrier by itself
};

struct Pipeline {
  Divergence divergence = Divergence::Stack;
  std::uint32_t schedulers = 1;  ///< of an SM; a warp belongs to one of them
  std::uint32_t clock = 1;      ///< from one clock read to the next
  std::uint32_t issue = 1;      ///< from one other instruction to the next, of a warp and of a scheduler
  std::uint32_t alu = 1, multiply = 1, divide = 1;  ///< until a result can be used
  /// From one warp instruction of the kind to the next, of all warps of an SM. 0: only the schedulers limit it.
  double alu_interval = 0, multiply_interval = 0, divide_interval = 0;
  std::uint32_t ahead = 0;  ///< alu units that do not idle pick a warp so long before it issues, and its operand is there by then
  std::uint32_t constant = 1;   ///< parameters, and constant memory without [paths.constant]
  std::uint32_t local = 1;      ///< local memory without [paths.local]
  std::uint32_t transaction = 0;  ///< each further line that one warp instruction touches
  double thread = 0;              ///< each thread that such a line is for, where these take longer than the line
  std::uint32_t load_units = 1;   ///< of an SM; a warp's transactions go through one of them
  std::uint32_t barrier = 1;      ///< from the last arrival to the release
  std::uint32_t instruction_bytes = 8;  ///< of one instruction, for [paths.instruction]
};

/// Pipeline's classes by number: of what runs a machine instruction, the first ones.
inline constexpr int kUnitClasses = 3;

/// What runs machine instructions besides the classes of the pipeline, or another kind of instruction that one of them runs.
struct UnitModel {
  std::string name;
  std::uint32_t latency = 1;  ///< until the result can be used
  double interval = 0;        ///< from one warp instruction to the next
  int part_of = -1;           ///< whose time it takes: a class, or kUnitClasses + an earlier unit; -1: its own
};

/// One machine instruction: what may run it, by number as UnitModel::part_of.
struct MachineInstruction {
  std::vector<int> units;
  bool in_turn = false;  ///< of several that are free, each in turn; else the first
};

/// What one PTX instruction takes, where the model knows better than its class.
struct OperationModel {
  std::vector<std::string> words;  ///< "mul", "lo", "u32": an instruction is meant that has all of them, the first as its name
  std::uint32_t latency = 1;       ///< until its result can be used
  double interval = 0;             ///< from one warp instruction to the next, of all warps of an SM; 0: only the schedulers limit it
  std::vector<MachineInstruction> runs;  ///< each waits for the one before; empty: `latency` and `interval` say it all
};

/// What an SM and a launch can hold.
struct Limits {
  std::uint32_t threads_per_block = 1024, threads_per_sm = 2048, blocks_per_sm = 16;
  std::uint32_t registers_per_sm = 65536;  ///< of 4 bytes
  std::uint32_t registers_per_thread = 255;
  std::uint32_t register_step = 1;      ///< a thread's registers are rounded up to a multiple of this
  std::uint32_t register_threads = 32;  ///< a block takes registers for its threads, rounded up to a multiple of this
};

/// What books requests that have left an SM and are not back (Lashgar15 section 2).
struct Outstanding {
  enum class Kind : std::uint8_t {
    Unlimited,
    Mshr,  ///< an entry a line; requests for a line that is under way share its entry
    Prt,   ///< an entry a warp instruction
  };
  Kind kind = Kind::Unlimited;
  std::uint32_t entries = 0;
  std::uint32_t merges = 0;    ///< Mshr: requests that one entry can hold; one more waits for the line
  std::uint32_t threads = 0;   ///< Mshr: threads of one load that one entry can note, more of them take another; 0: unlimited
  std::uint32_t lines = 1;     ///< Mshr: neighbouring lines that share an entry; each is a request of its own
  std::uint32_t requests = 0;  ///< Prt: requests of all entries together; 0: unlimited
  std::uint32_t loads_per_warp = 0;  ///< loads under way after which a warp waits for the oldest; 0: unlimited
};

/// Bytes a cycle, of the SM clock; 0: unlimited. What comes faster waits in order.
struct Bandwidth {
  double l1 = 0;      ///< of an SM: hits of its caches
  double shared = 0;  ///< of an SM: a warp's access without conflict moves 128 B
  double sm = 0;      ///< of an SM: what crosses its port, both ways
  double stores = 0;  ///< of an SM: what it stores, before the port
  double tpc = 0;     ///< of a TPC: what crosses the port that its SMs share, both ways
  double l2 = 0;      ///< of all slices together
  double dram = 0;    ///< reads and writes together
  double host = 0;    ///< of the bus to the host's memory, each way
  double peer = 0;    ///< of the link to another device's memory, each way
};

/// Pages of managed memory, which the driver brings from the host when a thread touches one.
struct ManagedModel {
  std::uint64_t page = 0;  ///< bytes that come at once; 0: the device has no such memory
  double latency = 0;      ///< cycles from the touch until they are there, beside what the bus takes
};

/// Cycles for each further lane of a warp that updates the same address; 0: they cost nothing more.
struct AtomicsModel {
  double shared = 0, global = 0;
};

/// Blocks that are launched together and reach each other's shared memory.
struct ClusterModel {
  std::uint32_t blocks = 0;     ///< most of one cluster; 0: the device has no clusters
  double latency = 0;           ///< of a load of another block's shared memory without conflict, cycles
  double bandwidth = 0;         ///< of an SM: bytes a cycle of such accesses; 0: unlimited
  std::uint32_t barrier = 1;    ///< from the last arrival to the release, cycles
};

struct Stores {
  std::vector<int> caches, tlbs;  ///< that a store goes through
  bool write_back = false;        ///< memory sees a line when it is evicted; else every store
};

struct NoiseModel {
  double jitter = 0;            ///< standard deviation, cycles
  double sm_jitter = 0;         ///< the same of what an SM's own caches answer
  double memory_jitter = 0;     ///< what memory answers is later by the size of a normal variable with this deviation: rows, queues
  double tail_probability = 0, tail = 0;
  bool tail_of_memory = false;  ///< only what memory answers has the tail
  double interference = 0;      ///< probability, of each load, that somebody else's line comes into the device's caches
};

struct DeviceModel {
  std::string name, title;
  std::uint64_t seed = 1;
  int compute_major = 0, compute_minor = 0, sms = 1, sms_per_tpc = 1;
  int gpcs = 1;                  ///< clusters of SMs (TPCs) are dealt to them in turn
  Scope clocks = Scope::Device;  ///< which SMs read one clock register; each of the others began at some time of its own
  double sm_clock_hz = 1e9, memory_clock_hz = 1e9;
  double memory_peak = 0;      ///< bytes a second that the bus could move; 0: not told
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;  ///< what an API would report
  Pipeline pipeline;
  std::vector<UnitModel> units;
  std::vector<OperationModel> operations;
  Limits limits;
  Outstanding outstanding;
  Bandwidth bandwidth;
  std::vector<CacheModel> caches, tlbs;
  std::uint64_t frame_bytes = 0;   ///< physical memory is dealt in frames of this size, by chance; 0: physical addresses are the virtual ones
  std::uint64_t window_bytes = 0;  ///< page entries active at one time; 0: all
  std::array<PathModel, kLoadPaths> paths;  ///< by LoadPath; Default is a copy of another
  Stores stores;
  AtomicsModel atomics;
  SharedModel shared;
  ClusterModel clusters;
  ManagedModel managed;
  NoiseModel noise;
};

/// Which of those that a scope tells apart an SM is in.
inline std::uint32_t place_of(const DeviceModel& model, Scope scope, std::uint32_t sm) {
  switch (scope) {
    case Scope::Sm: return sm;
    case Scope::Tpc: return sm / static_cast<std::uint32_t>(model.sms_per_tpc);
    case Scope::Gpc: return sm / static_cast<std::uint32_t>(model.sms_per_tpc) % static_cast<std::uint32_t>(model.gpcs);
    case Scope::Device: break;
  }
  return 0;
}
/// How many a scope tells apart.
inline std::uint64_t places_of(const DeviceModel& model, Scope scope) {
  switch (scope) {
    case Scope::Sm: return static_cast<std::uint64_t>(model.sms);
    case Scope::Tpc: return static_cast<std::uint64_t>(model.sms / model.sms_per_tpc);
    case Scope::Gpc: return static_cast<std::uint64_t>(model.gpcs);
    case Scope::Device: break;
  }
  return 1;
}
/// The part of a device's cache that an SM is near to: a GPC lies in one of them.
inline std::uint32_t partition_of(const DeviceModel& model, const CacheModel& cache, std::uint32_t sm) {
  if (model.gpcs == 1) return static_cast<std::uint32_t>(std::uint64_t{sm} * cache.partitions / static_cast<std::uint64_t>(model.sms));
  return place_of(model, Scope::Gpc, sm) * cache.partitions / static_cast<std::uint32_t>(model.gpcs);
}

/// A path by its name in a model; nothing: there is no such.
std::optional<LoadPath> path_named(std::string_view name);
/// The path of a load by the word after `via`; nothing: there is no such.
std::optional<LoadPath> load_path(std::string_view via);
/// Of a model, without which the device has no memory in that space; empty: nothing is missing.
std::string missing_table(const DeviceModel& model, std::string_view space);

}  // namespace gexp::sim
