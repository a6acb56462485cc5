// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "runtime/sim/cache.h"
#include "runtime/sim/device_model.h"

namespace gexp::sim {

/// Caches and TLBs of one SM and the device. Holds who is cached, never data: those live in DeviceMemory.
class Hierarchy {
 public:
  /// Equal seeds make the same device; `chance` decides what happens on it: replacement and noise.
  Hierarchy(const DeviceModel& model, std::uint64_t seed, std::uint64_t chance);
  Hierarchy(const Hierarchy&) = delete;
  Hierarchy& operator=(const Hierarchy&) = delete;

  /// A kernel starts: an SM's data caches are empty, shared caches and TLBs keep what they hold.
  void begin_launch();
  /// Empties a level: "l1" the caches of an SM, "l2" those that SMs share, "tlb" all TLBs.
  void flush(const std::string& level);
  /// Cycles until data at `address` can be used; moves the caches on.
  std::uint32_t load(LoadPath path, std::uint64_t address);
  /// Writes through to the caches that stores reach; nobody waits for it.
  void store(std::uint64_t address);
  /// Bytes that one transaction of the path moves: lanes inside one unit share it.
  [[nodiscard]] std::uint64_t unit(LoadPath path) const { return paths_[static_cast<std::size_t>(path)].unit; }

 private:
  struct Level {
    Cache* cache = nullptr;
    const SetIndex* index = nullptr;  ///< of its own when it shares another cache's lines
    bool access(std::uint64_t address) const { return index ? cache->access(address, *index) : cache->access(address); }
  };
  struct Path {
    std::vector<Level> caches, tlbs;
    std::size_t translate_at = 0;
    bool has_window = false;
    std::uint64_t unit = 32;
    std::vector<std::vector<double>> latency;
  };

  std::size_t translate(const Path& path, std::uint64_t address);

  std::vector<std::unique_ptr<Cache>> caches_, tlbs_;
  std::vector<std::unique_ptr<SetIndex>> indices_;
  std::vector<Cache*> emptied_, shared_;  // at each launch; by a flush of "l2" only
  std::array<Path, kLoadPaths> paths_;
  Path stores_;
  std::uint64_t window_bytes_, window_ = ~0ull;
  NoiseModel noise_;
  bool noisy_;
  Random random_;
};

}  // namespace gexp::sim
