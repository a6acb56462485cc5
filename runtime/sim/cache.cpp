// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/cache.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace gexp::sim {

Cache::Cache(const CacheModel& model, const std::vector<std::uint32_t>& ways_of, std::uint64_t seed, std::uint64_t chance)
    : index_(model, seed), policy_(model.policy), qlru_(model.qlru), promoted_(model.promoted), oldest_age_(static_cast<std::uint8_t>(model.ages - 1)),
      insert_age_(static_cast<std::uint8_t>(model.insert)), line_(model.line), line_shift_(std::countr_zero(model.line)), sector_shift_(std::countr_zero(model.sector)), random_(seed ^ chance ^ 0x5eed) {
  std::uint32_t slots = 0;
  // What misses while a line is due takes the second spare place; then lines leave.
  if (policy_ == Policy::Turns && model.late) spare_ = 2;
  for (const std::uint32_t ways : ways_of) {
    sets_.push_back({.first = slots, .ways = ways + spare_});
    slots += ways + spare_;
  }
  slots_.resize(std::max(slots, 1u));
  known_.resize(remembered(slots)), known_mask_ = known_.size() - 1;
  if (is_listed()) links_.resize(slots);
  if (policy_ == Policy::Plru) marks_.resize(sets_.size());
  if (policy_ == Policy::Nru || policy_ == Policy::Nrf) marks_.resize(slots);
  if (policy_ == Policy::Turns) {
    for (const auto& bits : model.groups) group_masks_.push_back(mask_of_bits(bits) >> line_shift_);
    groups_.resize(sets_.size() << group_masks_.size()), turns_.resize(sets_.size());
    // Whose turn it is depends on all that the device did before.
    for (Turn& turn : turns_) turn.group = chance == 0 ? 0 : random_.below(1u << group_masks_.size());
  }
  if (policy_ == Policy::Rrip) ages_.resize(slots);
  if (policy_ == Policy::Qlru) ages_.resize(slots), of_age_.resize(sets_.size());
  double sum = 0;
  for (const double weight : model.weights) cumulative_.push_back(sum += weight);
  is_narrow_ = std::all_of(sets_.begin(), sets_.end(), [](const Set& set) { return set.ways <= kNarrow; });
  if (!is_narrow_) table_.resize(std::bit_ceil(std::size_t{slots} * 2 + 2)), table_mask_ = table_.size() - 1;
  clear();
}

void Cache::clear() {
  for (Set& set : sets_) set.used = 0, set.list = {};
  std::fill(groups_.begin(), groups_.end(), List{});
  for (Turn& turn : turns_) turn = {.group = turn.group};
  left_dirty_ = false;
  for (Slot& slot : slots_) slot.line = kNothing;
  std::fill(links_.begin(), links_.end(), Links{});
  std::fill(marks_.begin(), marks_.end(), 0);
  std::fill(table_.begin(), table_.end(), Entry{});
  std::fill(ages_.begin(), ages_.end(), policy_ == Policy::Rrip ? oldest_age_ : std::uint8_t{3});  // empty ways are of the greatest age
  for (std::size_t set = 0; set < of_age_.size(); ++set) of_age_[set] = {0, 0, 0, sets_[set].ways};
}

/// What access() does where a sector is not in.
Cache::Access Cache::bring(std::uint64_t address, Use use, Place at) {
  const std::uint64_t line = address >> line_shift_, sector = sector_of(address);
  const auto [found, set] = at;
  if (found != kNone) {
    slots_[found].sectors |= sector;
    if (use == Use::Write) slots_[found].dirty = 1;
    touch(at, false);
    return {.had_room = has_room_in(set)};
  }
  Access result{.had_room = has_room_in(set)};
  std::uint32_t slot = kNone;
  // Invalid ways first.
  if (policy_ == Policy::Qlru && qlru_.on_miss) grow_older(set, kNone);
  if (spare_ > 0 || result.had_room) {
    const std::uint32_t filled = sets_[set].used++;
    slot = sets_[set].first + (policy_ == Policy::Qlru && qlru_.fills_last() ? sets_[set].ways - 1 - filled : filled);
  } else {
    slot = victim(set);
    if (policy_ == Policy::Turns) unlink(list_of(set, slot), slot);  // what comes in may be of another group
    erase(slots_[slot].line, slot);
    result.evicted = slots_[slot].line << line_shift_;
    result.evicted_dirty = slots_[slot].dirty;
  }
  slots_[slot].line = line;
  slots_[slot].sectors = sector;
  slots_[slot].dirty = use == Use::Write;
  insert(line, set, slot);
  touch({slot, set}, true);
  result.evicted_dirty |= std::exchange(left_dirty_, false);
  return result;
}

