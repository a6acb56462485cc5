// SPDX-License-Identifier: Apache-2.0
// Sizes that a file's other walks contradict are withdrawn.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/infer/granularity.h"
#include "runtime/infer/reconcile.h"
#include "tests/infer/walks.h"

using namespace gexp;
using test::every;
using test::program_of;
using test::reconciled;
using test::size_stage;
using test::stage;
using test::walked;

namespace {

/// A file whose first stage finds a size by walks of one stride, which grow by `step` bytes, and whose second walks the same bytes by another.
infer::Finding size_after(std::int64_t stride, std::int64_t other, const test::LruCache& cache, std::int64_t step) {
  const auto program = program_of(size_stage("size", "  find C: B = last_flat(misses(lat) over n)\n") +
                                  stage("other", "  sweep n in [1B]\n", "uniform(stride: 32B, span: 64B)", "  find hit: cycles = fastest(lat)\n"));
  auto sizes = test::table({}), others = test::table({});
  for (std::int64_t n = stride; n <= 4096; n += step) sizes.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, every(stride, n), cache));
  const auto size = infer::answer(program.stages[0].finds[0], sizes, program.stages[0], compiler::Names());
  REQUIRE_MESSAGE(size.status == infer::Finding::Status::Found, size.why);
  for (const auto n : {1024.0, size.value.get<Number>()->number}) others.points.push_back(walked({{"n", Value(n, kBytes)}}, every(other, static_cast<std::int64_t>(n)), cache));
  others.points.push_back(walked({{"n", Value(9999.0, kBytes)}}, every(32, 8192), cache));  // shows what a miss is
  return reconciled(program, {sizes, others}, {size})[0];
}
infer::Finding size_after(std::int64_t stride, std::int64_t other, const test::LruCache& cache) { return size_after(stride, other, cache, stride); }

}  // namespace

TEST_CASE("a size holds only where a finer walk within it fits, too") {
  const test::LruCache lines_of_64(64, 32, [](std::int64_t) { return std::uint64_t{0}; }), lines_of_32(32, 32, [](std::int64_t) { return std::uint64_t{0}; });
  CHECK(size_after(64, 32, lines_of_64).value == Value(2048.0, kBytes));
  const auto contradicted = size_after(64, 32, lines_of_32);  // 32 lines, 64 B apart
  CHECK(test::undetermined(contradicted));
  CHECK_MESSAGE(contradicted.why.find("visits 64 addresses within these bytes and misses") != std::string::npos, contradicted.why);
}

TEST_CASE("what all points of a stage call by a name of its own is known where it is held against other walks") {
  auto table = test::table({});
  for (const double n : {1024.0, 2048.0}) table.points.push_back(walked({{"n", Value(n, kBytes)}, {"side", Value(200.0, kCycles)}}, every(32, 1024), test::four_sets()));
  compiler::Names outer;
  outer.set("limit", Value(7.0));
  const auto names = infer::names_in(table, outer);
  REQUIRE(names.lookup("side"));
  CHECK(*names.lookup("side") == Value(200.0, kCycles));
  CHECK_FALSE(names.lookup("n"));  // the points differ
  CHECK(names.lookup("limit"));
}

TEST_CASE("what was read off at a size that is withdrawn is withdrawn, too") {
  const auto program = program_of(size_stage("size", "  find C: B = last_flat(misses(lat) over n)\n") +
                                  stage("there", "", "uniform(stride: 32B, span: size.C)", "  find missing: count = value(misses(lat))\n  find hit: cycles = fastest(lat)\n"));
  const auto missing_where = [&](const test::LruCache& cache) {
    auto sizes = test::table({}), there = test::table({});
    there.columns.clear();
    for (std::int64_t n = 64; n <= 4096; n += 64) sizes.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, every(64, n), cache));
    there.points.push_back(walked({}, every(32, 2048), cache));
    there.points.push_back(walked({}, every(32, 8192), cache));  // shows what a miss is
    infer::Finding missing, hit;
    missing.id = "there.missing", missing.value = Value(0.0), missing.status = infer::Finding::Status::Found;
    hit = missing, hit.id = "there.hit";
    const auto size = infer::answer(program.stages[0].finds[0], sizes, program.stages[0], compiler::Names());
    REQUIRE(size.status == infer::Finding::Status::Found);
    const auto findings = reconciled(program, {sizes, there}, {size, missing, hit});
    CHECK(findings[2].status == infer::Finding::Status::Found);
    return findings[1];
  };
  const auto one_set = [](std::int64_t) { return std::uint64_t{0}; };
  CHECK(missing_where({64, 32, one_set}).status == infer::Finding::Status::Found);
  const auto withdrawn = missing_where({32, 32, one_set});  // 32 lines of half the stride
  CHECK(test::undetermined(withdrawn));
  CHECK_MESSAGE(withdrawn.why.find("measured at `size.C`, which is withdrawn") != std::string::npos, withdrawn.why);
}

