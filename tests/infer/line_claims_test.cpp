// SPDX-License-Identifier: Apache-2.0
// A hole of the size of a line leaves one out, if it begins where a line does.
#include <bit>
#include <doctest/doctest.h>

#include "runtime/infer/line_claims.h"
#include "tests/infer/walks.h"

using namespace gexp;

namespace {

/// Holes of 0 B to 256 B in 1 KiB that is walked every 32 B from `begin` on, at 512 B behind it.
records::Table holes(std::int64_t begin) {
  records::Table table = test::table({});
  for (std::int64_t hole = 0; hole <= 256; hole += 32) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t offset = 0; offset < 1024; offset += 32) {
      if (offset < 512 || offset >= 512 + hole) offsets.push_back(begin + offset);
    }
    table.points.push_back(test::walked({{"hole", Value(static_cast<double>(hole), kBytes)}}, offsets, test::LruCache(128, 8, [](std::int64_t) { return std::uint64_t{0}; })));
  }
  return table;
}

/// 64 sets of two ways, by the lowest bits of the line.
test::LruCache two_ways(std::int64_t line) {
  return {line, 2, [line](std::int64_t number) { return static_cast<std::uint64_t>(number % (2048 / line)); }};
}

/// 4 KiB in units of 32 B, and the one behind them, without a hole that begins at 0; each `each` bytes lie `by` further on.
std::vector<std::int64_t> around(std::int64_t hole, std::int64_t each, std::int64_t by) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t offset = hole; offset <= 4096; offset += 32) offsets.push_back(offset + offset / each * by);
  return offsets;
}

/// What holes told, in a file that walked 4 KiB and one unit more before.
std::string told(std::pair<double, double> interval, std::int64_t line, std::int64_t by) {
  const auto cache = two_ways(line);
  auto sizes = test::table({}), holes = test::table({});
  holes.columns = {"hole"};
  for (const std::int64_t n : {2048, 4096, 4128}) sizes.points.push_back(test::walked({{"n", Value(static_cast<double>(n), kBytes)}}, test::every(32, n), cache));
  for (std::int64_t hole = 0; hole <= 256; hole += 32) {
    holes.points.push_back(test::walked({{"hole", Value(static_cast<double>(hole), kBytes)}}, around(hole, 1024, by), cache));
  }
  infer::model::Walks walks;
  for (const auto* table : {&sizes, &holes}) walks.add(*table, *infer::miss_range(*table, infer::classify(*table)), "s");
  const auto first = test::ask_in("  sweep hole in 0B..256B step 32B\n  pattern ring = uniform(stride: 32B, span: 4KiB)\n  launch grid 1 block 1\n  timed lat each { chase A by ring laps 2 }\n",
                                  holes, "B", "first_flat(misses(lat) over hole)");
  REQUIRE_MESSAGE(first.interval, first.why);
  CHECK(first.interval->second == interval.second);
  REQUIRE(infer::not_a_line(holes, "hole", interval).empty());
  return infer::several_lines(holes, "hole", interval, walks);
}

}  // namespace

TEST_CASE("a hole that makes room may have left out several lines: each was too many in a set of its own") {
  CHECK(told({129, 160}, 32, 32).find("a whole line of 32 B") != std::string::npos);
  CHECK(told({33, 64}, 64, 0).empty());
  CHECK(told({97, 128}, 128, 0).empty());
}

TEST_CASE("a line is as long as the hole that leaves it out") {
  CHECK(infer::not_a_line(holes(0), "hole", {97, 128}).empty());
  CHECK(infer::not_a_line(holes(0), "hole", {1, 32}).empty());
  CHECK(infer::not_a_line(holes(0), "hole", {33, 64}).empty());
}

TEST_CASE("a hole that begins within a line says nothing of its length") {
  CHECK(infer::not_a_line(holes(36), "hole", {193, 224}).find("128 B") != std::string::npos);  // the rest of one, and a whole one
  CHECK(infer::not_a_line(holes(64), "hole", {161, 192}).find("128 B") != std::string::npos);
  CHECK(infer::not_a_line(holes(32), "hole", {97, 128}).find("224 B") != std::string::npos);   // no line of 128 B is left out there
}

