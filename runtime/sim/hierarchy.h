// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/sim/cache.h"
#include "runtime/sim/device_model.h"
#include "runtime/sim/server.h"

namespace gexp::sim {

/// Caches and TLBs of all SMs and of the device, and what serves their misses. Holds who is cached, never data: those live in
/// DeviceMemory. An access is in two parts: what its SM can answer at once, and, when it reaches them, what all SMs share.
class Hierarchy {
 public:
  /// Equal seeds make the same device; `chance` decides what happens on it: replacement and noise.
  Hierarchy(const DeviceModel& model, std::uint64_t seed, std::uint64_t chance);
  Hierarchy(const Hierarchy&) = delete;
  Hierarchy& operator=(const Hierarchy&) = delete;

  /// A kernel starts: an SM's data caches are empty, and as large as the carve-out (bytes) leaves them; what is the device's keeps what it holds.
  void begin_launch(std::uint64_t carveout);
  /// Empties a level: "l1" the caches of the SMs, "l2" those that they share, "tlb" all TLBs; "managed": all its pages go back.
  void flush(const std::string& level);

  /// The cycle from which the page of an address in managed memory is there: where a thread touches it at `time`, it begins to come.
  std::uint64_t page_there(std::uint64_t address, std::uint64_t time);
  /// So many bytes of managed memory are the host's again.
  void send_back(std::uint64_t address, std::uint64_t bytes);

  /// What the lanes of a warp want of one region: some of its sectors, bit by bit. A region is as long as a line, at least 128 B.
  struct Piece {
    std::uint64_t region = 0;  ///< address
    std::uint32_t sectors = 0;
    std::uint32_t threads = 1;  ///< of the warp that ask for it
    /// How many sectors: one, mostly.
    [[nodiscard]] int count() const { return (sectors & (sectors - 1)) == 0 ? sectors != 0 : std::popcount(sectors); }
  };
  /// What a piece has met in its SM.
  struct Near {
    std::uint32_t missing = 0;    ///< sectors that the SM does not have
    std::uint8_t translated = 0;  ///< where the translation was found: a column of the path's latencies
    double latency = 0;           ///< of the sectors that it has, cycles
    std::uint8_t depth = 0;       ///< where the furthest of these were found: a cache of the path
  };
  Near near(LoadPath which, std::uint32_t sm, Piece piece) {
    const Path& path = paths_[index(which)];
    if (path.quick && (piece.sectors & (piece.sectors - 1)) == 0) {
      // Most loads ask for one sector, and the first cache has it.
      const Level& level = path.caches[0];
      const auto i = static_cast<std::size_t>(level.cache);
      Cache* const lines = caches_[i][instance_[i][sm]].get();
      const std::uint64_t address = piece.region + (static_cast<std::uint64_t>(std::countr_zero(piece.sectors)) << path.sector_shift);
      if (lines && (level.index ? lines->read(address, *level.index) : lines->read(address))) {
        tallies_.caches[i].add(true);
        missed_ = false;
        const double latency = path.latency[0][0];
        return {0, 0, latency > 0 && noisy_ ? latency + noise(Answered::BySm) : latency, 0};
      }
    }
    if (path.near == 0) {
      missed_ = true;
      return {piece.sectors, translate(path, sm, piece.region), 0, 0};
    }
    return near_of_all(path, sm, piece);
  }
  /// Whether the last piece missed in its SM.
  [[nodiscard]] bool missed() const { return missed_; }
  /// Whether near() would miss nothing; changes nothing.
  [[nodiscard]] bool holds(LoadPath path, std::uint32_t sm, Piece piece) const;

  /// A load of `address` is likely to come next. Changes nothing but how long the host will take.
  void expect(LoadPath path, std::uint64_t address) const;
  /// Cycles from leaving the SM until the piece is back, for one that arrives at `time`.
  double far(LoadPath which, std::uint32_t sm, Piece piece, std::uint8_t translated, double time) {
    const Path& path = paths_[index(which)];
    Home home;
    if (path.near == path.caches.size()) return far_of_all(which, sm, piece, translated, time, 0, home, nullptr);
    const Level& level = path.caches[path.near];
    const bool one = (piece.sectors & (piece.sectors - 1)) == 0;
    const double waits = serve_slice(level, sm, piece.region, static_cast<double>(path.sector) * piece.count(), time, home);
    if (!path.quick_far || !one) return far_of_all(which, sm, piece, translated, time, waits, home, nullptr);
    // Most loads ask for one sector, and the first of these caches has it.
    const std::uint64_t into = static_cast<std::uint64_t>(std::countr_zero(piece.sectors)) << path.sector_shift;
    const Cache::Access first = look(level, sm, placed(path, path.near, piece.region + into));
    if (!first.hit) return far_of_all(which, sm, piece, translated, time, waits, home, &first);
    depth_ = static_cast<std::uint8_t>(path.near);
    if (home.other) home.distance += model_.caches[static_cast<std::size_t>(level.cache)].far;
    return waits + home.distance + path.latency[path.near][translated] + (noisy_ ? noise(Answered::Beyond) : 0);
  }
  /// Where far() found the furthest sector of the last piece: a cache of its path or, behind them, memory.
  [[nodiscard]] std::uint8_t depth() const { return depth_; }
  /// The number of that cache of the model; -1: memory.
  [[nodiscard]] int cache_at(LoadPath path, std::uint8_t depth) const {
    const auto& caches = paths_[index(path)].caches;
    return depth < caches.size() ? caches[depth].cache : -1;
  }
  /// A piece of a store arrives. Returns when it is done.
  double store(std::uint32_t sm, Piece piece, double time);
  /// Cycles that an instruction fetch takes beyond a hit in the first instruction cache.
  std::uint32_t fetch(std::uint32_t sm, std::uint64_t address);

