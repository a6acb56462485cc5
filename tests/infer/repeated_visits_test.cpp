// SPDX-License-Identifier: Apache-2.0
// Walks that come to each sector twice in a row: the second visit finds it at hand.
#include <doctest/doctest.h>

#include <cmath>
#include <utility>

#include "runtime/infer/address_bias.h"
#include "runtime/infer/classes.h"
#include "tests/infer/table.h"

using namespace gexp;
using test::Noise;

namespace {

constexpr std::int64_t kLines = 64, kLapsOfAll = 16;

/// A point whose lap visits each of 64 lines twice in a row; `cost(line, lap, second)` in cycles, `scatter` its standard deviation.
records::Point pairs(double n, std::size_t runs, double scatter, const std::function<double(std::int64_t, std::int64_t, bool)>& cost) {
  static Noise noise(7);
  auto made = test::point(n, 2 * kLines, kLapsOfAll, runs, [&](std::size_t, std::size_t access) {
    const auto step = static_cast<std::int64_t>(access) % (2 * kLines), lap = static_cast<std::int64_t>(access) / (2 * kLines);
    return static_cast<std::uint32_t>(std::lround(cost(step / 2, lap, step % 2 == 1) + scatter * noise()));
  });
  Pattern walk;
  walk.steps = 2 * kLines;
  for (std::int64_t i = 0; i < walk.steps; ++i) walk.offsets.push_back(4096 * (i / 2) + 4 * (i % 2));
  made.walk = std::make_shared<const Pattern>(std::move(walk));
  return made;
}

/// Footprints of 1 KiB, 2 KiB and so on, whose first visits take `cost(k)` ticks more.
std::vector<records::Point> footprints(int count, const std::function<double(int)>& cost) {
  std::vector<records::Point> points;
  for (int i = 1; i <= count; ++i) {
    points.push_back(pairs(1024.0 * i, 4, 6, [more = cost(i)](std::int64_t line, std::int64_t, bool second) { return 200.0 + 3 * static_cast<double>(line % 7) + (second ? 0 : more); }));
  }
  return points;
}

}  // namespace

TEST_CASE("steps at hand are those in the sector of the step before") {
  Pattern walk;
  walk.steps = 5;
  walk.offsets = {0, 4, 64, 32, 36};
  CHECK(infer::repeated_sector_steps(walk) == std::vector<bool>{false, true, false, false, true});
  walk.offsets = {0, 4, 64, 32, 8};  // the last one is before the first
  CHECK(infer::repeated_sector_steps(walk)[0]);
}

TEST_CASE("a rare slower class within the scatter of hits is told by the visits at hand") {
  const auto some_miss = [](std::int64_t line, std::int64_t lap, bool second) { return !second && (line * 7 + lap * 3) % 64 == 0 ? 212.0 : 200.0; };
  const auto hit = [](std::int64_t, std::int64_t, bool) { return 200.0; };
  const auto records = test::table({pairs(4096, 4, 2, hit), pairs(8192, 4, 2, some_miss)});
  const auto classes = infer::classify(records);
  REQUIRE(classes.list.size() == 2);
  CHECK(classes.list[0].centre == doctest::Approx(200).epsilon(0.01));
  CHECK(classes.list[1].centre == doctest::Approx(212).epsilon(0.01));
  const auto none = infer::classify(test::table({pairs(4096, 4, 2, hit), pairs(8192, 4, 2, hit)}));
  CHECK(none.list.size() == 1);
}

TEST_CASE("lines that a policy keeps for good are a level, and no near places: their second visits are as fast as others'") {
  // Two lines of 64 are held by the second level, in all laps; all others are not. Slices differ by a few cycles.
  const auto cost = [](std::int64_t line, std::int64_t, bool second) { return 200.0 + 3 * static_cast<double>(line % 7) + (second ? 0 : line < 2 ? 10 : 40); };
  const auto hit = [](std::int64_t line, std::int64_t, bool) { return 200.0 + 3 * static_cast<double>(line % 7); };
  const auto records = test::table({pairs(4096, 8, 1, hit), pairs(8192, 8, 1, cost)});
  const auto classes = infer::classify(records);
  REQUIRE(classes.unbiased);
  REQUIRE(classes.told().list.size() == 3);
  CHECK(classes.told().list[2].centre - classes.told().list[1].centre == doctest::Approx(30).epsilon(0.1));
}

