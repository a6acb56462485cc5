// SPDX-License-Identifier: Apache-2.0
// Which accesses missed, where scatter leaves some in doubt, and what the evictions then show.
#include "runtime/infer/way_tracking.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace gexp;
using infer::clear_stretches;

namespace {

/// Of sets that nothing disturbs but what is marked unsure; and of one whose every 200th access is struck.
constexpr infer::LookAlikes kUndisturbed{5e-5, 1e-6}, kStruck{0.005, 1e-6};

/// A set whose victims are drawn with `weights`, walked by chance over one line more than it has ways.
struct Made {
  std::vector<std::uint32_t> lines;
  std::vector<bool> truly, missed, unsure;
};

/// Of the accesses, `doubtful` are unsure, and half of those are told wrong.
Made made(const std::vector<double>& weights, std::size_t accesses, double doubtful, std::uint64_t seed) {
  const auto ways = weights.size();
  std::mt19937_64 random(seed);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<std::uint32_t> held(ways);
  for (std::size_t way = 0; way < ways; ++way) held[way] = static_cast<std::uint32_t>(way);
  auto absent = static_cast<std::uint32_t>(ways);
  Made made;
  for (std::size_t i = 0; i < accesses; ++i) {
    const auto line = static_cast<std::uint32_t>(unit() * static_cast<double>(ways + 1));
    const bool miss = line == absent;
    if (miss) {
      std::size_t way = 0;
      for (double left = unit() - weights[0]; left > 0 && way + 1 < ways; left -= weights[way]) ++way;
      absent = held[way], held[way] = line;
    }
    made.lines.push_back(line);
    made.truly.push_back(miss);
    made.unsure.push_back(unit() < doubtful);
    made.missed.push_back(made.unsure.back() && unit() < 0.5 ? !miss : miss);
  }
  return made;
}

}  // namespace

TEST_CASE("what the lines' turns in being absent tell of a doubtful access is right") {
  for (const std::size_t ways : {2, 4, 9}) {
    CAPTURE(ways);
    auto set = made(std::vector<double>(ways, 1.0 / static_cast<double>(ways)), 6000, 0.05, ways);
    const auto stretches = clear_stretches(set.lines, set.missed, set.unsure, 0, set.lines.size(), ways + 1, false, kUndisturbed);
    std::size_t clear = 0, wrong = 0;
    for (const auto& stretch : stretches) {
      for (auto i = stretch.begin; i < stretch.end; ++i) ++clear, wrong += set.missed[i] != set.truly[i] ? 1 : 0;
    }
    CHECK(clear > 5700);
    CHECK(wrong <= 6);  // one in a thousand
  }
}

TEST_CASE("a hit that an interrupt made slow is set right where the lines after it contradict") {
  auto set = made({0.25, 0.25, 0.25, 0.25}, 6000, 0, 3);
  std::size_t struck = 0;
  for (std::size_t i = 500; i < set.missed.size(); i += 200) struck += set.missed[i] ? 0 : 1, set.missed[i] = true;
  const auto stretches = clear_stretches(set.lines, set.missed, set.unsure, 0, set.lines.size(), 5, false, kStruck);
  std::size_t wrong = 0;
  for (const auto& stretch : stretches) {
    for (auto i = stretch.begin; i < stretch.end; ++i) wrong += set.missed[i] != set.truly[i] ? 1 : 0;
  }
  CHECK(wrong < struck * 3 / 4);  // the others are what a miss would look like
}

TEST_CASE("lines that do not take turns in being absent are left as they are") {
  std::mt19937_64 random(5);
  std::vector<std::uint32_t> lines;
  std::vector<bool> missed;
  for (int i = 0; i < 3000; ++i) lines.push_back(static_cast<std::uint32_t>(random() % 5)), missed.push_back(random() % 2 == 0);
  const auto before = missed;
  const auto stretches = clear_stretches(lines, missed, std::vector<bool>(3000), 0, 3000, 5, false, kUndisturbed);
  REQUIRE(stretches.size() == 1);
  CHECK(stretches[0].end - stretches[0].begin == 3000);
  CHECK(missed == before);
}

TEST_CASE("chances of ways survive doubts") {
  const std::vector<double> weights{0.5, 0.25, 0.25};
  auto set = made(weights, 20000, 0.03, 11);
  std::vector<infer::History> histories;
  for (const auto& clear : clear_stretches(set.lines, set.missed, set.unsure, 0, set.lines.size(), 4, false, kUndisturbed)) {
    histories.push_back({std::span(set.lines).subspan(clear.begin, clear.end - clear.begin), &set.missed, clear.begin, false});
  }
  const auto seen = infer::follow_evictions(histories, 4);
  CHECK(seen.misses > 3000);
  CHECK(std::fabs(seen.repeats.share()) < 0.1);
  CHECK(std::fabs(seen.older.share()) < 0.1);
  CHECK(seen.by_way[0] / seen.by_way_misses == doctest::Approx(0.5).epsilon(0.1));
}
