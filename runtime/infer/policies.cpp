// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/policies.h"

#include <algorithm>
#include <bit>
#include <random>

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

PolicySet::PolicySet(const Candidate& candidate, std::size_t ways, std::size_t lines, bool stale)
    : policy_(candidate.policy), variant_(candidate.variant), ways_(ways), way_of_(lines, ways), line_in_(ways, lines), newer_(ways + 1), older_(ways + 1), tree_(ways),
      marks_(ways, candidate.policy == Policy::Qlru ? 3 : 0), of_age_{0, 0, 0, ways}, filled_(stale ? ways : 0) {
  for (std::size_t way = 0; way <= ways; ++way) newer_[way] = (way + 1) % (ways + 1), older_[newer_[way]] = way;
}

bool PolicySet::access(std::size_t line) {
  if (const auto way = way_of_[line]; way < ways_) {
    touch(way, false);
    return true;
  }
  const auto way = room();
  if (line_in_[way] < way_of_.size()) way_of_[line_in_[way]] = ways_;
  line_in_[way] = line;
  way_of_[line] = way;
  touch(way, true);
  return false;
}

void PolicySet::flood() {
  const auto way = room();
  if (line_in_[way] < way_of_.size()) way_of_[line_in_[way]] = ways_;
  line_in_[way] = way_of_.size();
  touch(way, true);
}

/// The way that a miss takes: an empty one while there are any.
std::size_t PolicySet::room() {
  if (policy_ == Policy::Qlru && variant_.on_miss) grow_older(ways_);
  if (filled_ == ways_) return victim();
  const auto taken = filled_++;
  return policy_ == Policy::Qlru && variant_.fills_last() ? ways_ - 1 - taken : taken;
}

std::size_t PolicySet::victim() {
  if (policy_ == Policy::Plru) {
    std::size_t node = 0;
    while (node < ways_ - 1) node = 2 * node + (tree_[node] ? 2 : 1);
    return node - (ways_ - 1);
  }
  if (policy_ == Policy::Nru) {
    return first_unused_ < ways_ ? first_unused_ : 0;
  }
  if (policy_ == Policy::Qlru) {
    if (of_age_[3] == 0) return 0;
    return static_cast<std::size_t>(std::find(marks_.begin(), marks_.end(), 3) - marks_.begin());
  }
  return newer_[ways_];
}

void PolicySet::touch(std::size_t way, bool fill) {
  if (policy_ == Policy::Lru || (policy_ == Policy::Fifo && fill)) {
    newer_[older_[way]] = newer_[way], older_[newer_[way]] = older_[way];
    older_[way] = older_[ways_], newer_[way] = ways_;
    newer_[older_[way]] = way, older_[ways_] = way;
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

void PolicySet::age(std::size_t way, std::uint8_t years) {
  --of_age_[marks_[way]];
  ++of_age_[marks_[way] = years];
}

/// `accessed`: ways_ when none was.
void PolicySet::grow_older(std::size_t accessed) {
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

// One line more than the set has ways is enough: with it every sequence of hits to ways and of misses can be made, and the line that is
// out says which way was the victim. Stretches visit a few lines or many by chance, with rare misses or with nothing else, or go over
// lines in order, each of them several times in a row, with the one that is out now and then: then all are as young as can be. Often from
// the beginning: two policies can meet in a state from which they go on alike.
bool alike(const Candidate& one, const Candidate& other, std::size_t ways, bool full) {
  const auto lines = ways + 1;
  const PolicySet first(one, ways, lines, full), second(other, ways, lines, full);
  std::mt19937_64 random(ways);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t beginning = 0; beginning < 48; ++beginning) {
    auto a = first, b = second;
    std::size_t absent = 0;
    for (std::size_t accesses = 0; accesses < 500 + 30 * lines;) {
      constexpr std::size_t kMisses[] = {2, 10, 30, 50, 70, 100};  // %
      const auto misses = kMisses[below(6)], from = below(lines), few = 1 + below(lines);
      const bool in_order = below(4) == 0, of_all = below(2) == 0;
      const auto each = 1 + below(4), span = of_all ? lines : few, laps = 1 + below(4);
      const auto accesses_here = in_order ? each * span * laps : 1 + below(2 + below(4 * lines));
      for (std::size_t i = 0; i < accesses_here; ++i, ++accesses) {
        const auto line = in_order ? (from + i / each % span) % lines : below(100) < misses ? absent : (from + below(few)) % lines;
        const bool hit = a.access(line);
        if (b.access(line) != hit) return false;
        if (hit) continue;
        for (absent = 0; absent + 1 < lines && a.holds(absent);) ++absent;
      }
    }
  }
  return true;
}

}  // namespace gexp::infer