  /// What was looked up and found since `count_anew`.
  struct Tally {
    std::uint64_t lookups = 0, hits = 0;
    std::uint64_t stores = 0, store_hits = 0;  ///< of these, by stores
    void add(bool hit) { ++lookups, hits += hit; }
  };
  struct Tallies {
    std::vector<Tally> caches, tlbs;  ///< of the model
    double dram_read = 0, dram_written = 0;  ///< bytes
  };
  [[nodiscard]] const Tallies& tallies() const { return tallies_; }
  void count_anew() { tallies_ = {std::vector<Tally>(caches_.size()), std::vector<Tally>(tlbs_.size())}; }

  [[nodiscard]] bool present(LoadPath path) const { return paths_[index(path)].present; }
  /// Bytes that one lookup of the path brings: a sector of its first cache; and of the region that such sectors are part of.
  [[nodiscard]] std::uint64_t sector(LoadPath path) const { return paths_[index(path)].sector; }
  [[nodiscard]] std::uint64_t region(LoadPath path) const { return paths_[index(path)].region; }
  /// The piece that one address asks for.
  [[nodiscard]] Piece piece(LoadPath path, std::uint64_t address) const {
    const std::uint64_t into = address & (region(path) - 1);  // regions and sectors are powers of two
    return {address - into, 1u << (into >> paths_[index(path)].sector_shift)};
  }
  /// The same of stores.
  [[nodiscard]] std::uint64_t store_sector() const { return stores_.sector; }
  /// Whether an SM answers some accesses of the path itself.
  [[nodiscard]] bool has_near(LoadPath path) const { return paths_[index(path)].near != 0; }
  /// Cycles from leaving the SM to arriving at what all share. Only the order of arrivals depends on it.
  [[nodiscard]] std::uint64_t way(LoadPath path) const { return paths_[index(path)].way; }

 private:
  static constexpr std::uint64_t kLeastRegion = 128;
  enum class Answered : std::uint8_t { BySm, Beyond, ByMemory };
  struct Level {
    int cache = 0;                    ///< of the model
    const SetIndex* index = nullptr;  ///< of its own when it shares another cache's lines
    bool victims = false;             ///< it holds what the cache before it gave up
  };
  struct Path {
    bool present = false;
    std::vector<Level> caches;
    std::vector<int> tlbs;
    std::size_t near = 0;  ///< the first so many caches are looked up in the SM
    std::size_t translate_at = 0;
    bool has_window = false;
    bool victims = false;  ///< some cache of an SM holds such
    bool quick = false;    ///< its first cache is an SM's, holds no victims, and asks for no translation
    bool quick_far = false;  ///< the first cache that all share has one place for each line, and sectors of the path's length
    std::uint64_t sector = 32, region = kLeastRegion, way = 0;
    int sector_shift = 5;
    std::vector<std::vector<double>> latency;
  };