TEST_CASE("first visits that are a little slower throughout are no class") {
  const auto later = [](std::int64_t, std::int64_t, bool second) { return second ? 200.0 : 202.0; };
  CHECK(infer::classify(test::table({pairs(4096, 4, 2, later), pairs(8192, 4, 2, later)})).list.size() == 1);
}

TEST_CASE("a wide mode is one however its smoothing window grows") {
  Noise noise(3);
  std::vector<records::Point> points;  // around 200 ticks, where half a percent of the value passes a whole tick
  for (int n = 1; n <= 8; ++n) points.push_back(test::point(1024.0 * n, 64, 16, 8, [&](std::size_t, std::size_t) { return static_cast<std::uint32_t>(std::lround(195 + 3.5 * noise())); }));
  CHECK(infer::classify(test::table(std::move(points))).list.size() == 1);
}

TEST_CASE("what misses on its first visits alone is no change of the clock's pace") {
  const auto all_miss = [](std::int64_t, std::int64_t, bool second) { return second ? 200.0 : 214.0; };
  const auto hit = [](std::int64_t, std::int64_t, bool) { return 200.0; };
  const auto finding = test::ask(test::table({pairs(4096, 8, 1, hit), pairs(8192, 8, 1, all_miss)}), "B", "last_flat(misses(lat) over n)");
  REQUIRE(finding.status == infer::Finding::Status::Found);
  CHECK(finding.value == Value(4096, kBytes));
}

TEST_CASE("an address counts once in missed_ever, whichever point it missed at, and in missed_once until it misses at another") {
  const auto miss_of = [](std::int64_t wanted) { return [wanted](std::int64_t line, std::int64_t, bool second) { return !second && line == wanted ? 300.0 : 200.0; }; };
  auto records = test::table({pairs(1024, 2, 0, miss_of(3)), pairs(2048, 2, 0, miss_of(3)), pairs(4096, 2, 0, miss_of(9))});
  const auto classes = infer::classify(records);
  const auto range = infer::miss_range(records, classes);
  REQUIRE(range);
  infer::CumulativeMisses cumulative;
  CHECK(cumulative.shares(records, *range).ever == doctest::Approx(2.0 / 128));
  CHECK(cumulative.shares(records, *range).once == doctest::Approx(1.0 / 128));
  records.points.push_back(pairs(8192, 2, 0, miss_of(20)));
  CHECK(cumulative.shares(records, *range).ever == doctest::Approx(3.0 / 128));
  CHECK(cumulative.shares(records, *range).once == doctest::Approx(2.0 / 128));
  for (const std::int64_t line : {9, 20}) records.points.push_back(pairs(8192, 2, 0, miss_of(line)));
  CHECK(cumulative.shares(records, *range).ever == doctest::Approx(3.0 / 128));
  CHECK(cumulative.shares(records, *range).once == 0);
}

TEST_CASE("hits of slices apart are no misses of a walk that sees each address once: those at hand are of all of them") {
  constexpr std::int64_t kElements = 2048;
  const auto walk_down = [](std::uint32_t near, std::uint32_t far) {
    auto made = test::point(8192, kElements, 1, 4, [=](std::size_t run, std::size_t access) {
      const auto element = kElements - 1 - static_cast<std::int64_t>(access);
      const auto hit = element / 8 % 3 == 0 ? far : near;
      return (element % 8 == 7 ? 540u : hit) + static_cast<std::uint32_t>((run * 7 + access) % 4);
    });
    Pattern walk;
    walk.steps = kElements;
    for (std::int64_t i = 0; i < kElements; ++i) walk.offsets.push_back(4 * (kElements - 1 - i));
    made.walk = std::make_shared<const Pattern>(std::move(walk));
    return made;
  };
  for (const std::uint32_t far : {293u, 312u}) {
    const auto finding = test::ask(test::table({walk_down(293, far)}), "B", "miss_spacing(lat, above: 284cycles)");
    REQUIRE_MESSAGE(finding.status == infer::Finding::Status::Found, finding.why);
    CHECK(finding.value == Value(32, kBytes));
  }
}