bool Cache::take(std::uint64_t address) {
  const std::uint64_t line = address >> line_shift_;
  const std::uint32_t index = index_(address), slot = find(line, index);
  if (slot == kNone) return false;
  remove(index, slot);
  return true;
}

/// Takes a line out.
void Cache::remove(std::uint32_t index, std::uint32_t slot) {
  // Ways are filled in order: the last one in use takes the place that is free.
  Set& set = sets_[index];
  const std::uint32_t last = set.first + --set.used;
  Slot& freed = slots_[slot];
  erase(freed.line, slot);
  if (is_listed()) unlink(list_of(index, slot), slot);
  if (slot != last) {
    Slot& moved = slots_[last];
    erase(moved.line, last);
    freed.line = moved.line, freed.sectors = moved.sectors, freed.dirty = moved.dirty;
    insert(freed.line, index, slot);
    if (is_listed()) replace_in_list(list_of(index, slot), last, slot);
  }
  if (is_listed()) links_[last] = {};
  slots_[last].line = kNothing;
}

bool Cache::holds(std::uint64_t address, const SetIndex& index) const {
  const std::uint32_t slot = find(address >> line_shift_, index(address));
  return slot != kNone && (slots_[slot].sectors & sector_of(address)) != 0;
}

std::uint32_t Cache::find(std::uint64_t line, std::uint32_t index) const {
  if (!is_narrow_) return find_in_table(line, index);
  constexpr std::uint64_t kOnes = 0x001'001'001'001'001, kHigh = kOnes << (kMarkBits - 1), kLow = kHigh - kOnes;
  const Set& set = sets_[index];
  const std::uint64_t wanted = mark(line) * kOnes;
  for (std::uint32_t begin = 0; begin < set.ways; begin += kMarksAWord) {
    // Five marks at once: the highest bit of each that is equal.
    const std::uint64_t differ = set.marks[begin / kMarksAWord] ^ wanted;
    for (std::uint64_t equal = ~(((differ & kLow) + kLow) | differ) & kHigh; equal != 0; equal &= equal - 1) {
      const std::uint32_t way = begin + static_cast<std::uint32_t>(std::countr_zero(equal)) / kMarkBits;
      if (way < set.ways && slots_[set.first + way].line == line) return set.first + way;
    }
  }
  return kNone;
}

std::uint32_t Cache::find_in_table(std::uint64_t line, std::uint32_t set) const {
  const std::uint64_t hash = mix(line);
  for (std::size_t at = home(hash); table_[at].slot != kNone; at = (at + 1) & table_mask_) {
    const std::uint32_t slot = table_[at].slot;
    if (table_[at].check == check(hash) && slots_[slot].line == line && slot - sets_[set].first < sets_[set].ways) return slot;
  }
  return kNone;
}

void Cache::insert(std::uint64_t line, std::uint32_t set, std::uint32_t slot) {
  if (is_narrow_) {
    const std::uint32_t way = slot - sets_[set].first, shift = way % kMarksAWord * kMarkBits;
    std::uint64_t& word = sets_[set].marks[way / kMarksAWord];
    word = (word & ~(((1ull << kMarkBits) - 1) << shift)) | mark(line) << shift;
    return;
  }
  const std::uint64_t hash = mix(line);
  std::size_t at = home(hash);
  while (table_[at].slot != kNone) at = (at + 1) & table_mask_;
  table_[at] = {slot, check(hash)};
}

