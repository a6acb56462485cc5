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

PolicyMachine::PolicyMachine(const Candidate& candidate, std::size_t ways) : policy_(candidate.policy), variant_(candidate.variant), ways_(ways), of_age_{0, 0, 0, ways} {
  if (policy_ == Policy::Plru) tree_.resize(ways);
  if (has_marks()) marks_.assign(ways, policy_ == Policy::Qlru ? 3 : 0);
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
  if (policy_ == Policy::Nru) return first_unused_ < ways_ ? first_unused_ : 0;
  if (policy_ == Policy::Qlru) {
    if (of_age_[3] == 0) return 0;
    return static_cast<std::size_t>(std::find(marks_.begin(), marks_.end(), 3) - marks_.begin());
  }
  return newer_[ways_];
}

std::vector<std::uint16_t> PolicyMachine::state() const {
  std::vector<std::uint16_t> state{static_cast<std::uint16_t>(filled_)};
  if (!newer_.empty()) {
    for (auto way = newer_[ways_]; way < ways_; way = newer_[way]) state.push_back(way);
  }
  state.insert(state.end(), tree_.begin(), tree_.end());
  state.insert(state.end(), marks_.begin(), marks_.end());
  return state;
}

void PolicyMachine::set_marks(const std::vector<std::uint8_t>& marks) {
  marks_ = marks;
  first_unused_ = static_cast<std::size_t>(std::find(marks.begin(), marks.end(), 0) - marks.begin());
  std::fill(std::begin(of_age_), std::end(of_age_), 0);
  for (const auto mark : marks) ++of_age_[mark];
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
    marks_[way] = 1;
    while (first_unused_ < ways_ && marks_[first_unused_]) ++first_unused_;
    if (first_unused_ == ways_) {
      std::fill(marks_.begin(), marks_.end(), 0);
      marks_[way] = 1;
      first_unused_ = way == 0 ? 1 : 0;
    }
  }
  if (policy_ == Policy::Qlru) {
    age(way, fill ? variant_.insert : variant_.hit(marks_[way]));
    if (!variant_.on_miss) grow_older(way);
  }
}

void PolicyMachine::age(std::size_t way, std::uint8_t years) {
  --of_age_[marks_[way]];
  ++of_age_[marks_[way] = years];
}

/// `accessed`: ways_ when none was.
void PolicyMachine::grow_older(std::size_t accessed) {
  const bool by_one = variant_.update == Qlru::Update::AllByOne || variant_.update == Qlru::Update::OthersByOne;
  const bool spared = accessed < ways_ && (variant_.update == Qlru::Update::Others || variant_.update == Qlru::Update::OthersByOne);
  if (of_age_[3] > 0 && (by_one || !spared || of_age_[3] > 1 || marks_[accessed] != 3)) return;
  std::uint8_t oldest = 0;
  for (std::uint8_t years = 1; years < 4; ++years) {
    if (of_age_[years] > (spared && !by_one && marks_[accessed] == years ? 1u : 0u)) oldest = years;
  }
  const int years = by_one ? 1 : 3 - oldest;
  for (std::size_t way = 0; way < ways_; ++way) {
    if (!spared || way != accessed) age(way, static_cast<std::uint8_t>(marks_[way] + years));
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
