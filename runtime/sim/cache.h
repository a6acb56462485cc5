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
    bool had_room = false;      ///< of a miss: its set had an invalid way before
    std::uint64_t evicted = ~0ull;  ///< address of the line that made room; all ones: none did
  };
  /// Looks the sector of `address` up, and brings it in where it was absent. `index`: how one memory serves two load paths that
  /// map differently.
  Access access(std::uint64_t address, Use use, const SetIndex& index) {
    const Place at = place(address, index);
    if (at.slot == kNone || (slots_[at.slot].sectors & sector_of(address)) == 0) return bring(address, use, at);
    if (use == Use::Write) slots_[at.slot].dirty = 1;
    touch(at, false);
    return {.hit = true};
  }
  Access access(std::uint64_t address, Use use = Use::Read) { return access(address, use, index_); }

  /// Reads the sector of `address` where it is in. False: it is not, and nothing has changed.
  bool read(std::uint64_t address, const SetIndex& index) {
    const Place at = place(address, index);
    if (at.slot == kNone || (slots_[at.slot].sectors & sector_of(address)) == 0) return false;
    touch(at, false);
    return true;
  }
  bool read(std::uint64_t address) { return read(address, index_); }

  /// Takes the line of `address` out; false where it is not in.
  bool take(std::uint64_t address);

  /// Whether the sector of `address` is in; changes nothing.
  [[nodiscard]] bool holds(std::uint64_t address, const SetIndex& index) const;
  [[nodiscard]] bool holds(std::uint64_t address) const { return holds(address, index_); }
  /// An access to `address` is likely to come: the host begins to fetch what it will look at. Changes nothing.
  void expect(std::uint64_t address) const {
    const std::uint64_t line = address >> line_shift_;
    const Known& known = known_[line & known_mask_];
    if (known.line == static_cast<std::uint32_t>(line)) __builtin_prefetch(&slots_[known.slot]);
    else if (is_narrow_) __builtin_prefetch(&sets_[index_(address)]);
    else __builtin_prefetch(&table_[home(mix(line))]);
  }
  void clear();

 private:
  static constexpr std::uint32_t kNone = ~0u;
  static constexpr std::uint64_t kNothing = ~0ull >> 1;

  // A walk by chance over a large cache finds none of this in the host's caches: what one access needs lies together. Where no set has
  // more than kNarrow ways, a line is looked for among its set's marks; else in a hash table of all lines.
  static constexpr std::uint32_t kNarrow = 25, kMarksAWord = 5, kMarkBits = 12;
  struct List {
    std::uint32_t newest = kNone, oldest = kNone;    ///< slots
  };
  struct alignas(64) Set {
    std::uint32_t first = 0, ways = 0;               ///< slot of way 0
    std::uint32_t used = 0;                          ///< ways in use, filled in order
    List list{};                                     ///< Lru, Fifo, Bip
    std::array<std::uint64_t, kNarrow / kMarksAWord> marks{};  ///< kMarkBits of each way's line
  };
  struct Slot {
    std::uint64_t line : 63 = kNothing;              ///< number
    std::uint64_t dirty : 1 = 0;                     ///< written since it came
    std::uint64_t sectors = 0;                       ///< which are valid
  };
  struct Links {
    std::uint32_t newer = kNone, older = kNone;      ///< slots
  };
  /// Turns: of a set. What the groups' counter says outlives a launch.
  struct Turn {
    std::uint32_t group = 0;                         ///< whose turn it is
    std::uint32_t due = 0;                           ///< late: lines that are to leave after the next access
    bool missed = false, several = false;            ///< late: the last access missed; several lines were due since the last hit
  };
  /// Where a line was found last. It is there as long as the slot says so, and then neither its set nor anything else is worked out.
  struct Known {
    std::uint32_t slot = 0, set = 0, line = 0;       ///< the line's low bits
  };
  struct Entry {
    std::uint32_t slot = kNone, check = 0;           ///< bits of the line's hash that its place does not tell
  };

  /// The slot of a line, kNone where it is not in, and its set.
  struct Place {
    std::uint32_t slot, set;
  };
  [[nodiscard]] Place place(std::uint64_t address, const SetIndex& index) {
    const std::uint64_t line = address >> line_shift_;
    Known& known = known_[line & known_mask_];
    const bool own = &index == &index_;
    if (own && known.line == static_cast<std::uint32_t>(line) && slots_[known.slot].line == line) return {known.slot, known.set};
    const std::uint32_t set = index(address), slot = find(line, set);
    if (own && slot != kNone) known = {slot, set, static_cast<std::uint32_t>(line)};
    return {slot, set};
  }
  Access bring(std::uint64_t address, Use use, Place at);
  [[nodiscard]] bool has_room_in(std::uint32_t set) const { return sets_[set].used + spare_ < sets_[set].ways; }
  [[nodiscard]] std::uint64_t sector_of(std::uint64_t address) const { return 1ull << ((address & (line_ - 1)) >> sector_shift_); }
  [[nodiscard]] std::uint32_t find(std::uint64_t line, std::uint32_t set) const;
  [[nodiscard]] std::uint32_t find_in_table(std::uint64_t line, std::uint32_t set) const;
  void insert(std::uint64_t line, std::uint32_t set, std::uint32_t slot);
  void erase(std::uint64_t line, std::uint32_t slot);
  [[nodiscard]] std::size_t home(std::uint64_t hash) const { return static_cast<std::size_t>(hash) & table_mask_; }
  static std::uint32_t check(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  static std::uint64_t mark(std::uint64_t line) { return line * 0x9e3779b97f4a7c15ull >> (64 - kMarkBits); }
  std::uint32_t victim(std::uint32_t set);
  void touch(Place at, bool filled) {
    if (policy_ == Policy::Random || policy_ == Policy::Weighted) return;
    if (policy_ == Policy::Lru && sets_[at.set].list.newest == at.slot) return;
    note_use(at.set, at.slot, filled);
  }
  void note_use(std::uint32_t set, std::uint32_t slot, bool filled);
  [[nodiscard]] bool is_listed() const {
    return policy_ == Policy::Lru || policy_ == Policy::Fifo || policy_ == Policy::Bip || policy_ == Policy::Turns;
  }
  [[nodiscard]] List& list_of(std::uint32_t set, std::uint32_t slot) {
    return policy_ == Policy::Turns ? group_of(set, slots_[slot].line) : sets_[set].list;
  }
  [[nodiscard]] List& group_of(std::uint32_t set, std::uint64_t line);
  void remove(std::uint32_t set, std::uint32_t slot);
  void let_go_late(std::uint32_t set, bool filled);
  void unlink(List& list, std::uint32_t slot);
  void replace_in_list(List& list, std::uint32_t from, std::uint32_t to);
  void move_to_front(std::uint32_t set, std::uint32_t slot);
  void move_to_back(std::uint32_t set, std::uint32_t slot);
  void set_age(std::uint32_t set, std::uint32_t slot, std::uint8_t age);
  void grow_older(std::uint32_t set, std::uint32_t accessed);

  SetIndex index_;
  Policy policy_;
  Qlru qlru_;
  double promoted_;
  std::uint8_t oldest_age_, insert_age_;  // Rrip
  std::uint64_t line_;                   // bytes: a power of two, like a sector
  int line_shift_, sector_shift_;
  std::vector<Set> sets_;
  std::vector<Slot> slots_;
  std::vector<Known> known_;             // by the line's low bits
  std::uint64_t known_mask_ = 0;
  std::vector<Links> links_;             // Lru, Fifo, Bip, Turns: by slot
  std::vector<std::uint64_t> group_masks_;  // Turns: the parity of line & mask is bit i of the group
  std::vector<List> groups_;             // Turns: by set and group
  std::vector<Turn> turns_;              // Turns: by set
  std::uint32_t spare_ = 0;              // late: places of a set beyond its ways
  bool left_dirty_ = false;              // late: a line that had been written left since the last miss
  std::vector<std::uint64_t> marks_;     // Plru: tree bits a set; Nru, Nrf: one mark a slot
  std::vector<std::uint8_t> ages_;       // Qlru, Rrip: by slot
  std::vector<std::array<std::uint32_t, 4>> of_age_;  // Qlru: ways of each age, by set
  std::vector<double> cumulative_;       // Weighted
  bool is_narrow_;
  std::vector<Entry> table_;             // hash table of slots; empty where the cache is narrow
  std::size_t table_mask_ = 0;
  Random random_;
};

}  // namespace gexp::sim
