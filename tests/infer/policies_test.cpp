// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/policies.h"
#include "runtime/infer/same_policy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

using namespace gexp;
using infer::Candidate;
using infer::PolicySet;

namespace {

/// QLRU as slowly as it can be written, after the names' definitions (Abel and Reineke): each step of an access over all ways.
class Slow {
 public:
  Slow(std::string name, std::size_t ways) : name_(std::move(name)), blocks_(ways), ages_(ways, 3) {}

  bool access(int line) {
    const auto at = std::find(blocks_.begin(), blocks_.end(), line);
    const bool hit = at != blocks_.end(), on_miss = name_.ends_with("_umo");
    std::size_t way = 0;
    if (hit) {
      way = static_cast<std::size_t>(at - blocks_.begin());
      if (ages_[way] == 3) ages_[way] = digit('h', 0);
      else if (ages_[way] == 2) ages_[way] = digit('h', 1);
      else ages_[way] = 0;
    } else {
      if (on_miss) grow(std::nullopt);
      way = chosen();
      blocks_[way] = line;
      ages_[way] = digit('m', 0);
    }
    if (!on_miss) grow(way);
    return hit;
  }

 private:
  [[nodiscard]] int digit(char letter, std::size_t which) const { return name_[name_.find(letter, 5) + 1 + which] - '0'; }

  [[nodiscard]] std::size_t chosen() const {
    std::vector<std::size_t> empty, oldest;
    for (std::size_t way = 0; way < blocks_.size(); ++way) {
      if (!blocks_[way]) empty.push_back(way);
      if (ages_[way] == 3) oldest.push_back(way);
    }
    if (!empty.empty()) return digit('r', 0) == 2 ? empty.back() : empty.front();
    return oldest.empty() ? 0 : oldest.front();
  }

  void grow(std::optional<std::size_t> accessed) {
    const int update = digit('u', 0);
    const bool spares = update % 2 == 1 && accessed;
    if (update >= 2 && std::count(ages_.begin(), ages_.end(), 3) > 0) return;
    int oldest = 0;
    std::size_t others = 0;
    for (std::size_t way = 0; way < ages_.size(); ++way) {
      if (spares && way == *accessed) continue;
      oldest = std::max(oldest, ages_[way]);
      ++others;
    }
    for (std::size_t way = 0; way < ages_.size() && others > 0; ++way) {
      if (!spares || way != *accessed) ages_[way] += update >= 2 ? 1 : 3 - oldest;
    }
  }

  std::string name_;
  std::vector<std::optional<int>> blocks_;
  std::vector<int> ages_;
};

/// Accesses with stretches of few lines and of many.
std::vector<std::size_t> accesses(std::size_t lines, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> all;
  while (all.size() < 3000) {
    const auto from = random() % lines, few = 1 + random() % lines;
    for (auto left = 1 + random() % (4 * lines); left > 0; --left) all.push_back((from + random() % few) % lines);
  }
  return all;
}

infer::Sameness compared(const Candidate& one, const Candidate& other, std::size_t ways, bool full = false) { return infer::compare(one, other, ways, full); }
bool same(const Candidate& one, const Candidate& other, std::size_t ways, bool full = false) { return compared(one, other, ways, full) == infer::Sameness::Same; }
bool differ(const Candidate& one, const Candidate& other, std::size_t ways, bool full = false) { return compared(one, other, ways, full) == infer::Sameness::Different; }
Candidate qlru(const char* name) { return {Candidate::Policy::Qlru, *qlru_named(name)}; }

}  // namespace