TEST_CASE("a latency between two classes parts them, near the slower one, too") {
  Noise noise(5);
  const auto tick = [&](std::int64_t, std::int64_t, bool second) { return second ? 200 + 3 * noise() : 420 + 25 * noise(); };
  const auto records = test::table({pairs(1024, 40, 0, tick)});
  const auto classes = infer::classify(records);
  REQUIRE(classes.list.size() == 2);
  const auto low = static_cast<double>(classes.list[1].low);
  for (const double between : {250.0, 300.0, low - records.points[0].overhead - 5}) {
    const auto range = infer::miss_range(records, classes, between);
    REQUIRE(range);
    CHECK(range->has(static_cast<std::uint32_t>(low)));
    CHECK(!range->has(classes.list[0].high));
  }
  CHECK(!infer::miss_range(records, classes, 420));
}

TEST_CASE("a sector at which most laps begin cold is no slow place: its first visits missed") {
  // All sectors are visited twice in a row, some ticks apart from place to place; and some short walks begin at the first one, cold.
  const auto place = [](std::int64_t line) { return 240.0 + static_cast<double>(line % 3) * 5; };
  records::Table records = test::table({pairs(1, 4, 0, [&](std::int64_t line, std::int64_t lap, bool second) { return second || lap > 0 ? place(line) : 520.0; })});
  for (const int lines : {2, 4, 8, 16, 24, 32}) {
    auto cold = test::point(lines, lines, 2, 4, [&](std::size_t, std::size_t access) { return access == 0 ? 520u : static_cast<std::uint32_t>(place(static_cast<std::int64_t>(access) % lines)); });
    Pattern walk;
    walk.steps = lines;
    for (std::int64_t i = 0; i < lines; ++i) walk.offsets.push_back(4096 * i);
    cold.walk = std::make_shared<const Pattern>(std::move(walk));
    records.points.push_back(std::move(cold));
  }
  const auto bias = infer::AddressBias::of(records);
  REQUIRE(bias);
  REQUIRE_FALSE(bias->none());
  CHECK(std::abs(bias->by_step(records.points.front())[0]) < 10);
}

TEST_CASE("places are told of each walk, also where every walk has some of its own") {
  std::vector<records::Point> points;
  for (int i = 0; i < 6; ++i) {
    points.push_back(pairs(1024.0 * (i + 1), 4, 1, [](std::int64_t line, std::int64_t, bool) { return 200.0 + (line % 2 == 0 ? 0 : 30); }));
    auto walk = *points.back().walk;
    for (std::size_t step = 64; step < walk.offsets.size(); ++step) walk.offsets[step] += (i + 1) << 20;  // half of them, elsewhere each time
    points.back().walk = std::make_shared<const Pattern>(std::move(walk));
  }
  const auto bias = infer::AddressBias::of(test::table(points));
  REQUIRE(bias);
  CHECK_FALSE(bias->none());
}

TEST_CASE("a place that was walked after the biases were found is told by its own second visits") {
  const auto place = [](std::int64_t line, std::int64_t, bool) { return 200.0 + (line % 2 == 0 ? 0 : 30); };
  const auto before = test::table({pairs(1024, 4, 1, place), pairs(2048, 4, 1, place)});
  auto after = pairs(4096, 4, 1, [&](std::int64_t line, std::int64_t lap, bool second) { return place(line, lap, second) + (second ? 0 : 12); });
  auto walk = *after.walk;
  for (auto& offset : walk.offsets) offset += 1 << 20;
  after.walk = std::make_shared<const Pattern>(std::move(walk));
  const auto bias = infer::AddressBias::of(before);
  REQUIRE(bias);
  const auto known = bias->by_step(before.points[1]), later = bias->by_step(after);
  REQUIRE(later.size() == known.size());
  for (std::size_t step = 0; step < known.size(); ++step) CHECK(later[step] == doctest::Approx(known[step]).epsilon(0.1));
}

