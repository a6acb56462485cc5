// SPDX-License-Identifier: Apache-2.0
// Groups of lines that lose their least recently used one in turn: what shows them, and what does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <numeric>
#include <random>

#include "runtime/infer/bit_basis.h"
#include "runtime/infer/replacement_chance.h"
#include "runtime/infer/replacement_turns.h"
#include "runtime/sim/cache.h"
#include "tests/infer/table.h"

using namespace gexp;
using namespace gexp::infer::replacing;

namespace {

constexpr std::size_t kOrders = 6, kRuns = 8, kSteps = 3584;
constexpr std::int64_t kLine = 128;

/// What a set makes of one access: whether the line of this number hits.
using Set = std::function<bool(std::uint64_t number)>;

/// Rings over these lines in several orders, each by launches that begin with an empty set; `launch` makes that of another launch.
Walk walked(const std::vector<std::uint64_t>& numbers, const std::function<Set()>& launch, double struck = 0) {
  Walk walk;
  walk.lines = numbers.size();
  std::mt19937_64 random(1);
  for (std::size_t point = 0; point < kOrders; ++point) {
    std::vector<std::uint32_t> ring(numbers.size());
    std::iota(ring.begin(), ring.end(), 0);
    std::shuffle(ring.begin(), ring.end(), random);
    for (std::size_t run = 0; run < kRuns; ++run) {
      Trace trace;
      trace.point = point, trace.windows = {0};
      const auto hits = launch();
      for (std::size_t i = 0; i < kSteps; ++i) {
        trace.lines.push_back(ring[i % ring.size()]);
        const bool missed = !hits(numbers[trace.lines.back()]);
        trace.missed.push_back(missed || static_cast<double>(random() >> 11) * 0x1p-53 < struck);
      }
      trace.unsure.assign(kSteps, false);
      walk.traces.push_back(std::move(trace));
    }
  }
  return walk;
}

/// So many lines of those whose numbers have these exclusive ors even: of one set.
std::vector<std::uint64_t> of_one_set(std::size_t lines, const std::vector<std::uint64_t>& even) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = 0; numbers.size() < lines; ++number) {
    if (std::all_of(even.begin(), even.end(), [&](auto mask) { return std::popcount(number & mask) % 2 == 0; })) numbers.push_back(number);
  }
  return numbers;
}

/// The definition, as slowly as it can be written. The counter goes on from launch to launch.
std::function<Set()> by_turns(std::vector<std::uint64_t> masks, std::size_t ways, bool late) {
  struct State {
    std::map<std::uint32_t, std::deque<std::uint64_t>> groups;
    std::size_t held = 0;
    bool due = false;
  };
  auto counter = std::make_shared<std::uint32_t>(5);
  return [=] {
    auto state = std::make_shared<State>();
    return [=](std::uint64_t number) {
      const auto evict = [&] {
        for (;;) {
          auto& group = state->groups[(*counter)++ % (1u << masks.size())];
          if (group.empty()) continue;
          group.pop_front(), --state->held;
          return;
        }
      };
      std::uint32_t own = 0;
      for (std::size_t bit = 0; bit < masks.size(); ++bit) own |= static_cast<std::uint32_t>(std::popcount(number & masks[bit]) % 2) << bit;
      auto& group = state->groups[own];
      const auto at = std::find(group.begin(), group.end(), number);
      const bool hit = at != group.end();
      if (hit) group.erase(at);
      else if (++state->held > ways && !late) evict();
      group.push_back(number);
      if (std::exchange(state->due, false)) evict();
      state->due = state->held > ways;
      return hit;
    };
  };
}

Turns turns_of(const Walk& walk, const std::vector<std::uint64_t>& numbers) {
  Reference reference(walk);
  reference.offer(fit_chance(walk, false).by_block);
  reference.offer(course_of_own_rates(walk));
  return fit_turns(walk, numbers, reference);
}

/// Whether turns explain the walk better than victims by chance, and than accesses that miss at rates of their own, all that is paid for.
bool claims_turns(const Walk& walk, const std::vector<std::uint64_t>& numbers) {
  const auto turns = turns_of(walk, numbers);
  return turns.order && turns.log_likelihood + turns.log_description > std::max(fit_chance(walk, false).log_likelihood, log_of_own_rates(walk));
}

/// Whether two orders are of the same groups.
bool same_groups(const std::vector<std::uint64_t>& one, const std::vector<std::uint64_t>& other, const std::vector<std::uint64_t>& numbers) {
  std::map<std::vector<int>, std::vector<int>> as;
  const auto of = [](const std::vector<std::uint64_t>& masks, std::uint64_t number) {
    std::vector<int> group;
    for (const auto mask : masks) group.push_back(std::popcount(number & mask) % 2);
    return group;
  };
  const auto told_by = [&](const auto& first, const auto& second) {
    as.clear();
    return std::all_of(numbers.begin(), numbers.end(), [&](auto number) { return as.try_emplace(of(first, number), of(second, number)).first->second == of(second, number); });
  };
  return one.size() == other.size() && told_by(one, other) && told_by(other, one);
}