void Cache::erase(std::uint64_t line, std::uint32_t slot) {
  if (is_narrow_) return;  // who comes instead writes a mark of its own
  std::size_t hole = home(mix(line));
  while (table_[hole].slot != slot) hole = (hole + 1) & table_mask_;
  // Entries after the hole move up unless that would put them before their home.
  for (std::size_t at = (hole + 1) & table_mask_; table_[at].slot != kNone; at = (at + 1) & table_mask_) {
    const std::size_t want = home(mix(slots_[table_[at].slot].line));
    if (((at - want) & table_mask_) >= ((at - hole) & table_mask_)) {
      table_[hole] = table_[at];
      hole = at;
    }
  }
  table_[hole] = {};
}

std::uint32_t Cache::victim(std::uint32_t set) {
  const std::uint32_t first = sets_[set].first, ways = sets_[set].ways;
  switch (policy_) {
    case Policy::Lru:
    case Policy::Fifo:
    case Policy::Bip: return sets_[set].list.oldest;
    case Policy::Turns: {
      const auto bits = group_masks_.size();
      for (auto& turn = turns_[set];;) {
        const std::uint32_t oldest = groups_[(std::size_t{set} << bits) + turn.group].oldest;
        turn.group = (turn.group + 1) & ((1u << bits) - 1);
        if (oldest != kNone) return oldest;
      }
    }
    case Policy::Random: return first + random_.below(ways);
    case Policy::Weighted: {
      const double at = random_.unit() * cumulative_.back();
      const auto way = std::upper_bound(cumulative_.begin(), cumulative_.end(), at) - cumulative_.begin();
      return first + std::min(static_cast<std::uint32_t>(way), ways - 1);
    }
    case Policy::Plru: {
      // A binary tree over the ways; each bit points to the half that was used less recently.
      std::uint32_t node = 1;
      while (node < ways) node = 2 * node + (marks_[set] >> node & 1);
      return first + node - ways;
    }
    case Policy::Rrip: {
      const auto begin = ages_.begin() + first;
      const auto eldest = *std::max_element(begin, begin + ways);
      for (auto age = begin; age != begin + ways; ++age) *age = static_cast<std::uint8_t>(*age + (oldest_age_ - eldest));
      return static_cast<std::uint32_t>(std::find(begin, begin + ways, oldest_age_) - ages_.begin());
    }
    case Policy::Nru:
    case Policy::Nrf: {
      for (std::uint32_t slot = first; slot < first + ways; ++slot) {
        if (!marks_[slot]) return slot;
      }
      return first;  // touch() never leaves a full set all marked
    }
    case Policy::Qlru: {
      if (of_age_[set][3] == 0) return first;
      return static_cast<std::uint32_t>(std::find(ages_.begin() + first, ages_.begin() + first + ways, 3) - ages_.begin());
    }
  }
  return first;
}

void Cache::note_use(std::uint32_t set, std::uint32_t slot, bool filled) {
  const std::uint32_t first = sets_[set].first, ways = sets_[set].ways;
  switch (policy_) {
    case Policy::Lru: return move_to_front(set, slot);
    case Policy::Turns:
      move_to_front(set, slot);
      if (spare_ > 0) let_go_late(set, filled);
      return;
    case Policy::Fifo:
      if (filled) move_to_front(set, slot);
      return;
    case Policy::Plru:
      for (std::uint32_t node = slot - first + ways; node > 1; node /= 2) {
        const std::uint64_t bit = 1ull << (node / 2);
        if (node & 1) marks_[set] &= ~bit; else marks_[set] |= bit;
      }
      return;
    case Policy::Bip:
      if (!filled || random_.unit() < promoted_) move_to_front(set, slot);
      else move_to_back(set, slot);
      return;
    case Policy::Rrip:
      ages_[slot] = filled ? insert_age_ : std::uint8_t{0};
      return;
    case Policy::Nrf:
    case Policy::Nru:
      if (policy_ == Policy::Nrf && !filled) return;
      marks_[slot] = 1;
      if (std::all_of(marks_.begin() + first, marks_.begin() + first + ways, [](std::uint64_t m) { return m != 0; })) {
        std::fill(marks_.begin() + first, marks_.begin() + first + ways, 0);
        marks_[slot] = ways > 1;
      }
      return;
    case Policy::Qlru:
      set_age(set, slot, filled ? qlru_.insert : qlru_.hit(ages_[slot]));
      if (!qlru_.on_miss) grow_older(set, slot);
      return;
    case Policy::Random:
    case Policy::Weighted: return;
  }
}

