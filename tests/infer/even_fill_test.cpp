// SPDX-License-Identifier: Apache-2.0
// Beyond a size all sets overflow alike, unless pages lie by chance.
#include <doctest/doctest.h>

#include <random>

#include "runtime/infer/even_fill.h"
#include "tests/infer/walks.h"

using namespace gexp;

namespace {

constexpr std::int64_t kLine = 64;

/// Lines of `bytes` in an order by chance, through an LRU cache of 64 KiB whose physical pages of 4 KiB are `frame_of` of the virtual ones.
records::Point walk(std::int64_t bytes, std::uint64_t ways, const std::function<std::int64_t(std::int64_t page)>& frame_of) {
  auto offsets = test::every(kLine, bytes);
  std::shuffle(offsets.begin(), offsets.end(), std::mt19937_64(1));
  const auto sets = (64u << 10) / kLine / ways;
  const auto set_of = [=](std::int64_t line) {
    const auto lines = 4096 / kLine;
    return static_cast<std::uint64_t>(frame_of(line / lines) * lines + line % lines) % sets;
  };
  return test::walked({}, std::move(offsets), test::LruCache(kLine, ways, set_of));
}

std::int64_t in_order(std::int64_t page) { return page; }
std::int64_t by_chance(std::int64_t page) { return static_cast<std::int64_t>(std::mt19937_64(static_cast<std::uint64_t>(page))() >> 8); }

const infer::MissRange kRange{.above = 150, .outlier = 1000};

}  // namespace

TEST_CASE("pages by chance fill sets unevenly: which lines miss goes by pages") {
  const auto point = walk(96 << 10, 2, by_chance);
  CHECK(infer::uneven_blocks({{96 << 10, &point}}, {64 << 10, 64 << 10}, kLine, kRange) == 4096);
}

TEST_CASE("sets that fill evenly miss alike everywhere once one way more is walked, of however many ways") {
  for (const std::uint64_t ways : {1, 2, 4, 8, 16}) {
    for (const std::int64_t bytes : {80 << 10, 96 << 10, 128 << 10}) {
      const auto point = walk(bytes, ways, in_order);
      CAPTURE(ways);
      CHECK_FALSE(infer::uneven_blocks({{static_cast<double>(bytes), &point}}, {64 << 10, 64 << 10}, kLine, kRange));
    }
  }
}

TEST_CASE("a footprint that is larger by less than a quarter says nothing") {
  const auto point = walk(72 << 10, 2, by_chance);
  CHECK_FALSE(infer::uneven_blocks({{72 << 10, &point}}, {64 << 10, 64 << 10}, kLine, kRange));
}

TEST_CASE("a set that makes many lines miss has many ways, so less of a surplus fills all sets") {
  // Pages by chance among 16 frames' worth of sets, of 4 ways: 12 pages fit before one of the four groups of sets overflows.
  const auto next = walk(52 << 10, 4, by_chance), more = walk(60 << 10, 4, by_chance);
  const auto in_order_next = walk(72 << 10, 16, in_order), in_order_more = walk(76 << 10, 16, in_order);
  const double fits = 51 << 10;
  CHECK(infer::uneven_blocks({{52 << 10, &next}, {60 << 10, &more}}, {fits, fits}, kLine, kRange) == 4096);
  CHECK_FALSE(infer::uneven_blocks({{60 << 10, &more}}, {fits, fits}, kLine, kRange));  // sets of few ways may fill so
  CHECK_FALSE(infer::uneven_blocks({{72 << 10, &in_order_next}, {76 << 10, &in_order_more}}, {64 << 10, 64 << 10}, kLine, kRange));
}

TEST_CASE("where a launch writes its ticks, neighbouring sets of each way may miss more often: no pages that lie by chance") {
  const std::uint32_t written = 2 << 10;
  const auto writes = [&](records::Point point) {
    for (auto& run : point.runs) run.windows = {0, written / 4, written / 2};
    return point;
  };
  auto point = writes(walk(80 << 10, 8, in_order));
  // A policy that keeps lines by age: two of five stay, but none beside the ticks.
  for (auto& run : point.runs) {
    for (std::size_t i = 0; i < run.ticks.size(); ++i) {
      const auto at = point.walk->at(0, static_cast<std::int64_t>(i) % point.walk->steps);
      const bool stays = by_chance(at / kLine) % 5 < 2 && (at + (3 << 10)) % (8 << 10) >= written;
      run.ticks[i] = stays ? test::kHitTicks : test::kMissTicks;
    }
  }
  CHECK_FALSE(infer::uneven_blocks({{80 << 10, &point}}, {64 << 10, 65 << 10}, kLine, kRange));
  const auto by_pages = writes(walk(96 << 10, 2, by_chance));
  CHECK(infer::uneven_blocks({{96 << 10, &by_pages}}, {64 << 10, 65 << 10}, kLine, kRange) == 4096);
}

TEST_CASE("victims at random miss at least as a share that Lambert's W gives") {
  CHECK(infer::missing_at_random(1) == 0);
  const double share = infer::missing_at_random(1.5);
  CHECK(share == doctest::Approx(1 - std::exp(-1.5 * share)));
  CHECK(share > 1 - 1 / 1.5);
}
