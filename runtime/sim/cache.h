// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/sim/device_model.h"
#include "runtime/sim/random.h"
#include "runtime/sim/set_index.h"

namespace gexp::sim {

/// The lines of a cache or TLB: who is in, and who goes next. An access costs constant time, however many ways there are, but for marks
/// and ages (NRU, QLRU), of which a set's are looked through.
class Cache {
 public:
  /// `ways`: of each set, the model's or what a carve-out leaves of them. `seed`: of what the device is (a scattered index);
  /// `chance`: of what happens on it (whom random replacement evicts).
  Cache(const CacheModel& model, const std::vector<std::uint32_t>& ways, std::uint64_t seed, std::uint64_t chance);
  Cache(const CacheModel& model, std::uint64_t seed) : Cache(model, model.ways, seed, 0) {}

  enum class Use : std::uint8_t { Read, Write };
  struct Access {
    bool hit = false;
    bool evicted_dirty = false;  ///< a line that had been written made room
  };
  /// Looks the sector of `address` up, and brings it in where it was absent. `index`: how one memory serves two load paths that
  /// map differently.
  Access access(std::uint64_t address, Use use, const SetIndex& index);
  Access access(std::uint64_t address, Use use = Use::Read) { return access(address, use, index_); }

  /// Whether the sector of `address` is in; changes nothing.
  [[nodiscard]] bool holds(std::uint64_t address, const SetIndex& index) const;
  [[nodiscard]] bool holds(std::uint64_t address) const { return holds(address, index_); }
  /// Whether the set of `address` has an invalid way.
  [[nodiscard]] bool has_room(std::uint64_t address) const { return has_room_in(index_(address)); }
  void clear();

 private:
  static constexpr std::uint32_t kNone = ~0u;

  [[nodiscard]] bool has_room_in(std::uint32_t set) const { return used_[set] < first_[set + 1] - first_[set]; }
  [[nodiscard]] std::uint64_t sector_of(std::uint64_t address) const { return 1ull << (address % line_ / sector_); }
  [[nodiscard]] std::uint32_t find(std::uint64_t line, std::uint32_t set) const;
  void insert(std::uint64_t line, std::uint32_t slot);
  void erase(std::uint64_t line, std::uint32_t slot);
  [[nodiscard]] std::size_t home(std::uint64_t line) const { return static_cast<std::size_t>(mix(line)) & table_mask_; }
  std::uint32_t victim(std::uint32_t set);
  void touch(std::uint32_t set, std::uint32_t slot, bool filled);
  void move_to_front(std::uint32_t set, std::uint32_t slot);
  void set_age(std::uint32_t set, std::uint32_t slot, std::uint8_t age);
  void grow_older(std::uint32_t set, std::uint32_t accessed);

  SetIndex index_;
  Policy policy_;
  Qlru qlru_;
  std::uint64_t line_, sector_;
  std::vector<std::uint32_t> first_;     // slot of each set's way 0; one more at the end
  std::vector<std::uint32_t> used_;      // ways in use, filled in order
  std::vector<std::uint64_t> lines_;     // by slot: line number
  std::vector<std::uint64_t> sectors_;   // by slot: which sectors are valid
  std::vector<bool> dirty_;              // by slot: written since it came
  std::vector<std::uint32_t> newer_, older_;  // Lru, Fifo: a list a set
  std::vector<std::uint32_t> newest_, oldest_;
  std::vector<std::uint64_t> marks_;     // Plru: tree bits a set; Nru: one mark a slot
  std::vector<std::uint8_t> ages_;       // Qlru: by slot
  std::vector<std::array<std::uint32_t, 4>> of_age_;  // Qlru: ways of each age, by set
  std::vector<double> cumulative_;       // Weighted
  std::vector<std::uint32_t> table_;     // hash table of slots
  std::size_t table_mask_ = 0;
  Random random_;
};

}  // namespace gexp::sim