namespace {

/// What is left of a size that `find` tells of these walks, once they are held against it.
infer::Finding size_told(const std::string& find, const records::Table& sizes) {
  const auto program = program_of(size_stage("size", "  find C: B = " + find + "\n"));
  const auto size = infer::answer(program.stages[0].finds[0], sizes, program.stages[0], compiler::Names());
  REQUIRE_MESSAGE(size.status == infer::Finding::Status::Found, size.why);
  return reconciled(program, {sizes}, {size})[0];
}

/// The same of footprints of n bytes, from `least` on, whose units lie where `at` says.
infer::Finding size_of(std::int64_t least, const std::function<std::int64_t(std::int64_t unit)>& at, const test::LruCache& cache) {
  auto sizes = test::table({});
  for (std::int64_t n = least; n <= 4096; n += 32) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t unit = 0; unit < n / 32; ++unit) offsets.push_back(at(unit));
    sizes.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, offsets, cache));
  }
  return size_told("last_flat(misses(lat) over n)", sizes);
}

}  // namespace

TEST_CASE("a level seems larger by what a faster one keeps in each lap") {
  // 1920 B fit, of which the first 192 never leave the level above.
  const auto footprint = [](std::int64_t n, std::int64_t above, std::int64_t apart) {
    auto made = test::point(static_cast<double>(n), n / 32, 4, 3, [=](std::size_t, std::size_t access) {
      const auto line = static_cast<std::int64_t>(access) % (n / 32);
      return line * 32 < above ? 50u : n <= 1920 ? 110u : 310u;
    });
    auto walk = *made.walk;
    for (auto& offset : walk.offsets) offset *= apart;
    made.walk = std::make_shared<const Pattern>(std::move(walk));
    return made;
  };
  const auto size = [&](std::int64_t above, std::int64_t apart) {
    std::vector<records::Point> points;
    for (std::int64_t n = 1024; n <= 4096; n += 32) points.push_back(footprint(n, above, apart));
    return test::ask(test::table(points), "B", "last_flat(misses(lat, above: 100cycles) over n)");
  };
  const auto alone = size(0, 16), kept = size(192, 16), of_a_line = size(192, 1);
  REQUIRE_MESSAGE(alone.status == infer::Finding::Status::Found, alone.why);
  REQUIRE_MESSAGE(kept.status == infer::Finding::Status::Found, kept.why);
  CHECK(alone.interval->first == 1920);
  CHECK(kept.value == Value(1920.0, kBytes));
  CHECK(kept.interval->first == doctest::Approx(1728));
  CHECK_FALSE(kept.exact);
  CHECK_MESSAGE(kept.why.find("a faster level keeps 10.0 % in every lap") != std::string::npos, kept.why);
  CHECK(of_a_line.interval->first == 1920);  // words that a faster level finds may be of a line that came for another word
}

TEST_CASE("a walk that spans more bytes than its size says tells no size") {
  const test::LruCache cache(32, 3, [](std::int64_t line) { return static_cast<std::uint64_t>(line % 20); });  // 60 lines: 1920 B
  CHECK(size_of(1024, [](std::int64_t unit) { return 32 * unit; }, cache).value == Value(1920.0, kBytes));
  const auto skewed = size_of(1024, [](std::int64_t unit) { return 32 * unit + unit / 32 * 128; }, cache);  // the sets of the gap have room
  CHECK(test::undetermined(skewed));
  CHECK_MESSAGE(skewed.why.find("does not span as many bytes") != std::string::npos, skewed.why);
  const test::LruCache wide(32, 60, [](std::int64_t line) { return static_cast<std::uint64_t>(line % 8); });
  const auto far_apart = size_of(1536, [](std::int64_t unit) { return 8 * 32 * unit; }, wide);  // 60 lines again, of one set, and of 1.25 times the smallest footprint
  CHECK(test::undetermined(far_apart));
  CHECK_MESSAGE(far_apart.why.find("does not span as many bytes") != std::string::npos, far_apart.why);
}