TEST_CASE("walks that are no holes in each other say nothing of lines, nor does a length that is none") {
  auto table = holes(32);
  table.points[1].walk = test::walked({{"hole", Value(32.0, kBytes)}}, test::every(32, 64), test::LruCache(128, 8, [](std::int64_t) { return std::uint64_t{0}; })).walk;
  table.points[0].walk = table.points[1].walk;
  CHECK(infer::not_a_line(table, "hole", {97, 128}).empty());
  CHECK(infer::not_a_line(holes(32), "hole", {1, 4096}).empty());
}

namespace {

/// Walks through one set of 32 lines of 128 B: one word of each pair of blocks in 8 KiB, beside 4 KiB that fit, walked every `apart` bytes.
std::pair<infer::model::Walks, infer::model::Walks> spaced(const test::LruCache& cache, std::int64_t apart, std::int64_t first_block, std::int64_t last_block) {
  auto blocks = test::table({}), fits = test::table({});
  blocks.columns = {"block"}, fits.columns = {"n"};
  for (auto block = first_block; block <= last_block; block *= 2) {
    blocks.points.push_back(test::walked({{"block", Value(static_cast<double>(block), kBytes)}}, test::every(2 * block, 8192), cache));
  }
  fits.points.push_back(test::walked({{"n", Value(4096.0, kBytes)}}, test::every(apart, 4096), cache));
  infer::model::Walks own, all;
  const infer::MissRange slower{.above = (test::kHitTicks + test::kMissTicks) / 2.0, .outlier = 1000};
  own.add(blocks, slower, "line");
  for (const auto* table : {&blocks, &fits}) all.add(*table, slower, "s");
  return {own, all};
}

test::LruCache one_set() {
  return {128, 32, [](std::int64_t) { return std::uint64_t{0}; }};
}

}  // namespace

TEST_CASE("a line told by spacing is no shorter one, where a walk of as many shorter lines fits") {
  const auto [before, dense] = spaced(one_set(), 32, 64, 64);
  CHECK(infer::too_many_shorter_lines({65, 128}, before, dense).empty());
  const auto [same, sparse] = spaced(one_set(), 256, 64, 64);  // in 4 KiB it visits 16 lines only
  CHECK(infer::too_many_shorter_lines({65, 128}, same, sparse).find("units of 32 B") != std::string::npos);
}

TEST_CASE("walks over the same lines miss alike, whichever of their words they read") {
  const auto [own, all] = spaced(one_set(), 32, 16, 128);
  CHECK(infer::unlike_over_same_lines({65, 128}, own).empty());
  CHECK(infer::unlike_over_same_lines({129, 256}, own).find("256 B") != std::string::npos);  // with 128 B between them all fit, with less none does
}

TEST_CASE("of two blocks within one line it does not matter which is read: the same lines miss") {
  const test::LruCache direct(128, 1, [](std::int64_t line) { return static_cast<std::uint64_t>(line % 51); });
  auto blocks = test::table({});
  blocks.columns = {"block", "others"};
  for (const auto block : {std::int64_t{64}, std::int64_t{128}}) {
    for (std::int64_t others = 0; others < 2; ++others) {
      std::vector<std::int64_t> ring;
      for (std::int64_t k = 0; k < 8192 / (2 * block); ++k) ring.push_back((2 * k + (std::popcount(static_cast<std::uint64_t>(k)) + others) % 2) * block);
      blocks.points.push_back(test::walked({{"block", Value(static_cast<double>(block), kBytes)}, {"others", Value(static_cast<double>(others))}}, ring, direct));
    }
  }
  infer::model::Walks walks;
  walks.add(blocks, {.above = (test::kHitTicks + test::kMissTicks) / 2.0, .outlier = 1000}, "line");
  CHECK(infer::unlike_over_same_lines({65, 128}, walks).empty());
  CHECK(infer::unlike_over_same_lines({129, 256}, walks).find("miss in other units") != std::string::npos);
}

