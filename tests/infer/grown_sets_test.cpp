// SPDX-License-Identifier: Apache-2.0
// Sets told from a footprint that grows line by line, where something stands in the way.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/infer/set_growth.h"
#include "tests/infer/walks.h"

using namespace gexp;

namespace {

constexpr std::int64_t kLineBytes = 512;
constexpr std::size_t kWays = 4;

/// Sets by chance.
std::uint64_t by_chance(std::int64_t line) { return std::mt19937_64(static_cast<std::uint64_t>(line) + 5)() % 6; }

/// How many of the first lines fit, and, of so many lines, how many are of sets that hold all of theirs.
std::int64_t fitting(std::int64_t lines, bool all) {
  std::map<std::uint64_t, std::size_t> held;
  for (std::int64_t line = 0; line < lines; ++line) {
    if (++held[by_chance(line)] > kWays && all) return line;
  }
  std::int64_t of_full = 0;
  for (const auto& [set, count] : held) of_full += count <= kWays ? static_cast<std::int64_t>(count) : 0;
  return of_full;
}

/// How many of the first lines are held at one time.
double held_of(std::int64_t lines) {
  std::map<std::uint64_t, std::size_t> held;
  for (std::int64_t line = 0; line < lines; ++line) ++held[by_chance(line)];
  std::size_t all = 0;
  for (const auto& [set, count] : held) all += std::min(count, kWays);
  return static_cast<double>(all);
}

/// Footprints of `first` lines and up to `most` more. The lines below `kept` are answered by something faster, always.
infer::Finding sets_of(const test::LruCache& cache, std::int64_t first, std::int64_t most, std::int64_t kept, const std::string& above) {
  auto records = test::table({});
  records.columns = {"extra"};
  for (std::int64_t extra = 0; extra <= most; ++extra) {
    auto offsets = test::every(kLineBytes, kLineBytes * (first + extra));
    std::shuffle(offsets.begin(), offsets.end(), std::mt19937_64(9));
    auto point = test::walked({{"extra", Value(static_cast<double>(extra))}}, std::move(offsets), cache);
    for (auto& run : point.runs) {
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        if (point.walk->offsets[i % point.walk->offsets.size()] < kept * kLineBytes) run.ticks[i] = 20;
      }
    }
    records.points.push_back(std::move(point));
  }
  return test::ask_in("  sweep extra in 0..64\n  pattern ring = shuffle(uniform(stride: 512B, span: 8KiB + extra * 512B), 9)\n  launch grid 1 block 1\n"
                      "  warm { chase A by ring laps 2 }\n  timed lat each { chase A by ring laps 2 }\n",
                      records, "structure", "cache_sets(lat over extra, line: 512B" + above + ")");
}

/// A set of 20 lines, and one of two that begins to miss before it and to another level: `to` is the class, 1 or 2, of each set's misses.
std::optional<std::string> of_pair_and_set(std::size_t pair_to, std::size_t set_to) {
  infer::Classes classes;
  classes.list = {{.low = 45, .high = 55, .centre = 50}, {.low = 240, .high = 260, .centre = 250}, {.low = 590, .high = 610, .centre = 600}};
  constexpr std::size_t kLines = 22, kKinds = 3;
  const std::vector<infer::LineSet> sets{{.onset = 1, .lines = {20, 21}}, {.onset = 2, .lines = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}}};
  std::map<double, infer::GrowthLevel> levels;
  for (const double onset : {1.0, 2.0}) {
    auto& level = levels[onset];
    level.present = kLines, level.walked = 24, level.misses.assign(kLines, 0), level.by_class.assign(kLines * kKinds, 0);
    for (const auto& set : sets) {
      for (const auto line : set.lines) {
        if (set.onset > onset) continue;
        level.misses[line] = 24, level.by_class[line * kKinds + (set.onset == 1 ? pair_to : set_to)] = 24;
      }
    }
  }
  return infer::two_structures(classes, sets, levels);
}

}  // namespace

TEST_CASE("lines that were added and found room are of sets that nobody saw") {
  const test::LruCache cache(kLineBytes, kWays, by_chance);
  const auto first = fitting(64, true);
  std::int64_t few = first + 1;
  while (fitting(few + 1, false) > 0 && few < first + 6) ++few;
  REQUIRE(fitting(few, false) > 0);  // of one set, at least, no line ever misses
  const auto some = sets_of(cache, first, few - first, 0, "");
  CHECK(test::undetermined(some));
  CHECK_MESSAGE(some.why.find("there are more sets") != std::string::npos, some.why);
  CHECK(some.lines_held == held_of(few));
  CHECK(some.lines_held > static_cast<double>(first));  // they do not fill evenly
  const auto all = sets_of(cache, first, 40, 0, "");
  REQUIRE_MESSAGE(all.status == infer::Finding::Status::Found, all.why);
  CHECK(test::field(all, "sets") == 6);
}

TEST_CASE("lines that a faster level keeps take no room in the sets of a slower one") {
  const test::LruCache cache(kLineBytes, 16, [](std::int64_t) { return std::uint64_t{0}; });
  const auto alone = sets_of(cache, 16, 4, 0, ", above: 40cycles");
  REQUIRE_MESSAGE(alone.status == infer::Finding::Status::Found, alone.why);
  CHECK(test::field(alone, "ways") == 16);
  // Two more lines fit, for two are always found above.
  const test::LruCache behind(kLineBytes, 18, [](std::int64_t) { return std::uint64_t{0}; });
  const auto kept = sets_of(behind, 18, 4, 2, ", above: 40cycles");
  CHECK(test::undetermined(kept));
  CHECK_MESSAGE(kept.why.find("a faster level answers 2 of the lines in every lap") != std::string::npos, kept.why);
}

TEST_CASE("a set whose lines alone miss to another level than those of all other sets is of another structure") {
  const auto found = of_pair_and_set(2, 1);
  REQUIRE(found);
  CHECK_MESSAGE(found->find("those of one kind are a set") != std::string::npos, *found);
  CHECK(of_pair_and_set(1, 2));
  CHECK_FALSE(of_pair_and_set(1, 1));
}