TEST_CASE("a size is not the walk's: without a finer one, the stride may be larger than what comes in at once") {
  const test::LruCache lines_of_32(32, 32, [](std::int64_t) { return std::uint64_t{0}; });
  const auto finding = size_after(64, 64, lines_of_32);
  CHECK(test::undetermined(finding));
  CHECK_MESSAGE(finding.why.find("it was walked every 64 B") != std::string::npos, finding.why);
}

TEST_CASE("a size is in units of what comes in at once, though the walk leaves out some of it") {
  const test::LruCache lines_of_256(256, 14, [](std::int64_t) { return std::uint64_t{0}; });
  const auto finding = size_after(96, 96, lines_of_256, 32);
  CHECK_MESSAGE(finding.value == Value(3584.0, kBytes), finding.why);  // the walk of 3648 B has its last address at 3552
}

namespace {

/// A file that finds what a miss brings in, 32 B, and then a size by `share > 1 / 64`, of walks over `cache`.
infer::Finding size_by_share(const test::LruCache& cache) {
  const Source source("t.gexp", R"(gexp 1
experiment t
memory A: u32[1MiB] in global
stage fetch {
  pattern walk = [32KiB - i * 4B for i in 1..512]
  launch grid 1 block 1
  timed lat each { chase A by walk laps 1 via cg }
  find unit: B = miss_spacing(lat, above: 40cycles)
}
stage size {
  sweep n in 8KiB..64KiB step 8KiB
  pattern ring = shuffle(uniform(stride: fetch.unit, span: n), 1)
  launch grid 1 block 1
  warm { chase A by ring laps 2 via cg }
  timed lat each { chase A by ring laps 2 via cg }
  derive share: count = misses(lat, above: 40cycles) / 1000
  find C: B = last_flat(share > 1 / 64 over n)
}
)");
  Diagnostics diagnostics;
  const auto program = compiler::compile(source, {}, diagnostics);
  REQUIRE(program);
  auto sizes = test::table({});
  for (std::int64_t n = 8192; n <= 65536; n += 8192) {
    auto offsets = every(32, n);
    std::shuffle(offsets.begin(), offsets.end(), std::mt19937_64(7));
    sizes.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, offsets, cache));
  }
  compiler::Names scope;
  scope.set("fetch", Value(Fields{{"unit", Value(32.0, kBytes)}}));
  infer::Finding unit;
  unit.id = "fetch.unit", unit.value = Value(32.0, kBytes), unit.status = infer::Finding::Status::Found;
  std::vector<infer::Finding> findings{unit, infer::answer(program->stages[1].finds[0], sizes, program->stages[1], scope)};
  REQUIRE_MESSAGE(findings[1].status == infer::Finding::Status::Found, findings[1].why);
  CHECK_FALSE(findings[1].exact);
  infer::MeasuredStages measured;
  measured.add(program->stages[1], sizes);
  infer::reconcile(*program, measured, scope, findings);
  return findings[1];
}

}  // namespace

TEST_CASE("a size whose misses come page by page is a TLB's, in a column that counts misses by a `derive`, too") {
  const test::LruCache pages(4096, 6, [](std::int64_t) { return std::uint64_t{0}; }), lines(32, 768, [](std::int64_t) { return std::uint64_t{0}; });
  const auto of_pages = size_by_share(pages);
  CHECK(test::undetermined(of_pages));
  CHECK_MESSAGE(of_pages.why.find("these are pages, and a TLB may end there") != std::string::npos, of_pages.why);
  CHECK(size_by_share(lines).value == Value(24576.0, kBytes));
}

