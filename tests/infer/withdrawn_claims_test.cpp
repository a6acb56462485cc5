// SPDX-License-Identifier: Apache-2.0
// Sizes that go with what they rest on, or with what their sets were seen to hold.
#include <doctest/doctest.h>

#include "runtime/infer/reconcile.h"
#include "tests/infer/walks.h"

using namespace gexp;
using test::every;
using test::program_of;
using test::reconciled;
using test::size_stage;
using test::stage;
using test::walked;

TEST_CASE("a size, or a unit, above the latency of a level is withdrawn with that latency: which level it counts is not known then") {
  const auto program = program_of(size_stage("size", "  find C: B = last_flat(misses(lat) over n)\n  find slow: cycles = slowest(lat where n <= C + 64B)\n") +
                                  stage("other", "  sweep n in [1B]\n", "uniform(stride: 32B, span: 64B)", "  find hit: cycles = fastest(lat)\n") +
                                  size_stage("second", "  find C: B = last_flat(misses(lat, above: size.slow) over n)\n  find all: B = last_flat(misses(lat) over n)\n  find unit: B = miss_spacing(lat, above: size.slow)\n"));
  const auto second_where = [&](const test::LruCache& cache) {
    auto sizes = test::table({}), others = test::table({}), second = test::table({});
    for (std::int64_t n = 64; n <= 4096; n += 64) sizes.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, every(64, n), cache));
    for (const std::int64_t n : {1024, 2048, 8192}) others.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, every(32, n), cache));
    second.columns.clear();
    second.points.push_back(walked({}, every(64, 64), cache));
    infer::Finding slow, above, all, unit;
    slow.id = "size.slow", slow.value = Value(1.0 * test::kMissTicks, kCycles), slow.status = infer::Finding::Status::Found;
    above.id = "second.C", above.value = Value(65536.0, kBytes), above.status = infer::Finding::Status::Found;
    all = unit = above, all.id = "second.all", unit.id = "second.unit";
    const auto size = infer::answer(program.stages[0].finds[0], sizes, program.stages[0], compiler::Names());
    REQUIRE(size.status == infer::Finding::Status::Found);
    const auto findings = reconciled(program, {sizes, others, second}, {size, slow, above, all, unit});
    CHECK(findings[3].status == infer::Finding::Status::Found);  // it counts what the fastest level does not answer
    CHECK(test::undetermined(findings[1]) == test::undetermined(findings[0]));
    CHECK(test::undetermined(findings[4]) == test::undetermined(findings[0]));
    return findings[2];
  };
  const auto one_set = [](std::int64_t) { return std::uint64_t{0}; };
  CHECK(second_where({64, 32, one_set}).status == infer::Finding::Status::Found);
  const auto withdrawn = second_where({32, 32, one_set});  // 32 lines of half the stride: `size.C` is withdrawn, and what was read off up to there
  CHECK(test::undetermined(withdrawn));
  CHECK_MESSAGE(withdrawn.why.find("it counts what is slower than `size.slow`, which is withdrawn") != std::string::npos, withdrawn.why);
}

TEST_CASE("a size is withdrawn where its sets, though some of them are open, were seen to hold more lines than it has") {
  const auto program = program_of(size_stage("size", "  find C: B = last_flat(misses(lat) over n)\n") +
                                  stage("sets", "  sweep extra in 0..4\n", "uniform(stride: 32B, span: size.C + extra * 32B)",
                                        "  find S: structure = cache_sets(lat over extra, line: 32B)\n"));
  const test::LruCache cache(32, 64, [](std::int64_t) { return std::uint64_t{0}; });
  const auto size_where = [&](double lines_held) {
    auto sizes = test::table({}), sets = test::table({});
    for (std::int64_t n = 32; n <= 4096; n += 32) sizes.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, every(32, n), cache));
    sets.columns = {"extra"};
    for (std::int64_t extra = 0; extra <= 4; ++extra) sets.points.push_back(walked({{"extra", Value(static_cast<double>(extra))}}, every(32, 2048 + 32 * extra), cache));
    infer::Finding open;
    open.id = "sets.S", open.lines_held = lines_held;
    const auto size = infer::answer(program.stages[0].finds[0], sizes, program.stages[0], compiler::Names());
    REQUIRE(size.status == infer::Finding::Status::Found);
    return reconciled(program, {sizes, sets}, {size, open})[0];
  };
  CHECK(size_where(0).status == infer::Finding::Status::Found);   // nothing is known of them
  CHECK(size_where(64).status == infer::Finding::Status::Found);  // as many as fit
  const auto more = size_where(65);
  CHECK(test::undetermined(more));
  CHECK_MESSAGE(more.why.find("65 lines are held together") != std::string::npos, more.why);
}

TEST_CASE("where a latency that misses are to exceed was not found, that finding is named, also where a `let` reads it") {
  const auto program = program_of(size_stage("size", "  find slow: cycles = slowest(lat)\n") +
                                  stage("second", "  sweep n in 32B..64KiB times 2\n  let level = size.slow + 1cycle\n", "uniform(stride: 32B, span: n)",
                                        "  find C: B = last_flat(misses(lat, above: level) over n)\n"));
  auto table = test::table({});
  for (std::int64_t n = 1024; n <= 4096; n += 1024) {
    table.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, every(32, n), test::four_sets()));
  }
  compiler::Names outer;
  outer.set("size", Value(Fields{{"slow", Value()}}));
  const auto size = infer::answer(program.stages[1].finds[0], table, program.stages[1], outer);
  CHECK(test::undetermined(size));
  CHECK_MESSAGE(size.why.find("it needs size.slow, which was not found") != std::string::npos, size.why);
}