TEST_CASE("a walk that begins within a line leaves out lines before its blocks are lines: longer ones would do") {
  const test::LruCache one_set_of_68(64, 68, [](std::int64_t) { return std::uint64_t{0}; });
  const auto walks_from = [&](std::int64_t begin) {
    auto blocks = test::table({});
    blocks.columns = {"block"};
    for (const auto block : {std::int64_t{16}, std::int64_t{32}, std::int64_t{64}}) {
      std::vector<std::int64_t> ring;
      for (std::int64_t k = 0; k < 6144 / (2 * block); ++k) ring.push_back(begin + (2 * k + std::popcount(static_cast<std::uint64_t>(k)) % 2) * block);
      blocks.points.push_back(test::walked({{"block", Value(static_cast<double>(block), kBytes)}}, ring, one_set_of_68));
    }
    infer::model::Walks walks;
    walks.add(blocks, {.above = (test::kHitTicks + test::kMissTicks) / 2.0, .outlier = 1000}, "line");
    return walks;
  };
  CHECK(infer::longer_lines({33, 64}, walks_from(0)).empty());
  CHECK(infer::longer_lines({17, 32}, walks_from(36)).find("lines of 64 B would do as well") != std::string::npos);
}

TEST_CASE("words of one line miss alike where each is read after another as far away") {
  // 22 lines of 128 B in two sets of 11, neighbours in different ones; each part of 32 B comes by itself.
  const test::LruCache cache(32, 11, [](std::int64_t part) { return static_cast<std::uint64_t>(part % 8); });
  auto sizes = test::table({});
  for (const std::int64_t n : {2816, 2944}) sizes.points.push_back(test::walked({{"n", Value(static_cast<double>(n), kBytes)}}, test::every(32, n), cache));
  infer::model::Walks walks;
  walks.add(sizes, {.above = (test::kHitTicks + test::kMissTicks) / 2.0, .outlier = 1000}, "capacity");
  CHECK(infer::unlike_within_lines({65, 128}, walks).empty());
  CHECK(infer::unlike_within_lines({129, 256}, walks).find("some words miss") != std::string::npos);
}

TEST_CASE("a line that comes back in parts misses at the first word of each") {
  const test::LruCache in_parts_of_64(64, 8, [](std::int64_t part) { return static_cast<std::uint64_t>(part % 4); });  // eight lines of 256 B
  auto sizes = test::table({});
  sizes.points.push_back(test::walked({{"n", Value(2304.0, kBytes)}}, test::every(32, 2304), in_parts_of_64));
  infer::model::Walks walks;
  walks.add(sizes, {.above = (test::kHitTicks + test::kMissTicks) / 2.0, .outlier = 1000}, "capacity");
  CHECK(infer::unlike_within_lines({129, 256}, walks).empty());
}

TEST_CASE("what is read right after a hit in the same line does not miss: a line goes as a whole") {
  const auto walks_of = [](const records::Point& point) {
    auto sizes = test::table({});
    sizes.points.push_back(point);
    infer::model::Walks walks;
    walks.add(sizes, {.above = (test::kHitTicks + test::kMissTicks) / 2.0, .outlier = 1000}, "capacity");
    return walks;
  };
  const auto at = std::map<std::string, Value>{{"n", Value(704.0, kBytes)}};
  const auto fifth = [](std::int64_t line) { return static_cast<std::uint64_t>(line % 5); };  // one of five sets has a line too many
  const auto short_lines = walks_of(test::walked(at, test::every(32, 672), test::LruCache(32, 4, fifth)));
  CHECK(infer::misses_after_hits({17, 32}, short_lines).empty());
  CHECK(infer::misses_after_hits({33, 64}, short_lines).find("a word hits and the one that is read right after it misses") != std::string::npos);
  const auto long_lines = test::walked(at, test::every(32, 704), test::LruCache(64, 2, fifth));
  CHECK(infer::misses_after_hits({33, 64}, walks_of(long_lines)).empty());
  CHECK_FALSE(infer::misses_after_hits({65, 128}, walks_of(long_lines)).empty());
  auto in_parts = long_lines;  // each half of a line comes back by itself
  for (auto& run : in_parts.runs) {
    for (std::size_t i = 1; i < run.ticks.size(); i += 2) run.ticks[i] = run.ticks[i - 1];
  }
  CHECK(infer::misses_after_hits({33, 64}, walks_of(in_parts)).empty());
}