TEST_CASE("what misses at a size and counts as none misses of larger footprints, too") {
  // 12 pages of 4 KiB would fit, three in each of four parts; of 8 pages four lie in one part, of 12 no more.
  constexpr int kPart[] = {0, 1, 2, 3, 0, 1, 0, 0, 2, 3, 1, 2, 0, 1, 2, 3};
  const test::LruCache cache(32, 3, [&](std::int64_t line) { return static_cast<std::uint64_t>(kPart[line / 128] * 128 + line % 128); });
  const auto finding = size_by_share(cache);
  CHECK(test::undetermined(finding));
  CHECK_MESSAGE(finding.why.find("of 48 KiB, at least 58 % would miss if no more than that fits") != std::string::npos, finding.why);
}

TEST_CASE("places further apart than the sweep says are no footprint, also where the fewer there are the more often each is visited") {
  const test::LruCache pages(512, 30, [](std::int64_t page) { return static_cast<std::uint64_t>(page % 2); });
  const auto size = [&](std::int64_t apart) {
    auto sizes = test::table({});
    for (std::int64_t n = 1024; n <= 65536; n += n < 16384 ? 1024 : 512) {
      std::vector<std::int64_t> offsets;
      for (std::int64_t round = 0; round < std::max<std::int64_t>(1, 128 / (n / 512)); ++round) {
        for (std::int64_t page = 0; page < n / 512; ++page) offsets.push_back(page * apart + round % 16 * 32);
      }
      sizes.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, offsets, pages));
    }
    return size_told("last_flat(misses(lat) over n where n > 1KiB)", sizes);
  };
  CHECK_MESSAGE(size(512).value == Value(30720.0, kBytes), size(512).why);
  const auto apart = size(4096);  // all of one set
  CHECK(test::undetermined(apart));
  CHECK_MESSAGE(apart.why.find("does not span as many bytes") != std::string::npos, apart.why);
}

TEST_CASE("a size at one carve-out is not held against walks at another one: that is another cache") {
  const auto program = program_of(R"(stage size {
  sweep carveout in [0KiB, 32KiB]
  sweep n in 32B..64KiB times 2
  pattern ring = uniform(stride: 32B, span: n)
  launch grid 1 block 1 carveout carveout
  warm { chase A by ring laps 2 via ca }
  timed lat each { chase A by ring laps 2 via ca }
  find large: B = last_flat(misses(lat) over n where carveout == 0KiB)
  find small: B = last_flat(misses(lat) over n where carveout == 32KiB)
}
)");
  auto table = test::table({});
  table.columns = {"carveout", "n"};
  for (const double carveout : {0.0, 32768.0}) {
    const test::LruCache cache(32, carveout == 0 ? 64 : 32, [](std::int64_t) { return std::uint64_t{0}; });
    for (std::int64_t n = 32; n <= 4096; n += 32) {
      table.points.push_back(walked({{"carveout", Value(carveout, kBytes)}, {"n", Value(static_cast<double>(n), kBytes)}}, every(32, n), cache));
    }
  }
  std::vector<infer::Finding> findings;
  for (const auto& question : program.stages[0].finds) findings.push_back(infer::answer(question, table, program.stages[0], compiler::Names()));
  findings = reconciled(program, {table}, std::move(findings));
  CHECK_MESSAGE(findings[0].value == Value(2048.0, kBytes), findings[0].why);
  CHECK_MESSAGE(findings[1].value == Value(1024.0, kBytes), findings[1].why);
}

TEST_CASE("shared memory within a stated carve-out leaves the cache as it is: one stage's walks are held against each other") {
  const auto text = [](const std::string& carveout) {
    return "stage size {\n  sweep n in 32B..64KiB times 2\n  pattern ring = uniform(stride: 64B, span: n)\n  launch grid 1 block 1 smem n" + carveout +
           "\n  warm { chase A by ring laps 2 via ca }\n  timed lat each { chase A by ring laps 2 via ca }\n  find C: B = last_flat(misses(lat) over n)\n}\n";
  };
  const auto parts = [&](const std::string& carveout) {
    const auto program = program_of(text(carveout));
    auto table = test::table({});
    for (std::int64_t n = 1024; n <= 4096; n += 1024) {
      table.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, every(64, n), test::four_sets()));
    }
    infer::MeasuredStages stages;
    stages.add(program.stages[0], table);
    return stages.by_setup(compiler::Names()).size();
  };
  CHECK(parts(" carveout 32KiB") == 1);
  CHECK(parts("") == 5);  // the least in which the blocks fit: each point has a cache of its own
}
