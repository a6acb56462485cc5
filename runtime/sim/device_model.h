// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/sim/ptx.h"

/// A simulated device, as a model file describes it (docs/device-models.md), validated. Sizes in bytes, times in SM cycles.
namespace gexp::sim {

/// How a line's address chooses its set.
struct IndexModel {
  enum class Kind : std::uint8_t { Single, Bits, Xor, Modulo, Dealt, Scattered };
  Kind kind = Kind::Single;
  std::vector<std::vector<int>> bits;  ///< Bits, Xor: the address bits whose exclusive or is set bit i
  std::uint64_t block = 0;             ///< Scattered: bytes that stay together
};

enum class Policy : std::uint8_t { Lru, Fifo, Plru, Random, Weighted, Nru };

/// A data cache, or a TLB (then a line is a page).
struct CacheModel {
  std::string name;
  std::uint64_t line = 0, sector = 0;
  std::vector<std::uint32_t> ways;  ///< of each set
  IndexModel index;
  Policy policy = Policy::Lru;
  std::vector<double> weights;      ///< Weighted: probability of each way to be replaced
  bool per_sm = true;               ///< private to an SM: a data cache is then empty when a kernel starts
  int storage_of = -1;              ///< shares the lines of this cache, under its own index
};

/// One way for a load to reach its data.
struct PathModel {
  bool present = false;
  std::vector<int> caches;   ///< looked up in this order; then memory
  std::vector<int> tlbs;     ///< looked up in this order; then the page table
  std::size_t translate_at = 0;  ///< lookups before this one use virtual addresses
  bool has_window = false;       ///< the last column below is a walk outside the active window
  /// [where the data is found: a cache or, last, memory][where the translation is found: a TLB, the page table, the page table of another window]
  std::vector<std::vector<double>> latency;
};

struct SharedModel {
  std::uint64_t per_sm = 0, per_block = 0;
  std::uint32_t banks = 32, bank_bytes = 4;
  std::vector<std::uint32_t> modes;  ///< bank widths that a launch can choose
  std::uint32_t default_mode = 4;
  std::vector<std::uint32_t> ways;   ///< conflict degrees for which `cycles` is known, ascending from 1
  std::vector<double> cycles;
};

struct Pipeline {
  std::uint32_t clock = 1;      ///< from one clock read to the next
  std::uint32_t issue = 1;      ///< from one other instruction to the next
  std::uint32_t alu = 1, multiply = 1, divide = 1;  ///< until a result can be used
  std::uint32_t constant = 1;   ///< parameters and constant memory
  std::uint32_t local = 1;
  std::uint32_t transaction = 0;  ///< each further line that one warp instruction touches
};

struct NoiseModel {
  double jitter = 0;            ///< standard deviation, cycles
  double tail_probability = 0, tail = 0;
};

struct DeviceModel {
  std::string name, title;
  std::uint64_t seed = 1;
  int compute_major = 0, compute_minor = 0, sms = 1;
  double sm_clock_hz = 1e9, memory_clock_hz = 1e9;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;  ///< what an API would report
  Pipeline pipeline;
  std::vector<CacheModel> caches, tlbs;
  std::uint64_t window_bytes = 0;  ///< page entries active at one time; 0: all
  std::array<PathModel, kLoadPaths> paths;  ///< by LoadPath; Default is a copy of another
  std::vector<int> store_caches, store_tlbs;
  SharedModel shared;
  NoiseModel noise;
};

}  // namespace gexp::sim
