// SPDX-License-Identifier: Apache-2.0
// What a plan says: points, accesses, times, limits, the graph.
#include <doctest/doctest.h>

#include <cmath>

#include "lang/base/budget.h"
#include "compiler/ir/graph.h"
#include "compiler/plan/cost.h"
#include "compiler/plan/estimate.h"
#include "compiler/plan/full_sweep.h"
#include "compiler/plan/plan.h"
#include "tests/compiler/compile.h"

using namespace gexp;
using namespace gexp::compiler;

namespace {

constexpr SpeedEstimate kPace{{1e-3, 1e-2}, {1e-6, 1e-5}, {1e-6, 1e-5}, {1e-7, 1e-6}, {0, 0.1}, {0, 0.001}, 64};

/// A stage with these sweeps (and whatever else stands before the pattern).
std::string spec(const std::string& sweeps, const std::string& file = "", const std::string& repeat = "2..4 until stable(misses(lat))") {
  return "gexp 1 experiment t " + file + R"(
memory A: u32[1MiB] in global
stage s {
  )" + sweeps + R"(
  pattern ring = uniform(stride: 32B, span: 1KiB)
  launch grid 1 block 1
  warm { chase A by ring laps 2 via ca }
  timed lat each { chase A by ring laps 3 via ca }
  repeat )" + repeat + R"(
  find h: cycles = fastest(lat)
}
)";
}

PointCount points(const std::string& sweeps) {
  const auto compiled = test::compile(spec(sweeps));
  REQUIRE_MESSAGE(compiled.program, compiled.text());
  const auto scope = file_scope(*compiled.program);
  const auto count = count_points(compiled.program->stages[0], *scope);
  REQUIRE(count.ok());
  return *count;
}

Estimate plan(const std::string& text) {
  const auto compiled = test::compile(text);
  REQUIRE_MESSAGE(compiled.program, compiled.text());
  auto made = estimate(*compiled.program, kPace);
  REQUIRE(made.ok());
  return *made;
}

}  // namespace

TEST_CASE("points are the product of the sweeps") {
  CHECK(points("").base == 1);
  CHECK(points("sweep n in 1..5").most == 5);
  CHECK(points("sweep n in 1..5 sweep k in 1..7").least == 35);
  CHECK(points("sweep (a, b) in [(1, 4B), (2, 8B)] sweep k in 1..3").base == 6);
  CHECK(points("sweep n in 1..4 sweep k in 1..n").base == 10);
  CHECK(points("sweep n in 1..4 sweep k in 1..n sweep j in 1..k").base == 20);
  CHECK_FALSE(points("sweep n in 1..900 sweep k in 1..n").about);
}

