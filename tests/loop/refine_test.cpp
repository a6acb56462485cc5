// SPDX-License-Identifier: Apache-2.0
// What refining costs, against the sweep that it saves.
#include <doctest/doctest.h>

#include "runtime/report/text.h"
#include "tests/loop/loop.h"

using namespace gexp;

namespace {

result::StageResult stage_of(const std::string& sweeps, const std::string& repeat, const std::string& more = "") {
  const auto result = test::run_text("gexp 1\nexperiment t\nmemory A: u32[1MiB] in global\nstage s {\n" + sweeps + "\n" + more +
                                         "\npattern ring = uniform(stride: 32B, span: n)\nlaunch grid 1 block 1\nwarm { chase A by ring laps 2 via nc }\ntimed lat each { chase A by ring laps 2 via nc }\n" +
                                         repeat + "\nfind C: B = last_flat(misses(lat) over n)\n}\n",
                                     "gtx780");
  CHECK(test::found(result, "s.C") == "12 KiB");
  auto named = result;
  named.experiment = "t";  // as the command line does
  const auto again = result::from_json(result::to_json(named), "t.json");
  REQUIRE_MESSAGE(again.ok(), again.error().message);
  const auto& stage = again->stages.at(0);
  REQUIRE(stage.spent.has_value() == result.stages.at(0).spent.has_value());
  if (stage.spent) {
    CHECK(stage.spent->accesses == result.stages.at(0).spent->accesses);
    CHECK(stage.spent->full.accesses == result.stages.at(0).spent->full.accesses);
    CHECK(stage.spent->full.at_least == result.stages.at(0).spent->full.at_least);
  }
  return result.stages.at(0);
}

double ticks_of(const result::StageResult& stage) {
  double all = 0;
  for (const auto& point : stage.table.points) {
    for (const auto& run : point.runs) all += static_cast<double>(run.ticks.size());
  }
  return all;
}

/// Timed accesses of footprints of so many lines, each walked twice in three runs.
double swept(int from, int to, int step) {
  double all = 0;
  for (int lines = from; lines <= to; lines += step) all += 2.0 * 3 * lines;
  return all;
}

}  // namespace

TEST_CASE("a refined stage counts what it took and what the full sweep would have") {
  const auto stage = stage_of("sweep n in 1KiB..64KiB times 2 refine to 32B on misses(lat) > 0", "repeat 3");
  REQUIRE(stage.spent);
  CHECK(stage.spent->points == static_cast<double>(stage.table.points.size()));
  CHECK(stage.spent->points <= 7 + 8);  // one gap of 8 KiB, halved down to 32 B
  CHECK(stage.spent->accesses == ticks_of(stage));
  CHECK(stage.spent->full.points == 2017);
  CHECK(stage.spent->full.accesses == swept(32, 2048, 1));
  CHECK(!stage.spent->full.about);
  CHECK(!stage.spent->full.at_least);
}

TEST_CASE("the full sweep of stopping rules, skips, inner sweeps and ends") {
  const auto rule = stage_of("sweep n in 1KiB..64KiB times 2 refine to 32B on misses(lat) > 0", "repeat 3..9 until stable(misses(lat))");
  REQUIRE(rule.spent);
  CHECK(rule.spent->full.at_least);
  CHECK(rule.spent->full.accesses == swept(32, 2048, 1));
  // The last value of the sweep, not its end, is as far as refining goes.
  const auto end = stage_of("sweep n in 1KiB..100KiB times 2 refine to 32B on misses(lat) > 0", "repeat 3");
  REQUIRE(end.spent);
  CHECK(end.spent->full.points == 2017);
  const auto inner = stage_of("sweep n in 8KiB..16KiB step 8KiB refine to 1KiB on misses(lat) > 0\nsweep k in 0..1", "repeat 3");
  REQUIRE(inner.spent);
  CHECK(inner.spent->full.points == 18);
  CHECK(inner.spent->full.accesses == 2 * swept(256, 512, 32));
  const auto skip = stage_of("sweep n in 8KiB..16KiB step 8KiB refine to 1KiB on misses(lat) > 0", "repeat 3", "skip n > 14KiB and n < 16KiB why \"a test\"");
  REQUIRE(skip.spent);
  CHECK(skip.spent->full.points == 8);
  const auto until = stage_of("sweep n in 4KiB..64KiB step 4KiB refine to 1KiB on misses(lat) > 0 until misses(lat) > 0", "repeat 3");
  REQUIRE(until.spent);
  CHECK(until.spent->full.points == 13);
  CHECK(!stage_of("sweep n in 8KiB..16KiB step 1KiB", "repeat 3").spent);
}

TEST_CASE("the report says so") {
  const auto result = test::run_loop("cache/structure.gexp", "gtx780");
  compiler::Program program;
  const auto text = report::text(program, result, false);
  CHECK_MESSAGE(text.find("\nrefined\n  capacity") != std::string::npos, text);
  CHECK_MESSAGE(text.find("13 of about 481 points, 28 of at least 884 thousand timed accesses of the full sweep") != std::string::npos, text);
}