  static std::size_t index(LoadPath path) { return static_cast<std::size_t>(path); }
  /// Which of the caches of one model an SM uses.
  [[nodiscard]] std::size_t instance(const CacheModel& cache, std::uint32_t sm) const {
    if (cache.copies) return partition(cache, sm);
    return place_of(model_, cache.scope, sm);
  }
  [[nodiscard]] std::size_t partition(const CacheModel& cache, std::uint32_t sm) const { return partition_of(model_, cache, sm); }
  Cache& cache(int model, std::uint32_t sm) {
    const auto i = static_cast<std::size_t>(model);
    Cache* const there = caches_[i][instance_[i][sm]].get();
    return there ? *there : new_cache(i, sm);
  }
  /// An SM of a partition, to name its cache by.
  [[nodiscard]] std::uint32_t sm_of(const CacheModel& cache, std::size_t partition) const {
    if (model_.gpcs == 1) return static_cast<std::uint32_t>(partition * static_cast<std::size_t>(model_.sms) / cache.partitions);
    const auto gpcs = static_cast<std::size_t>(model_.gpcs), gpc = (partition * gpcs + cache.partitions - 1) / cache.partitions;
    return static_cast<std::uint32_t>(gpc * static_cast<std::size_t>(model_.sms_per_tpc));
  }
  Cache& new_cache(std::size_t model, std::uint32_t sm);
  Near near_of_all(const Path& path, std::uint32_t sm, Piece piece);
  Cache& tlb(int model, std::uint32_t sm) {
    const auto i = static_cast<std::size_t>(model);
    Cache* const there = tlbs_[i][tlb_instance_[i][sm]].get();
    return there ? *there : new_tlb(i, sm);
  }
  Cache& new_tlb(std::size_t model, std::uint32_t sm);
  Cache::Access look(const Level& level, std::uint32_t sm, std::uint64_t address, Cache::Use use = Cache::Use::Read) {
    Cache& lines = cache(level.cache, sm);
    const Cache::Access access = level.index ? lines.access(address, use, *level.index) : lines.access(address, use);
    tallies_.caches[static_cast<std::size_t>(level.cache)].add(access.hit);
    return access;
  }
  /// Looks for a sector that the level before did not have; `new_victims_` grows by what that level gives up for it.
  bool look_near(const Path& path, const Level& level, std::uint32_t sm, std::uint64_t address);
  /// Where a path's cache number `found` looks for an address: where it lies in physical memory, once it is translated.
  [[nodiscard]] std::uint64_t placed(const Path& path, std::size_t found, std::uint64_t address) const {
    return model_.frame_bytes == 0 || found < path.translate_at ? address : physical(address);
  }
  [[nodiscard]] std::uint64_t physical(std::uint64_t address) const;
  std::uint8_t translate(const Path& path, std::uint32_t sm, std::uint64_t address);
  /// Whether what lies at `address`, which is not in, was fetched ahead by the miss before it.
  bool fetched_ahead(const Level& level, std::uint64_t address);
  /// Where a line is at home.
  struct Home {
    std::size_t partition = 0;
    bool other = false;   ///< than that of the SM that asks
    double distance = 0;  ///< cycles that its slice is further from the SM than the nearest one of its partition
  };
  [[nodiscard]] std::vector<Home> homes_of(const CacheModel& cache, std::uint32_t sm) const;
  /// One sector on its way through the caches that all share: where it was found; `dirty` grows by evicted lines. `home.other` goes
  /// where the SM's own partition had a copy. `first`: what the first of them has said, if it was asked.
  std::size_t search(const Path& path, std::uint32_t sm, std::uint64_t address, const Cache::Access* first, Home& home, bool& dirty,
                     bool& ahead);
  double far_of_all(LoadPath which, std::uint32_t sm, Piece piece, std::uint8_t translated, double time, double waits, Home home,
                    const Cache::Access* first);
  /// Cycles that an access waits for its slice.
  double serve_slice(const Level& level, std::uint32_t sm, std::uint64_t address, double bytes, double time, Home& home) {
    const CacheModel& m = model_.caches[static_cast<std::size_t>(level.cache)];
    if (m.slices == 1 && m.interval <= 0 && model_.bandwidth.l2 <= 0) return 0;
    return serve_own_slice(level, sm, address, bytes, time, home);
  }
  double serve_own_slice(const Level& level, std::uint32_t sm, std::uint64_t address, double bytes, double time, Home& home);
  /// What noise adds to a load's latency.
  double noise(Answered by);

  const DeviceModel& model_;
  std::uint64_t seed_, chance_;
  std::vector<std::vector<std::unique_ptr<Cache>>> caches_, tlbs_;  ///< [of the model][of the SM, the TPC or the device]
  std::vector<std::vector<std::uint32_t>> instance_, tlb_instance_;  ///< [of the model][SM]: which of these it uses
  std::vector<std::unique_ptr<SetIndex>> indices_;
  std::vector<std::vector<Server>> slices_;   ///< [cache of the model]
  std::vector<std::vector<std::vector<Home>>> homes_;  ///< [cache of the model][SM][slice]; empty until the SM asks for one
  std::vector<std::uint64_t> ahead_;          ///< [cache of the model]: begin of what the last miss fetched ahead
  std::array<Path, kLoadPaths> paths_;
  Path stores_;
  Server dram_;
  /// To a memory that is not the device's.
  struct Link {
    double rate;  ///< bytes a cycle, each way; 0: unlimited
    Server from{}, to{};
  };
  Link host_, peer_;
  std::map<std::uint64_t, std::uint64_t> pages_;  ///< of managed memory: from which cycle each is there; the others are the host's
  std::vector<std::uint64_t> victims_, new_victims_;  // of the access at hand
  std::uint64_t carveout_ = 0, window_ = ~0ull;
  Tallies tallies_;
  std::uint8_t depth_ = 0;
  bool missed_ = true;
  bool noisy_;
  Random random_;
};

}  // namespace gexp::sim