TEST_CASE("too many inner sweeps to count are estimated") {
  const auto count = points("sweep n in 1..100000 sweep k in 1..n div 20000 + 1");
  CHECK(count.about);
  CHECK(std::fabs(count.base - 300'000) < 3'000);
}

TEST_CASE("refining and `until` give a least and a most") {
  auto count = points("sweep n in 1KiB..8KiB times 2 refine to 512B on misses(lat) > 0");
  CHECK(count.least == 4);
  CHECK(count.most == 4 + 1 + 2 + 3);  // a condition: halvings of gaps of two, four and eight widths
  count = points("sweep n in 1KiB..8KiB times 2 refine to 512B on median(lat)");
  CHECK(count.most == 4 + 1 + 3 + 7);  // a value: everything between
  count = points("sweep n in 1KiB..8KiB times 2 refine to 512B on highest(median(lat))");
  CHECK(count.most == 4 + 2 * 3);  // on both sides of one value: halvings of the widest gap
  count = points("sweep n in 1..9 until misses(lat) > 0 sweep k in 0..2");
  CHECK(count.least == 3);
  CHECK(count.most == 27);
}

TEST_CASE("a stage with too many points is refused") {
  CHECK(test::compile(spec("sweep n in 1..1000 sweep k in 1..1001")).codes() == "E0440");
  CHECK(test::compile(spec("sweep n in 1..1000 sweep k in 1..1000")).codes().empty());
  CHECK(test::compile(spec("sweep n in 1..1000000")).codes().empty());
}

TEST_CASE("too many repetitions are refused, written or computed") {
  CHECK(test::compile(spec("", "", "3..100000")).codes().empty());
  CHECK(test::compile(spec("", "", "3..100001")).codes() == "E0441");
  CHECK(test::compile(spec("", "", "1000 * 1000")).codes() == "E0441");
}

TEST_CASE("skips are counted, and estimated where there are many points") {
  auto stage = plan(spec("sweep n in 1..100 sweep k in 1..100 skip n + k > 100 why \"x\"")).stages[0];
  CHECK(stage.skipped == 5050);
  CHECK_FALSE(stage.skipped_about);
  stage = plan(spec("sweep n in 1..1000 sweep k in 1..100 let m = n * 2 skip m > 1000 why \"x\"")).stages[0];
  CHECK(stage.skipped_about);
  CHECK(std::fabs(*stage.skipped - 50'000) < 1'000);
}

TEST_CASE("accesses are those of the plan of a point") {
  const auto run = plan(spec("sweep n in 1..5"));
  CHECK(run.stages[0].accesses->least == 5 * 32);
  CHECK(run.kernels == 1);
  CHECK(run.memory == 1 << 20);
  // 5 points, 2 to 4 repetitions, a launch and 160 accesses each; one kernel.
  CHECK(run.seconds.least == doctest::Approx(5 * 2 * (1e-3 + 160e-6)));
  CHECK(run.seconds.most == doctest::Approx(0.1 + 2 * 0.001 + 5 * 4 * (1e-2 + 160e-5)));
  // The same count for each constructor, without making the pattern.
  for (const char* pattern : {"shuffle(uniform(stride: 32B, span: n), 3)", "[i * 32B for i in 0..n div 32B - 1]", "nonuniform(a: [0B], b: [i * 32B for i in 1..n div 32B - 1])"}) {
    CAPTURE(pattern);
    auto text = spec("sweep n in 64B..256B step 64B");
    text.replace(text.find("uniform(stride: 32B, span: 1KiB)"), 32, pattern);
    const auto compiled = test::compile(text);
    REQUIRE_MESSAGE(compiled.program, compiled.text());
    const auto scope = file_scope(*compiled.program);
    bool skipped = false;
    const auto point = plan_point(*compiled.program, compiled.program->stages[0], {{"n", Value(256, kBytes)}}, *scope, skipped);
    REQUIRE(point.ok());
    Names names(&*scope);
    names.set("n", Value(256, kBytes));
    CHECK(point_cost(*compiled.program, compiled.program->stages[0], names)->accesses() == static_cast<double>(point->warm_steps + point->steps));
  }
}

TEST_CASE("a warm-up by a launch of its own is counted, and a branch by the threads that take it") {
  const auto stage = [](const std::string& warm, const std::string& timed) {
    return plan("gexp 1 experiment t memory A: u32[1MiB] in global stage s { let first = tid mod 64 == 0 launch grid 8 block 64 " + warm + " timed t total { " + timed +
                " } repeat 1 find h: cycles = fastest(t) }").stages[0];
  };
  const auto load = std::string("load A at gtid * 4B");
  CHECK(stage("", load).accesses->most == 8 * 64);
  CHECK(stage("warm grid 1024 block 256 { load A at gtid * 4B }", load).accesses->most == 8 * 64 + 1024 * 256);
  const auto warmed = stage("warm grid 1024 block 256 { load A at gtid * 4B }", load).seconds;
  CHECK(warmed.least == doctest::Approx(2 * 1e-3 + 8 * 1e-6 + 4096 * 1e-6));  // 64 threads at once
  CHECK(stage("", "branch tid == 0 { " + load + " }").accesses->most == 8);
  CHECK(stage("", "branch first { " + load + " }").accesses->most == 8);
  CHECK(stage("", "branch gtid == 0 { " + load + " }").accesses->most == 1);
  CHECK(stage("", "branch lane < 8 { branch lane >= 4 { loop i in 1..10 { " + load + " } } }").accesses->most == 8 * 2 * 4 * 10);
  CHECK(stage("", "branch 1 > 2 { " + load + " }").accesses->most == 0);
  CHECK(stage("", "branch gtid == 0 { " + load + " }").seconds.least == doctest::Approx(1e-3 + 1e-6));
}

TEST_CASE("a longer text takes longer to compile") {
  const auto most = [](const std::string& body) {
    const auto made = plan("gexp 1 experiment t stage s { timed t total { " + body + " } repeat 1 find h: cycles = fastest(t) }");
    return made.seconds.most;
  };
  CHECK(most("alu fma.f32 chain 200 ilp 1") - most("alu fma.f32 chain 100 ilp 1") == doctest::Approx(100 * (1e-3 + 1e-6)));
  CHECK(most("loop i in 1..7 { alu fma.f32 chain 100 ilp 1 }") - most("alu fma.f32 chain 100 ilp 1") == doctest::Approx(600 * 1e-6));
  CHECK(most("unroll i in 1..7 { alu fma.f32 chain 100 ilp 1 }") - most("alu fma.f32 chain 100 ilp 1") == doctest::Approx(600 * (1e-3 + 1e-6)));
}

TEST_CASE("a full sweep of many points, or whose patterns have to be made to be counted, is told from some of them") {
  const auto sweep = [](const std::string& pattern, const std::string& most = "512KiB") {
    auto text = spec("sweep n in 32B.." + most + " times 2 refine to 32B on misses(lat) > 0");
    text.replace(text.find("uniform(stride: 32B, span: 1KiB)"), 32, pattern);
    const auto compiled = test::compile(text);
    REQUIRE_MESSAGE(compiled.program, compiled.text());
    const auto scope = file_scope(*compiled.program);
    const auto whole = full_sweep(*compiled.program, compiled.program->stages[0], *scope, {});
    REQUIRE(whole);
    return *whole;
  };
  const auto counted = sweep("uniform(stride: 32B, span: n)", "64KiB");
  CHECK_FALSE(counted.about);
  CHECK(counted.points == 2048);
  CHECK(counted.accesses == 2 * 3 * 2048.0 * 2049 / 2);  // two repetitions of three laps
  const auto sampled = sweep("uniform(stride: 32B, span: n)");
  CHECK(sampled.about);
  CHECK(sampled.points == 16384);
  CHECK(sampled.accesses == doctest::Approx(2 * 3 * 16384.0 * 16385 / 2).epsilon(0.01));
  const Budget::Work budget(20'000'000);  // all of them would take over a thousand million
  const auto some = sweep("[i * 32B + w * 4B for i in 0..n div 32B - 1 for w in 0..i mod 2 * 0]");
  CHECK(some.about);
  CHECK(some.points == 16384);
  CHECK(some.accesses == doctest::Approx(2 * 3 * 16384.0 * 16385 / 2).epsilon(0.01));
}

TEST_CASE("what depends on a finding is said to") {
  const auto run = plan(spec("sweep n in 1..3") + R"(
stage t {
  sweep n in 1cycles..s.h step 1cycles
  pattern ring = uniform(stride: 32B, span: 1KiB)
  launch grid 1 block 1
  timed lat each { chase A by ring laps 3 via ca }
  find g: cycles = fastest(lat)
})");
  CHECK(run.stages[1].needs == std::vector<std::string>{"s.h"});
  CHECK_FALSE(run.stages[1].points);
  CHECK(std::isinf(run.seconds.most));
  CHECK(run.seconds.least == run.stages[0].seconds.least);
}

TEST_CASE("a run that takes more than twice its budget is refused") {
  const auto refused = [](const char* budget) {
    const auto compiled = test::compile(spec("sweep n in 1..500", std::string("budget time ") + budget));  // 1.16 s at least
    const auto accepted = accept_time(*compiled.program, *estimate(*compiled.program, kPace));
    return accepted ? std::string() : accepted.error().code;
  };
  CHECK(refused("500ms") == "E0443");
  CHECK(refused("600ms").empty());
}

TEST_CASE("the graph is Graphviz text, whatever its labels hold") {
  ir::Graph graph;
  const auto limit = graph.add({ir::NodeKind::Parameter, "limit", 0, "a \"quoted\\ \n<detail>"});
  graph.depends(graph.add({ir::NodeKind::Stage, "s", 0, ""}), limit);
  CHECK(graph.dot("t\"x") == R"(digraph "t\"x" {
  rankdir=LR;
  n0 [shape=plaintext label="param\nlimit" tooltip="a \"quoted\\ \n<detail>"];
  n1 [shape=box label="stage\ns"];
  n0 -> n1;
}
)");
}