TEST_CASE("every QLRU variant follows its definition") {
  CHECK(qlru_variants().size() == 240);
  for (const auto& variant : qlru_variants()) {
    for (const std::size_t ways : {1u, 2u, 4u, 5u, 12u, 64u, 67u}) {
      PolicySet set({Candidate::Policy::Qlru, variant}, ways, 2 * ways + 1, false);
      Slow slow(variant.name(), ways);
      int wrong = 0;
      for (const auto line : accesses(ways < 5 ? 2 * ways + 1 : ways + 2, ways)) wrong += set.access(line) != slow.access(static_cast<int>(line));
      CAPTURE(variant.name());
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("QLRU names are read as they are written, and no others") {
  std::set<std::string> names;
  for (const auto& variant : qlru_variants()) {
    names.insert(variant.name());
    REQUIRE(qlru_named(variant.name()));
    CHECK(*qlru_named(variant.name()) == variant);
  }
  CHECK(names.size() == qlru_variants().size());
  for (const char* wrong : {"qlru", "qlru_h01_m0_r0_u0", "qlru_h11_m4_r0_u0", "qlru_h11_m1_r0_u2", "qlru_h11_m1_r1_u1_umo", "qlru_h11_m1_r0_u0_", "QLRU_H11_M1_R0_U0"}) CHECK_FALSE(qlru_named(wrong));
}

TEST_CASE("policies that only lines in order tell apart, each several times in a row, are two") {
  CHECK(differ(qlru("qlru_h11_m2_r0_u1"), qlru("qlru_h11_m2_r1_u3"), 231));
}

TEST_CASE("policies that no sequence tells apart are one") {
  using Policy = Candidate::Policy;
  for (const std::size_t ways : {3u, 4u, 8u, 48u, 96u, 192u}) {
    CHECK(same({Policy::Nru}, qlru("qlru_h00_m0_r0_u1"), ways));              // one mark a way (MRU, bit-PLRU)
    CHECK(same(qlru("qlru_h11_m1_r0_u0"), qlru("qlru_h11_m1_r1_u0"), ways));  // u0 leaves no set without age 3
    CHECK(differ(qlru("qlru_h11_m1_r0_u0"), qlru("qlru_h11_m1_r1_u2"), ways));
    CHECK(differ(qlru("qlru_h00_m2_r0_u0"), qlru("qlru_h00_m2_r0_u0_umo"), ways));  // SRRIP is the latter
    CHECK(differ(qlru("qlru_h00_m1_r0_u1"), qlru("qlru_h00_m1_r2_u1"), ways));
    CHECK(same(qlru("qlru_h00_m1_r0_u1"), qlru("qlru_h00_m1_r2_u1"), ways, true));  // but for how they fill
    CHECK(differ({Policy::Lru}, {Policy::Fifo}, ways));
  }
  CHECK(same({Policy::Lru}, {Policy::Nru}, 2));
  CHECK(same({Policy::Lru}, {Policy::Plru}, 2));
}

TEST_CASE("a product automaton that has been visited whole decides") {
  using Policy = Candidate::Policy;
  for (const std::size_t ways : {2u, 3u, 4u}) {
    const auto all = infer::candidate_policies(ways);
    for (std::size_t i = 0; i < all.size(); i += 3) {
      for (std::size_t j = i; j < all.size(); j += 5) CHECK(compared(all[i], all[j], ways) != infer::Sameness::NotDecided);
    }
  }
  // Which of the ways of age 3 goes is all that r0 and r2 differ in, and with m3 what has just come in goes next.
  CHECK(differ(qlru("qlru_h11_m3_r0_u0"), qlru("qlru_h11_m3_r2_u0"), 8));
  CHECK(same({Policy::Lru}, {Policy::Fifo}, 1));
}

TEST_CASE("with two ways, what reaches the same states and evicts the same lines is one policy, whatever its name") {
  std::size_t of_lru = 0;
  for (const auto& variant : qlru_variants()) of_lru += same({Candidate::Policy::Lru}, {Candidate::Policy::Qlru, variant}, 2) ? 1 : 0;
  CHECK(of_lru > 0);
  CHECK(same({Candidate::Policy::Lru}, qlru("qlru_h00_m0_r0_u1"), 2));
  CHECK(differ({Candidate::Policy::Lru}, qlru("qlru_h00_m2_r0_u0_umo"), 2));
}

TEST_CASE("a policy that is neither proved the same nor seen to differ is not decided") {
  CHECK(compared(qlru("qlru_h00_m3_r2_u0"), qlru("qlru_h10_m3_r2_u0"), 16) == infer::Sameness::NotDecided);
  CHECK_FALSE(infer::compare("lru", "bip", 4, false).has_value());
}
