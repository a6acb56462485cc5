// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/policies.h"

#include <algorithm>
#include <bit>

namespace gexp::infer {

std::string Candidate::name() const {
  switch (policy) {
    case Policy::Lru: return "lru";
    case Policy::Fifo: return "fifo";
    case Policy::Plru: return "plru";
    case Policy::Nru: return "nru";
    case Policy::Qlru: return variant.name();
  }
  return "";
}

std::optional<Candidate> Candidate::named(const std::string& name) {
  for (const auto policy : {Policy::Lru, Policy::Fifo, Policy::Plru, Policy::Nru}) {
    if (Candidate(policy).name() == name) return Candidate(policy);
  }
  if (const auto variant = qlru_named(name)) return Candidate(Policy::Qlru, *variant);
  return std::nullopt;
}

PolicyMachine::PolicyMachine(const Candidate& candidate, std::size_t ways) : policy_(candidate.policy), variant_(candidate.variant), ways_(ways) {
  if (policy_ == Policy::Plru) tree_.resize(ways);
  if (has_marks()) set_marks(std::vector<std::uint8_t>(ways, policy_ == Policy::Qlru ? 3 : 0));
  if (policy_ != Policy::Lru && policy_ != Policy::Fifo) return;
  newer_.resize(ways + 1), older_.resize(ways + 1);
  for (std::size_t way = 0; way <= ways; ++way) {
    newer_[way] = static_cast<std::uint16_t>((way + 1) % (ways + 1));
    older_[newer_[way]] = static_cast<std::uint16_t>(way);
  }
}

std::size_t PolicyMachine::miss() {
  before_victim();
  auto way = filled_;
  if (filled_ == ways_) {
    way = victim();
  } else {
    if (fills_last()) way = ways_ - 1 - filled_;
    ++filled_;
  }
  touch(way, true);
  return way;
}

void PolicyMachine::before_victim() {
  if (policy_ == Policy::Qlru && variant_.on_miss) grow_older(ways_);
}

std::size_t PolicyMachine::victim() {
  if (policy_ == Policy::Plru) {
    std::size_t node = 0;
    while (node < ways_ - 1) node = 2 * node + (tree_[node] ? 2 : 1);
    return node - (ways_ - 1);
  }
  if (!has_marks()) return newer_[ways_];
  for (std::size_t word = 0; word < low_.size(); ++word) {
    const auto may = policy_ == Policy::Nru ? ~low_[word] & ways_in(word) : low_[word] & high_[word];
    if (may != 0) return kBits * word + static_cast<std::size_t>(std::countr_zero(may));
  }
  return 0;
}

std::vector<std::uint16_t> PolicyMachine::state() const {
  std::vector<std::uint16_t> state{static_cast<std::uint16_t>(filled_)};
  if (!newer_.empty()) {
    for (auto way = newer_[ways_]; way < ways_; way = newer_[way]) state.push_back(way);
  }
  state.insert(state.end(), tree_.begin(), tree_.end());
  const auto marks = this->marks();
  state.insert(state.end(), marks.begin(), marks.end());
  return state;
}

std::vector<std::uint8_t> PolicyMachine::marks() const {
  std::vector<std::uint8_t> marks;
  for (std::size_t way = 0; has_marks() && way < ways_; ++way) marks.push_back(mark(way));
  return marks;
}

void PolicyMachine::set_marks(const std::vector<std::uint8_t>& marks) {
  low_.assign((ways_ + kBits - 1) / kBits, 0), high_ = low_;
  last_ways_ = ways_ % kBits == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << ways_ % kBits) - 1;
  for (std::size_t way = 0; way < marks.size(); ++way) set_mark(way, marks[way]);
}

void PolicyMachine::touch(std::size_t way, bool fill) {
  if (policy_ == Policy::Lru || (policy_ == Policy::Fifo && fill)) {
    newer_[older_[way]] = newer_[way], older_[newer_[way]] = older_[way];
    older_[way] = older_[ways_], newer_[way] = static_cast<std::uint16_t>(ways_);
    newer_[older_[way]] = older_[ways_] = static_cast<std::uint16_t>(way);
  }
  if (policy_ == Policy::Plru) {  // every node on the way points to the other side
    for (std::size_t node = way + ways_ - 1; node > 0; node = (node - 1) / 2) tree_[(node - 1) / 2] = node % 2 == 1;
  }
  if (policy_ == Policy::Nru) {
    set_mark(way, 1);
    bool all = true;
    for (std::size_t word = 0; word < low_.size(); ++word) all = all && low_[word] == ways_in(word);
    if (all) std::fill(low_.begin(), low_.end(), 0), set_mark(way, 1);
  }
  if (policy_ == Policy::Qlru) {
    set_mark(way, fill ? variant_.insert : variant_.hit(mark(way)));
    if (!variant_.on_miss) grow_older(way);
  }
}

/// `accessed`: ways_ when none was.
void PolicyMachine::grow_older(std::size_t accessed) {
  const bool by_one = variant_.update == Qlru::Update::AllByOne || variant_.update == Qlru::Update::OthersByOne;
  const bool spared = accessed < ways_ && (variant_.update == Qlru::Update::Others || variant_.update == Qlru::Update::OthersByOne);
  const auto grow = [&](std::size_t word) {
    return ways_in(word) & ~(spared && accessed / kBits == word ? std::uint64_t{1} << accessed % kBits : 0);
  };
  bool is_two = false, is_one = false;  // some way's age, of those that decide
  for (std::size_t word = 0; word < low_.size(); ++word) {
    const auto decide = by_one ? ways_in(word) : grow(word);
    if ((low_[word] & high_[word] & decide) != 0) return;
    is_two = is_two || (high_[word] & decide) != 0, is_one = is_one || (low_[word] & decide) != 0;
  }
  const int years = by_one || is_two ? 1 : is_one ? 2 : 3;
  for (std::size_t word = 0; word < low_.size(); ++word) {
    const auto older = grow(word);
    if (years == 1) high_[word] ^= low_[word] & older, low_[word] ^= older;
    if (years == 2) high_[word] |= older;
    if (years == 3) low_[word] |= older, high_[word] |= older;
  }
}

PolicySet::PolicySet(const Candidate& candidate, std::size_t ways, std::size_t lines, bool stale) : machine_(candidate, ways), way_of_(lines, ways), line_in_(ways, lines) {
  if (stale) machine_.fill_up();
}

bool PolicySet::access(std::size_t line) {
  if (holds(line)) {
    machine_.hit(way_of_[line]);
    return true;
  }
  put(line);
  return false;
}

void PolicySet::flood() { put(way_of_.size()); }

void PolicySet::put(std::size_t line) {
  const auto way = machine_.miss();
  if (line_in_[way] < way_of_.size()) way_of_[line_in_[way]] = machine_.ways();
  line_in_[way] = line;
  if (line < way_of_.size()) way_of_[line] = way;
}

std::vector<Candidate> candidate_policies(std::size_t ways) {
  using Policy = Candidate::Policy;
  std::vector<Candidate> all{{Policy::Lru}, {Policy::Fifo}};
  if (ways > 2) {  // with two ways tree-PLRU and NRU are LRU
    if (std::has_single_bit(ways)) all.push_back({Policy::Plru});
    all.push_back({Policy::Nru});
  }
  for (const auto& variant : qlru_variants()) all.push_back({Policy::Qlru, variant});
  return all;
}

}  // namespace gexp::infer
