// SPDX-License-Identifier: Apache-2.0
// Sizes that go with what they rest on, or with what their sets were seen to hold.
#include <doctest/doctest.h>

#include "runtime/infer/reconcile.h"
#include "tests/infer/walks.h"

using namespace gexp;
using test::every;
using test::walked;

TEST_CASE("a size above the latency of a level is withdrawn with that latency: which level it counts is not known then") {
  const Source source("t.gexp", R"(gexp 1
experiment t
memory A: u32[1MiB] in global
stage size {
  sweep n in 32B..64KiB times 2
  pattern ring = uniform(stride: 32B, span: n)
  launch grid 1 block 1
  warm { chase A by ring laps 2 via nc }
  timed lat each { chase A by ring laps 2 via nc }
  find C: B = last_flat(misses(lat) over n)
  find slow: cycles = slowest(lat where n <= C + 64B)
}
stage other {
  sweep n in [1B]
  pattern ring = uniform(stride: 32B, span: 64B)
  launch grid 1 block 1
  warm { chase A by ring laps 2 via nc }
  timed lat each { chase A by ring laps 2 via nc }
  find hit: cycles = fastest(lat)
}
stage second {
  sweep n in 32B..64KiB times 2
  pattern ring = uniform(stride: 32B, span: n)
  launch grid 1 block 1
  warm { chase A by ring laps 2 via nc }
  timed lat each { chase A by ring laps 2 via nc }
  find C: B = last_flat(misses(lat, above: size.slow) over n)
  find all: B = last_flat(misses(lat) over n)
}
)");
  Diagnostics diagnostics;
  const auto program = compiler::compile(source, {}, diagnostics);
  REQUIRE(program);
  const auto second_where = [&](const test::LruCache& cache) {
    auto sizes = test::table({}), others = test::table({}), second = test::table({});
    for (std::int64_t n = 64; n <= 4096; n += 64) sizes.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, every(64, n), cache));
    for (const std::int64_t n : {1024, 2048, 8192}) others.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, every(32, n), cache));
    second.columns.clear();
    second.points.push_back(walked({}, every(64, 64), cache));
    compiler::Names scope;
    infer::Finding slow, above, all;
    slow.id = "size.slow", slow.value = Value(1.0 * test::kMissTicks, kCycles), slow.status = infer::Finding::Status::Found;
    above.id = "second.C", above.value = Value(65536.0, kBytes), above.status = infer::Finding::Status::Found;
    all = above, all.id = "second.all";
    std::vector<infer::Finding> findings{infer::answer(program->stages[0].finds[0], sizes, program->stages[0], scope), slow, above, all};
    REQUIRE(findings[0].status == infer::Finding::Status::Found);
    infer::MeasuredStages measured;
    measured.add(program->stages[0], sizes);
    measured.add(program->stages[1], others);
    measured.add(program->stages[2], second);
    infer::reconcile(*program, measured, scope, findings);
    CHECK(findings[3].status == infer::Finding::Status::Found);  // it counts what the fastest level does not answer
    CHECK(test::undetermined(findings[1]) == test::undetermined(findings[0]));
    return findings[2];
  };
  const auto one_set = [](std::int64_t) { return std::uint64_t{0}; };
  CHECK(second_where({64, 32, one_set}).status == infer::Finding::Status::Found);
  const auto withdrawn = second_where({32, 32, one_set});  // 32 lines of half the stride: `size.C` is withdrawn, and what was read off up to there
  CHECK(test::undetermined(withdrawn));
  CHECK_MESSAGE(withdrawn.why.find("it counts what is slower than `size.slow`, which is withdrawn") != std::string::npos, withdrawn.why);
}

TEST_CASE("a size is withdrawn where its sets, though some of them are open, were seen to hold more lines than it has") {
  const Source source("t.gexp", R"(gexp 1
experiment t
memory A: u32[1MiB] in global
stage size {
  sweep n in 32B..64KiB times 2
  pattern ring = uniform(stride: 32B, span: n)
  launch grid 1 block 1
  warm { chase A by ring laps 2 via nc }
  timed lat each { chase A by ring laps 2 via nc }
  find C: B = last_flat(misses(lat) over n)
}
stage sets {
  sweep extra in 0..4
  pattern ring = uniform(stride: 32B, span: size.C + extra * 32B)
  launch grid 1 block 1
  warm { chase A by ring laps 2 via nc }
  timed lat each { chase A by ring laps 2 via nc }
  find S: structure = cache_sets(lat over extra, line: 32B)
}
)");
  Diagnostics diagnostics;
  const auto program = compiler::compile(source, {}, diagnostics);
  REQUIRE(program);
  const test::LruCache cache(32, 64, [](std::int64_t) { return std::uint64_t{0}; });
  const auto size_where = [&](double lines_held) {
    auto sizes = test::table({}), sets = test::table({});
    for (std::int64_t n = 32; n <= 4096; n += 32) sizes.points.push_back(walked({{"n", Value(static_cast<double>(n), kBytes)}}, every(32, n), cache));
    sets.columns = {"extra"};
    for (std::int64_t extra = 0; extra <= 4; ++extra) sets.points.push_back(walked({{"extra", Value(static_cast<double>(extra))}}, every(32, 2048 + 32 * extra), cache));
    compiler::Names scope;
    infer::Finding open;
    open.id = "sets.S", open.lines_held = lines_held;
    std::vector<infer::Finding> findings{infer::answer(program->stages[0].finds[0], sizes, program->stages[0], scope), open};
    REQUIRE(findings[0].status == infer::Finding::Status::Found);
    infer::MeasuredStages measured;
    measured.add(program->stages[0], sizes);
    measured.add(program->stages[1], sets);
    infer::reconcile(*program, measured, scope, findings);
    return findings[0];
  };
  CHECK(size_where(0).status == infer::Finding::Status::Found);   // nothing is known of them
  CHECK(size_where(64).status == infer::Finding::Status::Found);  // as many as fit
  const auto more = size_where(65);
  CHECK(test::undetermined(more));
  CHECK_MESSAGE(more.why.find("65 lines are held together") != std::string::npos, more.why);
}
