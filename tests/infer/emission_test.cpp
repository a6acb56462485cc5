// SPDX-License-Identifier: Apache-2.0
// What a tick says about the level that answered: levels, slices, scatter and tails, of records made by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/infer/classes.h"
#include "runtime/infer/model/occupancy.h"
#include "tests/infer/table.h"

using namespace gexp;
using test::Noise;

namespace {

constexpr std::int64_t kFits = 24;  // lines of 32 B

/// Points of 8, 16, … lines, two laps each, of a cache that holds 24 of them: LRU, so beyond that all miss. `tick(lines, line, misses)`.
using Tick = std::function<double(std::int64_t lines, std::int64_t line, bool misses)>;
records::Table footprints(const Tick& tick, std::size_t runs = 4) {
  std::vector<records::Point> points;
  for (std::int64_t lines = 8; lines <= 48; lines += 8) {
    points.push_back(test::point(32.0 * static_cast<double>(lines), lines, 2, runs, [&](std::size_t, std::size_t access) {
      return static_cast<std::uint32_t>(std::lround(tick(lines, static_cast<std::int64_t>(access) % lines, lines > kFits)));
    }));
  }
  return test::table(std::move(points));
}

std::vector<double> centres(const infer::Classes& classes) {
  std::vector<double> all;
  for (const auto& each : classes.list) all.push_back(each.centre);
  return all;
}

/// As a deterministic cache whose sets overflow one after the other: every third line misses at 32 lines, two of three at 40.
bool sets_overflow(std::int64_t lines, std::int64_t line) { return lines > kFits && line % 3 < (lines - kFits) / 8; }

}  // namespace

TEST_CASE("own rates: cells that are always slow or never speak for rates of their own, like ones against, single trials not at all") {
  const std::vector<infer::Cell> unlike(40, {4, 0}), like(40, {4, 2}), single{{1, 0}, {1, 1}, {1, 1}};
  auto mixed = unlike;
  for (std::size_t i = 0; i < mixed.size(); i += 2) mixed[i].slow = 4;
  CHECK(infer::own_rates(mixed) > 50);
  CHECK(infer::own_rates(like) < 0);
  CHECK(infer::own_rates(single) == doctest::Approx(0));
  CHECK(infer::own_rates(unlike) == 0);  // nothing is slow
}

TEST_CASE("two levels 3 cycles apart are two where history decides, and one where places do") {
  const auto by_history = [](std::int64_t lines, std::int64_t line, bool) { return sets_overflow(lines, line) ? 103.0 : 100.0; };
  CHECK(centres(infer::classify(footprints(by_history))) == std::vector<double>{100, 103});
  const auto by_place = [](std::int64_t, std::int64_t line, bool) { return line % 2 ? 103.0 : 100.0; };
  CHECK(infer::classify(footprints(by_place)).list.size() == 1);
}

TEST_CASE("levels nearer than three cycles are one") {
  const auto near = [](std::int64_t lines, std::int64_t line, bool) { return sets_overflow(lines, line) ? 102.0 : 100.0; };
  CHECK(infer::classify(footprints(near)).list.size() == 1);
}

TEST_CASE("scatter of several cycles is one level, whatever its histogram's teeth") {
  std::mt19937_64 engine(3);
  for (const std::uint32_t tooth : {1u, 3u, 5u}) {
    const auto teeth = [&](std::int64_t, std::int64_t, bool) { return 100.0 + tooth * static_cast<double>(engine() % 3); };
    CHECK(infer::classify(footprints(teeth)).list.size() == 1);
  }
}

TEST_CASE("what strikes half of all accesses alike is a tail of its level, and its misses are those of the cache") {
  std::mt19937_64 engine(4);
  const auto struck = [&](std::int64_t, std::int64_t, bool misses) { return (misses ? 200.0 : 40.0) + (engine() % 2 ? 19 : 0); };
  const auto records = footprints(struck, 10);
  const auto classes = infer::classify(records);
  REQUIRE(centres(classes) == std::vector<double>{40, 200});
  const auto finding = test::ask(records, "B", "last_flat(misses(lat) over n)");
  REQUIRE_MESSAGE(finding.status == infer::Finding::Status::Found, finding.why);
  CHECK(finding.value == Value(32.0 * kFits, kBytes));
}