TEST_CASE("a line that a `where` tells of some walks has to predict the others, too") {
  const auto walk = std::string("[(2 * k + (popcount(k) + others) mod 2) * block for k in 0..8KiB div (2 * block) - 1]");
  const auto line_where = [&](const std::string& column, std::int64_t length) {
    const auto program = test::program_of(test::stage("line", "  sweep block in 64B..256B times 2\n  sweep others in 0..1\n", walk,
                                                      "  find size: B = first_flat(" + column + ")\n") +
                                          test::size_stage("fits", ""));
    const test::LruCache direct(length, 1, [](std::int64_t line) { return static_cast<std::uint64_t>(line % 51); });
    auto blocks = test::table({}), fits = test::table({});
    blocks.columns = {"block", "others"}, fits.columns = {"n"};
    for (const auto block : {std::int64_t{64}, std::int64_t{128}, std::int64_t{256}}) {
      for (std::int64_t others = 0; others < 2; ++others) {
        std::vector<std::int64_t> ring;
        for (std::int64_t k = 0; k < 8192 / (2 * block); ++k) ring.push_back((2 * k + (std::popcount(static_cast<std::uint64_t>(k)) + others) % 2) * block);
        blocks.points.push_back(test::walked({{"block", Value(static_cast<double>(block), kBytes)}, {"others", Value(static_cast<double>(others))}}, ring, direct));
      }
    }
    fits.points.push_back(test::walked({{"n", Value(4096.0, kBytes)}}, test::every(32, 4096), direct));
    infer::Finding told;
    told.id = "line.size", told.value = Value(128.0, kBytes), told.interval = {65, 128}, told.status = infer::Finding::Status::Found;
    return test::reconciled(program, {blocks, fits}, {told})[0];
  };
  for (const std::string column : {"misses(lat) over block", "misses(lat) over block where others == 0", "misses(lat where step mod 2 == 0) over block",
                                   "misses(lat where lap == 1) over block"}) {
    CAPTURE(column);
    CHECK_MESSAGE(line_where(column, 128).status == infer::Finding::Status::Found, line_where(column, 128).why);
    CHECK(line_where(column, 64).why.find("walks over the same units of 128 B") != std::string::npos);
  }
}

TEST_CASE("a line that a `where` tells of some holes is held against the walks around all of them") {
  const auto program = test::program_of(test::stage("line", "  sweep hole in 0B..128B step 32B\n", "[o for o in hole..512B step 32B]",
                                                    "  find b: B = first_flat(misses(lat) over hole where hole > 0B)\n") +
                                        test::size_stage("fits", ""));
  const test::LruCache cache(64, 8, [](std::int64_t) { return std::uint64_t{0}; });
  auto around = test::table({}), fits = test::table({});
  around.columns = {"hole"}, fits.columns = {"n"};
  for (std::int64_t hole = 0; hole <= 128; hole += 32) {
    auto ring = test::every(32, 544);
    ring.erase(ring.begin(), ring.begin() + hole / 32);
    around.points.push_back(test::walked({{"hole", Value(static_cast<double>(hole), kBytes)}}, ring, cache));
  }
  fits.points.push_back(test::walked({{"n", Value(512.0, kBytes)}}, test::every(32, 512), cache));
  const auto told = infer::answer(program.stages[0].finds[0], around, program.stages[0], compiler::Names());
  REQUIRE(told.status == infer::Finding::Status::Found);
  const auto line = test::reconciled(program, {around, fits}, {told})[0];
  CHECK_MESSAGE(line.status == infer::Finding::Status::Found, line.why);  // the walk without a hole says that none of 32 B leaves out a line
  CHECK(show(line.value) == "64 B");
}
