// SPDX-License-Identifier: Apache-2.0
// Sets and a policy are replayed through a file's walks: what they predict of no walk is no cache.
#include "runtime/infer/replay.h"

#include <doctest/doctest.h>

#include <utility>

#include "tests/infer/table.h"
#include "tests/infer/walks.h"

using namespace gexp;
using infer::CacheClaim;

namespace {

constexpr std::int64_t kLine = 32;
const infer::MissRange kSlow{.above = 150, .outlier = 1000};

std::vector<std::int64_t> lines(std::int64_t from, std::int64_t count, std::int64_t step = 1) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < count; ++i) offsets.push_back((from + i * step) * kLine);
  return offsets;
}

/// 16 sets of 2 ways by the lowest bits of the line's number.
CacheClaim claim(std::uint64_t bits = 0xff) {
  CacheClaim made;
  made.line_bytes = kLine, made.ways = 2, made.bits = bits;
  made.set_of = [](std::int64_t line) { return static_cast<std::uint64_t>(line % 16); };
  return made;
}

test::LruCache as_claimed() {
  return {kLine, 2, [](std::int64_t line) { return static_cast<std::uint64_t>(line % 16); }};
}

records::Point at(double n, std::vector<std::int64_t> offsets, const test::LruCache& cache) { return test::walked({{"n", Value(n)}}, std::move(offsets), cache); }

}  // namespace

TEST_CASE("a cache that is as claimed predicts all that fits, and all that does not") {
  const auto table = test::table({at(1, lines(0, 32), as_claimed()), at(2, lines(0, 33), as_claimed()), at(3, lines(0, 64), as_claimed()), at(4, lines(3, 9, 16), as_claimed())});
  CHECK_FALSE(infer::replay(claim(), table, kSlow, "s"));
}

TEST_CASE("lines that hit where their set is too full say that there is more room") {
  // Lines 48 to 63 have sets of their own: a page that lies elsewhere.
  const test::LruCache roomy(kLine, 2, [](std::int64_t line) { return static_cast<std::uint64_t>(line % 16 + (line >= 48 ? 16 : 0)); });
  const auto found = infer::replay(claim(), test::table({at(1, lines(0, 32), roomy), at(2, lines(0, 64), roomy)}), kSlow, "grown");
  REQUIRE(found);
  CHECK(found->hit);
  CHECK(found->lines == 16);
  CHECK(found->where == "grown, n = 2");
}

TEST_CASE("lines that miss where they should fit say that sets are others, or smaller") {
  const test::LruCache smaller(kLine, 2, [](std::int64_t line) { return static_cast<std::uint64_t>(line % 8); });
  const auto found = infer::replay(claim(), test::table({at(1, lines(0, 32), smaller)}), kSlow, "s");
  REQUIRE(found);
  CHECK_FALSE(found->hit);
  CHECK(found->lines == 32);
}

TEST_CASE("the policy takes part: 3 lines of a set of 2 ways, of which one is visited between all others, stay by LRU and not by FIFO") {
  std::vector<std::int64_t> offsets;
  for (std::int64_t set = 0; set < 16; ++set) {
    for (const std::int64_t line : {0, 1, 0, 2}) offsets.push_back((set + 16 * line) * kLine);
  }
  const auto table = test::table({at(1, offsets, as_claimed())});
  CHECK_FALSE(infer::replay(claim(), table, kSlow, "s"));
  auto fifo = claim();
  fifo.policy = infer::Candidate(infer::Candidate::Policy::Fifo);
  CHECK(infer::replay(fifo, table, kSlow, "s"));
}

TEST_CASE("nothing is said of lines that differ in other bits than those that the sets were told from") {
  const test::LruCache hashed(kLine, 2, [](std::int64_t line) { return static_cast<std::uint64_t>((line ^ line >> 8) % 16); });
  const auto table = test::table({at(1, lines(0, 4, 256), hashed)});  // four lines of four sets, which the claim puts into one
  CHECK_FALSE(infer::replay(claim(0xff), table, kSlow, "s"));
  CHECK(infer::replay(claim(0x3ff), test::table({at(1, lines(0, 64, 16), test::LruCache(kLine, 64, [](std::int64_t) { return std::uint64_t{0}; }))}), kSlow, "s"));
}

TEST_CASE("an address whose sector was not asked for since its line came in may miss") {
  // Sectors of 16 B, each with a place of its own: the second half of a line that is there comes by itself.
  records::Point point = at(1, lines(0, 33), as_claimed());
  Pattern halves;
  for (const auto offset : lines(0, 33)) halves.offsets.push_back(offset), halves.offsets.push_back(offset + 16);
  halves.steps = static_cast<std::int64_t>(halves.offsets.size());
  point.walk = point.warm_walk = std::make_shared<const Pattern>(halves);
  point.warm_steps = point.steps = 2 * halves.steps;
  for (auto& run : point.runs) {
    run.ticks.assign(static_cast<std::size_t>(point.steps), test::kHitTicks);
    for (std::size_t i = 0; i < run.ticks.size(); ++i) {
      const auto line = i % static_cast<std::size_t>(halves.steps) / 2;
      if (line % 16 == 0) run.ticks[i] = test::kMissTicks;  // three lines of one set, both halves
    }
  }
  CHECK_FALSE(infer::replay(claim(), test::table({point}), kSlow, "s"));
}

TEST_CASE("what something else evicts now and then contradicts nothing") {
  auto point = at(1, lines(0, 32), as_claimed());
  for (std::size_t i = 0; i < 32; ++i) point.runs[i % 3].ticks[i] = test::kMissTicks;  // each line once, of its six visits
  CHECK_FALSE(infer::replay(claim(), test::table({point}), kSlow, "s"));
}

TEST_CASE("a walk without a warm-up, and one that nobody timed, say nothing") {
  auto cold = at(1, lines(0, 32), test::LruCache(kLine, 2, [](std::int64_t) { return std::uint64_t{0}; }));
  cold.warm_walk = nullptr, cold.warm_steps = 0;
  auto empty = at(2, lines(0, 32), as_claimed());
  empty.runs.clear();
  CHECK_FALSE(infer::replay(claim(), test::table({cold, empty}), kSlow, "s"));
}