TEST_CASE("a footprint that may fit and may not, by what first visits take longer on average, is within the interval") {
  const auto points = footprints(16, [](int i) { return i > 9 ? 3.0 : i == 9 ? 1.0 : i % 2 == 0 ? 0.7 : -0.7; });
  const auto finding = test::ask(test::table(points), "B", "last_flat(misses(lat) over n)");
  INFO(finding.why);
  REQUIRE(finding.status == infer::Finding::Status::Found);
  REQUIRE(finding.interval);
  CHECK(finding.interval->first <= 8192);
  CHECK(finding.interval->first >= 4096);
  CHECK(finding.interval->second == 10239);
}

TEST_CASE("where places and steps differ as much as a miss costs, the smallest footprint does not seem to miss") {
  for (const int seed : {0, 18, 20, 37}) {
    Noise noise(seed);
    std::vector<records::Point> points;
    for (int i = 4; i <= 40; ++i) {
      std::vector<double> of_place(kLines), of_step(2 * kLines);
      for (auto& ticks : of_place) ticks = (noise() > 0 ? 30 : 0) + 8 * noise();
      for (auto& ticks : of_step) ticks = 3.5 * noise();
      points.push_back(pairs(1024.0 * i, 8, 1.5, [&, i](std::int64_t line, std::int64_t, bool second) {
        const bool missed = !second && i > 16 && line * 17 % kLines >= kLines * 15 / (i - 1);
        return 280 + of_place[static_cast<std::size_t>(line)] + of_step[static_cast<std::size_t>(2 * line + second)] + (missed ? 10 : 0);
      }));
      auto walk = *points.back().walk;
      for (auto& offset : walk.offsets) offset += static_cast<std::int64_t>(i) << 24;
      points.back().walk = std::make_shared<const Pattern>(std::move(walk));
    }
    const auto finding = test::ask(test::table(points), "B", "last_flat(misses(lat) over n)");
    INFO(seed, ": ", finding.why);
    CHECK(finding.why.find("misses already") == std::string::npos);
    if (finding.status != infer::Finding::Status::Found) continue;
    REQUIRE(finding.interval);
    CHECK(finding.interval->first <= 16384);
    CHECK(finding.interval->second >= 16384);
  }
}

TEST_CASE("misses too cheap to be told one by one are told by what first visits take beyond second ones, on average") {
  auto points = footprints(12, [](int i) { return i > 7 ? 3.0 : 0; });
  const auto finding = test::ask(test::table(points), "B", "last_flat(misses(lat) over n)");
  INFO(finding.why);
  REQUIRE(finding.status == infer::Finding::Status::Found);
  CHECK(finding.value == Value(7168, kBytes));
  CHECK(finding.why.find("no access is told apart") != std::string::npos);
  CHECK_FALSE(finding.exact);
  points.resize(7);  // nothing misses: nothing is claimed
  CHECK(test::ask(test::table(points), "B", "last_flat(misses(lat) over n)").status == infer::Finding::Status::Undetermined);
}

TEST_CASE("places that cost a little more or less are no border: where misses begin, the step is larger than between any neighbours") {
  const double drifts[] = {-1.6, -1.3, -1.5, -1.2, -0.8, -0.9, -0.4, -0.2, 0.3, -0.3, -0.6, 0.5, 0.7, 0.2, -0.4, 0.1, 0.4};
  auto points = footprints(30, [&](int i) { return i > 17 ? 9 + 0.3 * (i % 3) : drifts[i - 1]; });
  const auto finding = test::ask(test::table(points), "B", "last_flat(misses(lat) over n)");
  INFO(finding.why);
  REQUIRE(finding.status == infer::Finding::Status::Found);
  CHECK(finding.value == Value(17 * 1024, kBytes));
}

TEST_CASE("of several borders the first one is told, though another step is larger") {
  auto points = footprints(12, [](int i) { return i > 9 ? 60 : i > 5 ? 2.5 : 0; });
  const auto finding = test::ask(test::table(points), "B", "last_flat(misses(lat) over n)");
  INFO(finding.why);
  REQUIRE(finding.status == infer::Finding::Status::Found);
  CHECK(finding.value == Value(5 * 1024, kBytes));
}

