// SPDX-License-Identifier: Apache-2.0
// What seems to fit, and takes a few cycles longer than in smaller footprints.
#include <doctest/doctest.h>

#include <deque>

#include "runtime/infer/hits_alike.h"
#include "tests/infer/table.h"

using namespace gexp;

namespace {

const infer::MissRange kRange{.above = 200, .outlier = 1000};

/// Footprints of 1, 2, 4, … KiB whose visits take `ticks(KiB, line)`, and now and then one more.
std::optional<infer::UnlikeHits> unlike(const std::function<double(int kib, std::int64_t line)>& ticks) {
  std::deque<records::Point> points;
  std::vector<std::pair<double, const records::Point*>> walks;
  test::Noise noise(3);
  for (int kib = 1; kib <= 64; kib *= 2) {
    const std::int64_t lines = kib * 32;
    points.push_back(test::point(kib * 1024.0, lines, 2, 5, [&](std::size_t, std::size_t access) {
      return static_cast<std::uint32_t>(ticks(kib, static_cast<std::int64_t>(access) % lines) + (noise() > 1 ? 1 : 0));
    }));
    walks.emplace_back(kib * 1024.0, &points.back());
  }
  return infer::unlike_hits(walks, kRange);
}

}  // namespace

TEST_CASE("a level four cycles slower is no level of hits") {
  const auto found = unlike([](int kib, std::int64_t) { return kib <= 8 ? 40 : 44; });
  REQUIRE(found);
  CHECK(found->last == 8192);
  CHECK(found->above == 16384);
  CHECK(found->ticks == doctest::Approx(4).epsilon(0.05));
}

TEST_CASE("a level that answers sooner than the first one is no level of its hits") {
  const auto found = unlike([](int kib, std::int64_t) { return kib <= 8 ? 44 : 40; });
  REQUIRE(found);
  CHECK(found->last == 8192);
  CHECK(found->above == 16384);
  CHECK(found->ticks == doctest::Approx(-4).epsilon(0.05));
}

TEST_CASE("lines that lie further away are slower in each footprint, and misses are looked at elsewhere") {
  CHECK_FALSE(unlike([](int, std::int64_t) { return 40; }));
  CHECK_FALSE(unlike([](int, std::int64_t line) { return 40 + static_cast<double>(line / 100); }));  // more of them in larger footprints
  CHECK_FALSE(unlike([](int kib, std::int64_t) { return kib <= 8 ? 40 : 300; }));
}

namespace {

/// Lines that are read once a lap, each in `first(line)` ticks; and in a walk of all words of them, each second visit in a row in `again(line)`.
std::optional<infer::FasterLevel> faster(const std::function<int(std::int64_t line)>& first, const std::function<int(std::int64_t line)>& again) {
  test::Noise noise(3);
  const auto scatter = [&noise] { return noise() > 1 ? 1 : 0; };
  const auto lines = test::point(4096, 128, 2, 5, [&](std::size_t, std::size_t access) {
    return static_cast<std::uint32_t>(first(static_cast<std::int64_t>(access % 128)) + scatter());
  });
  auto words = test::point(8192, 1024, 1, 3, [&](std::size_t, std::size_t access) {
    const auto line = static_cast<std::int64_t>(access / 4);
    return static_cast<std::uint32_t>(access % 2 == 0 ? 300 : again(line) + scatter());  // 16 B come in at once
  });
  Pattern walk = *words.walk;
  for (std::size_t i = 0; i < walk.offsets.size(); ++i) walk.offsets[i] = 8 * static_cast<std::int64_t>(i);
  words.walk = std::make_shared<const Pattern>(std::move(walk));
  const auto table = test::table({words});
  return infer::faster_level({&lines}, kRange, infer::SecondVisits({&table}));
}

}  // namespace

TEST_CASE("what fits into a level behind is no footprint of the fastest one") {
  const auto found = faster([](std::int64_t line) { return 140 + static_cast<int>(line / 16); }, [](std::int64_t line) { return 40 + static_cast<int>(line / 16); });
  REQUIRE(found);
  CHECK(found->ticks == doctest::Approx(100).epsilon(0.01));
  CHECK(found->visits == 128 * 2 * 5);
}

TEST_CASE("hits of the fastest level take as long as second visits, wherever they lie") {
  CHECK_FALSE(faster([](std::int64_t line) { return 40 + static_cast<int>(line / 2); }, [](std::int64_t line) { return 40 + static_cast<int>(line / 2); }));
  CHECK_FALSE(faster([](std::int64_t) { return 42; }, [](std::int64_t) { return 40; }));  // what is measured twice differs by as much
}

TEST_CASE("a second visit in a row that is two ticks sooner is of another level") {
  const auto paired = [](int later) {
    auto pairs = test::point(4096, 256, 2, 5, [&](std::size_t, std::size_t access) { return static_cast<std::uint32_t>(access % 2 == 0 ? 40 + later : 40); });
    Pattern walk = *pairs.walk;
    for (std::size_t i = 0; i < walk.offsets.size(); ++i) walk.offsets[i] = 32 * static_cast<std::int64_t>(i / 2) + 4 * static_cast<std::int64_t>(i % 2);
    pairs.walk = std::make_shared<const Pattern>(std::move(walk));
    const auto table = test::table({pairs});
    return infer::faster_level({&table.points[0]}, kRange, infer::SecondVisits({&table}));
  };
  CHECK(paired(2));
  CHECK_FALSE(paired(0));
}