/// A set of the simulator.
std::function<Set()> simulated(sim::CacheModel model, std::size_t ways) {
  model.line = model.sector = kLine;
  model.ways = {static_cast<std::uint32_t>(ways)};
  auto cache = std::make_shared<sim::Cache>(model, 1);
  return [=] {
    cache->clear();
    return [=](std::uint64_t number) { return cache->access(number * kLine).hit; };
  };
}

const std::vector<std::uint64_t> kEven = {0b1010110101, 0b10110110010};  // of the first set of an H200's L1, line numbers for addresses
const std::vector<std::uint64_t> kGroups = {0b110000100, 0b100111, 0b100111000, 0b1101010, 0b1100010010, 0b1110, 0b1011000000};  // its groups

}  // namespace

TEST_CASE("turns are found from what misses, and predict orders that they were not found in") {
  const auto numbers = of_one_set(483, kEven);
  for (const bool late : {false, true}) {
    for (const double struck : {0.0, 0.001}) {
      CAPTURE(late);
      CAPTURE(struck);
      const auto walk = walked(numbers, by_turns(kGroups, 482, late), struck);
      const auto turns = turns_of(walk, numbers);
      REQUIRE(turns.order);
      CHECK(turns.order->late == late);
      CHECK(same_groups(turns.order->masks, kGroups, numbers));
      CHECK(turns.unseen.judged() == kOrders / 2 * kRuns * kSteps);
      CHECK(turns.unseen.wrong() <= 10 * struck);  // where a launch began is told from a few evictions
      CHECK(turns.log_likelihood + turns.log_description > fit_chance(walk, false).log_likelihood + 100);
    }
  }
}

TEST_CASE("turns of few and many groups are found, in sets of any size") {
  for (const std::size_t bits : {1, 2, 4}) {
    for (const std::size_t ways : {31, 64, 97}) {
      CAPTURE(bits);
      CAPTURE(ways);
      const std::vector<std::uint64_t> masks(kGroups.begin(), kGroups.begin() + static_cast<std::ptrdiff_t>(bits));
      const auto numbers = of_one_set(ways + 1, kEven);
      const auto turns = turns_of(walked(numbers, by_turns(masks, ways, false)), numbers);
      REQUIRE(turns.order);
      CHECK(same_groups(turns.order->masks, masks, numbers));
      CHECK(turns.unseen.wrong() == 0);
    }
  }
}

TEST_CASE("no other policy is taken for turns") {
  using sim::Policy;
  for (const std::size_t ways : {8, 12, 31, 64, 97, 192}) {
    const auto numbers = of_one_set(ways + 1, {0b11});
    for (const auto policy : {Policy::Lru, Policy::Fifo, Policy::Random, Policy::Plru, Policy::Nru, Policy::Nrf, Policy::Bip, Policy::Rrip, Policy::Qlru}) {
      if (policy == Policy::Plru && (!std::has_single_bit(ways) || ways > 64)) continue;
      sim::CacheModel model;
      model.policy = policy;
      model.promoted = 1.0 / 32;
      model.qlru = *qlru_named("qlru_h11_m1_r1_u2");
      CAPTURE(ways);
      CAPTURE(static_cast<int>(policy));
      CHECK_FALSE(claims_turns(walked(numbers, simulated(model, ways)), numbers));
    }
  }
}

TEST_CASE("what a walk cannot show of turns it says") {
  const auto numbers = of_one_set(65, kEven);
  const auto launch = by_turns({kGroups[0], kGroups[1]}, 64, false);
  auto walk = walked(numbers, launch);
  auto warm = walk;
  warm.traces[0].warm = 64;
  warm.traces[0].missed.resize(kSteps - 64), warm.traces[0].unsure.resize(kSteps - 64);
  CHECK(turns_of(warm, numbers).why_not.find("from an empty set on") != std::string::npos);
  auto windows = walk;
  windows.traces[3].windows = {0, 1000};
  CHECK(turns_of(windows, numbers).why_not.find("several launches") != std::string::npos);
  auto one = walk;
  one.traces.resize(1);
  CHECK(turns_of(one, numbers).why_not.find("one launch") != std::string::npos);
  for (auto& trace : walk.traces) trace.lines.resize(66), trace.missed.resize(66), trace.unsure.resize(66);
  CHECK(turns_of(walk, numbers).why_not.find("too few") != std::string::npos);
}

TEST_CASE("of the ways to write an exclusive or, the shortest is taken") {
  // In these numbers bit 3 is bits 0 and 1 together, and bit 4 is the same in all.
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t low = 0; low < 8; ++low) numbers.push_back(16 | low | ((low ^ low >> 1) & 1) << 3);
  CHECK(by_fewest_bits({0b0011, 0b0111, 0b1010}, numbers) == std::vector<std::uint64_t>{0b1000, 0b1100, 0b0001});
}