TEST_CASE("an average that goes up and down with the footprint is no size") {
  std::vector<records::Point> points;
  for (int i = 1; i <= 12; ++i) {
    const double cost = i > 5 && i != 9 ? 6 : 0;
    points.push_back(pairs(1024.0 * i, 4, 6, [cost](std::int64_t, std::int64_t, bool second) { return second ? 200.0 : 200.0 + cost; }));
  }
  const auto finding = test::ask(test::table(points), "B", "last_flat(misses(lat) over n)");
  INFO(finding.why, " ", finding.evidence);
  CHECK(finding.status == infer::Finding::Status::Undetermined);
  CHECK(finding.why.find("no single size explains both") != std::string::npos);
}

TEST_CASE("slow places that second visits do not share are misses, whichever addresses were walked before") {
  const auto hit = [](std::int64_t, std::int64_t, bool) { return 200.0; };
  const auto miss = [](std::int64_t line, std::int64_t, bool second) { return line >= 32 && !second ? 300.0 : 200.0; };
  auto small = pairs(4096, 6, 0, hit), large = pairs(8192, 6, 0, miss);
  Pattern elsewhere = *large.walk;
  for (auto& offset : elsewhere.offsets) offset += 2048;  // no address of the small walk is in it
  large.walk = std::make_shared<const Pattern>(std::move(elsewhere));
  const auto finding = test::ask(test::table({small, large}), "B", "last_flat(misses(lat) over n)");
  REQUIRE(finding.status == infer::Finding::Status::Found);
  CHECK(finding.value == Value(4096, kBytes));
}

namespace {

/// A walk over units of so many bytes, a line every 24 KiB or so, each twice in a row; first visits to a unit take `cost` longer.
records::Point over_units(std::int64_t unit, double cost, double scatter) {
  static Noise noise(5);
  Pattern walk;
  for (std::int64_t i = 0; i < 256; ++i) {
    for (const auto word : {0, 8}) walk.offsets.push_back(i * 24576 + i * 29 % 17 * 128 + word);
  }
  walk.steps = static_cast<std::int64_t>(walk.offsets.size());
  auto made = test::point(0, walk.steps, 1, 9, [&](std::size_t, std::size_t access) {
    const bool first = access % 2 == 0 && (access == 0 || walk.offsets[access] / unit != walk.offsets[access - 1] / unit);
    return static_cast<std::uint32_t>(std::lround(200 + (first ? cost : 0) + scatter * noise()));
  });
  made.walk = std::make_shared<const Pattern>(std::move(walk));
  return made;
}

}  // namespace

TEST_CASE("a unit is the roundest distance that the walk's stride allows") {
  for (const auto& [cost, scatter] : {std::pair{100.0, 1.0}, std::pair{8.0, 3.0}}) {  // told one by one, and on average alone
    const auto finding = test::ask(test::table({over_units(262144, cost, scatter)}), "B", "miss_spacing(lat)");
    CHECK(finding.value == Value(262144, kBytes));
  }
}

TEST_CASE("a policy may keep what is visited twice in a row, while what a lap visits once misses already") {
  const auto size = [](int from) {
    std::vector<records::Point> points;
    for (int i = 1; i <= 8; ++i) {
      auto point = pairs(1024.0 * i, 8, 4, [=](std::int64_t line, std::int64_t, bool second) {
        const bool twice = line % 2 == 0;
        return 200.0 + (twice ? (second || i < 7 ? 0 : 3) : (i < from ? 0 : 3));
      });
      auto walk = *point.walk;
      for (std::int64_t k = 0; k < kLines; ++k) walk.offsets[static_cast<std::size_t>(2 * k + 1)] += k % 2 == 0 ? 0 : 2048;
      point.walk = std::make_shared<const Pattern>(std::move(walk));
      points.push_back(std::move(point));
    }
    return test::ask(test::table(points), "B", "last_flat(misses(lat) over n)");
  };
  const auto kept = size(4), alike = size(7);
  CHECK_MESSAGE(test::says(kept, "what a lap visits once does from 4 KiB on"), kept.why);
  CHECK_MESSAGE(alike.value == Value(6144.0, kBytes), alike.why);
}