TEST_CASE("a tail that one stage does not tell from misses is known from what walked the same memory before") {
  std::mt19937_64 engine(6);
  const auto struck = [&](std::int64_t, std::int64_t, bool misses) { return (misses ? 200.0 : 40.0) + (engine() % 2 ? 19 : 0); };
  auto both_fit = footprints(struck, 10);
  const auto before = footprints(struck, 10);
  both_fit.points.resize(2);
  CHECK(centres(infer::classify(both_fit)) == std::vector<double>{40, 59});
  CHECK(centres(infer::classify(both_fit, {&before})) == std::vector<double>{40});
}

TEST_CASE("a tail on half of all accesses is no bias of the addresses that it struck more often") {
  std::mt19937_64 engine(7);
  auto records = footprints([&](std::int64_t lines, std::int64_t line, bool) { return (sets_overflow(lines, line) ? 240.0 : 200.0) + (engine() % 2 ? 19 : 0); }, 8);
  for (auto& point : records.points) {  // two words a line: the second one always hits
    auto walk = *point.walk;
    for (std::int64_t i = 0; i < walk.steps; ++i) walk.offsets[static_cast<std::size_t>(i)] = i / 2 * 32 + i % 2 * 4;
    point.walk = std::make_shared<const Pattern>(std::move(walk));
    for (auto& run : point.runs) {
      for (std::size_t i = 1; i < run.ticks.size(); i += 2) run.ticks[i] = engine() % 2 ? 219 : 200;
    }
  }
  const auto classes = infer::classify(records);
  CHECK(!classes.unbiased);
  CHECK(centres(classes) == std::vector<double>{200, 240});
}

TEST_CASE("a rare mode is a level where some points have it, and a tail where all do") {
  std::mt19937_64 engine(5);
  const auto rare = [&](double share) { return static_cast<double>(engine() >> 11) * 0x1p-53 < share; };
  const auto level = [&](std::int64_t lines, std::int64_t, bool) { return lines > 40 && rare(0.1) ? 300.0 : 100.0; };
  const auto tail = [&](std::int64_t, std::int64_t, bool) { return rare(0.03) ? 300.0 : 100.0; };
  CHECK(centres(infer::classify(footprints(level, 20))) == std::vector<double>{100, 300});
  CHECK(centres(infer::classify(footprints(tail, 20))) == std::vector<double>{100});
}

TEST_CASE("a cache whose sectors are 16 B: neighbours in a slice's 32 B are no visits of one thing") {
  std::vector<records::Point> points;
  for (std::int64_t lines = 16; lines <= 96; lines += 16) {
    auto made = test::point(16.0 * static_cast<double>(lines), lines, 2, 4, [&](std::size_t, std::size_t) { return lines > 48 ? 220u : 110u; });
    Pattern walk;
    walk.steps = lines;
    for (std::int64_t i = 0; i < lines; ++i) walk.offsets.push_back(16 * i);
    made.walk = std::make_shared<const Pattern>(std::move(walk));
    points.push_back(std::move(made));
  }
  const auto classes = infer::classify(test::table(std::move(points)));
  CHECK(centres(classes) == std::vector<double>{110, 220});
  CHECK(!classes.unbiased);
}

TEST_CASE("a latency is as sure as its accesses are many, and as exact as its calibration") {
  const auto of = [](std::int64_t laps, double overhead, double error) {
    auto made = test::point(512, 4, laps, 1, [](std::size_t, std::size_t) { return 50u; });
    made.overhead = overhead, made.overhead_error = error;
    return test::ask(test::table({made}), "cycles", "fastest(lat)");
  };
  CHECK(of(1, 10, 0).confidence < 0.9);
  CHECK(of(20, 10, 0).confidence == doctest::Approx(0.99));
  CHECK(of(20, 10, 0).exact);
  const auto loose = of(20, 10, 2);
  CHECK_FALSE(loose.exact);
  CHECK(loose.interval->first == doctest::Approx(40 - 2.576 * 2).epsilon(0.001));
  CHECK(loose.interval->second == doctest::Approx(40 + 2.576 * 2).epsilon(0.001));
  const auto negative = of(20, 66, 1);
  CHECK(test::undetermined(negative));
  CHECK_MESSAGE(negative.why.find("a load takes a cycle at least") != std::string::npos, negative.why);
}