void Cache::set_age(std::uint32_t set, std::uint32_t slot, std::uint8_t age) {
  --of_age_[set][ages_[slot]];
  ages_[slot] = age;
  ++of_age_[set][age];
}

/// What happens to the ages of a set after an access; of nothing when kNone.
void Cache::grow_older(std::uint32_t set, std::uint32_t accessed) {
  using Update = Qlru::Update;
  auto count = of_age_[set];
  const bool others = qlru_.update == Update::Others || qlru_.update == Update::OthersByOne, by_one = qlru_.update == Update::AllByOne || qlru_.update == Update::OthersByOne;
  if (by_one && count[3] > 0) return;
  if (others && !by_one && accessed != kNone) --count[ages_[accessed]];
  const std::uint8_t oldest = count[3] > 0 ? 3 : count[2] > 0 ? 2 : count[1] > 0 ? 1 : 0;
  if (oldest == 3 || count[0] + count[1] + count[2] == 0) return;
  const auto years = static_cast<std::uint8_t>(by_one ? 1 : 3 - oldest);
  of_age_[set] = {};
  for (std::uint32_t slot = sets_[set].first; slot < sets_[set].first + sets_[set].ways; ++slot) {
    if (!others || slot != accessed) ages_[slot] = static_cast<std::uint8_t>(ages_[slot] + years);
    ++of_age_[set][ages_[slot]];
  }
}

Cache::List& Cache::group_of(std::uint32_t set, std::uint64_t line) {
  std::size_t group = set;
  for (std::size_t bit = group_masks_.size(); bit-- > 0;) group = group << 1 | (std::popcount(line & group_masks_[bit]) & 1u);
  return groups_[group];
}

/// Late evictions, as an H200's L1 makes them: after an access, what was due before it leaves. Where a second miss came meanwhile, three
/// lines more leave than are too many, and the next misses find room.
void Cache::let_go_late(std::uint32_t set, bool filled) {
  constexpr std::uint32_t kMore = 3;
  Turn& turn = turns_[set];
  const bool was_due = turn.due > 0;
  for (; turn.due > 0; --turn.due) {
    const std::uint32_t leaves = victim(set);
    left_dirty_ |= slots_[leaves].dirty != 0;
    remove(set, leaves);
  }
  if (filled) {
    const std::uint32_t ways = sets_[set].ways - spare_, used = sets_[set].used;
    if (used > ways) turn.due = used - ways;
    if (turn.missed && was_due && !turn.several) turn.due = std::min(turn.due + kMore, used), turn.several = true;
  } else {
    turn.several = false;
  }
  turn.missed = filled;
}

/// Takes a slot out of its list, if it is in.
void Cache::unlink(List& list, std::uint32_t slot) {
  Links& own = links_[slot];
  if (own.newer != kNone) links_[own.newer].older = own.older;
  else if (list.newest == slot) list.newest = own.older;
  if (own.older != kNone) links_[own.older].newer = own.newer;
  else if (list.oldest == slot) list.oldest = own.newer;
  own = {};
}

/// `to` takes the place of `from` in their list.
void Cache::replace_in_list(List& list, std::uint32_t from, std::uint32_t to) {
  const Links own = links_[to] = links_[from];
  (own.newer != kNone ? links_[own.newer].older : list.newest) = to;
  (own.older != kNone ? links_[own.older].newer : list.oldest) = to;
}

void Cache::move_to_front(std::uint32_t set, std::uint32_t slot) {
  List& list = list_of(set, slot);
  if (list.newest == slot) return;
  unlink(list, slot);
  links_[slot].older = list.newest;
  if (list.newest != kNone) links_[list.newest].newer = slot; else list.oldest = slot;
  list.newest = slot;
}

void Cache::move_to_back(std::uint32_t set, std::uint32_t slot) {
  List& list = list_of(set, slot);
  if (list.oldest == slot) return;
  unlink(list, slot);
  links_[slot].newer = list.oldest;
  if (list.oldest != kNone) links_[list.oldest].older = slot; else list.newest = slot;
  list.oldest = slot;
}

}  // namespace gexp::sim
