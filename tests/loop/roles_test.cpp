// SPDX-License-Identifier: Apache-2.0
// Stages of one launch: who runs where, what each records, and what is said where they cannot run or never end.
#include <doctest/doctest.h>

#include "compiler/pipeline.h"
#include "runtime/result/result_json.h"
#include "tests/loop/loop.h"

using namespace gexp;
using namespace gexp::test;
using Status = result::Judgement::Status;

namespace {

const std::string kTwoArrays = "gexp 1\nexperiment t\nmemory A: u32[64KiB] in global\nmemory B: u32[64KiB] in global\n";

/// The codes of what is wrong with a spec.
std::string codes(const std::string& spec) {
  const Source source("t.gexp", kTwoArrays + spec);
  Diagnostics diagnostics;
  compiler::compile(source, {}, diagnostics);
  std::string all;
  for (const auto& each : diagnostics.sorted()) all += (all.empty() ? "" : " ") + each.code;
  return all;
}

const records::Run& first_run(const result::RunResult& result, std::size_t stage) { return result.stages.at(stage).table.points.at(0).runs.at(0); }

std::string handoff(const std::string& place) {
  return kTwoArrays + "stage a { launch grid 1 block 1 timed t total { loop i in 1..20 { store A at 0B signal x wait y } } repeat 3 find time: cycles = value(median(t)) }\n" +
         "stage b beside a { launch grid 1 block 1 " + place + " timed u total { loop i in 1..20 { wait x load A at 0B via cg signal y } } find time: cycles = value(median(u)) }\n";
}

}  // namespace

TEST_CASE("two stages of a launch answer each other, each with its record, its multiprocessor and its clocks") {
  for (const auto* model : {"gtx780", "h200"}) {
    CAPTURE(model);
    const auto result = run_text(handoff("place other_sm"), model);
    REQUIRE(result.stages.size() == 2);
    CHECK(result.end == result::RunResult::End::Complete);
    const auto &a = first_run(result, 0), &b = first_run(result, 1);
    REQUIRE(a.ticks.size() == 1);
    REQUIRE(b.ticks.size() == 1);
    CHECK(a.sms.at(0) != b.sms.at(0));
    CHECK(a.ends.at(0) - a.begins.at(0) == a.ticks[0]);
    // They begin together, and neither is done before the other has nearly been. An H200's GPCs have a clock each, so there it does not show.
    if (std::string(model) != "h200") {
      CHECK(std::max(a.begins[0], b.begins[0]) - std::min(a.begins[0], b.begins[0]) < 2000);
      CHECK(b.ends[0] > a.begins[0] + (a.ends[0] - a.begins[0]) / 2);
    }
    CHECK(2 * b.ticks[0] > a.ticks[0]);
    CHECK(a.ticks[0] > 20 * 2 * 200);  // a round is at least two ways through the L2
    auto named = result;
    named.experiment = "t";
    const auto again = result::from_json(result::to_json(named), "t");
    REQUIRE_MESSAGE(again, (again ? "" : again.error().message));
    CHECK(first_run(*again, 1).begins == b.begins);
    CHECK(first_run(*again, 1).ends == b.ends);
    CHECK(first_run(*again, 1).sms == b.sms);
  }
}

TEST_CASE("a stage is placed on the first one's multiprocessor, on another, on a chosen one, or in its blocks") {
  const auto sms = [](const std::string& place, const char* model = "h200") {
    const auto result = run_text(handoff(place), model);
    return std::pair{first_run(result, 0).sms.at(0), first_run(result, 1).sms.at(0)};
  };
  const auto same = sms("place sm");
  CHECK(same.first == same.second);
  CHECK(sms("sm 3").second == 3);
  // What `each` records lies in shared memory, of which a multiprocessor sets aside no more than is asked for.
  const auto traced = run_text(kTwoArrays + "stage a { launch grid 1 block 1 timed t each { load A at 0B via cg } repeat 2 find x: cycles = value(median(t)) }\n"
                                       "stage b beside a { launch grid 1 block 1 place sm timed u each { load B at 0B via cg } find y: cycles = value(median(u)) }\n", "h200");
  CHECK(first_run(traced, 0).sms.at(0) == first_run(traced, 1).sms.at(0));
  const auto pair = sms("place tpc");
  CHECK(pair.first != pair.second);
  CHECK(pair.first / 2 == pair.second / 2);
  const auto apart = sms("place other_tpc");
  CHECK(apart.first / 2 != apart.second / 2);
  const auto of_three = sms("place tpc", "gtx280");  // whose TPCs have three
  CHECK(of_three.first != of_three.second);
  CHECK(of_three.first / 3 == of_three.second / 3);
  const auto far = sms("place other_tpc", "gtx280");
  CHECK(far.first / 3 != far.second / 3);
  // A cluster's blocks run in one GPC. The model deals TPCs to its 8 GPCs in turn, and blocks to one multiprocessor of each TPC.
  const auto near = run_text(kTwoArrays + "stage a { launch grid 1 block 1 timed t total { load A at 0B } repeat 2 find x: cycles = value(median(t)) }\n"
                                     "stage b beside a { launch grid 7 block 1 place gpc timed u total { load B at 0B } find y: cycles = value(median(u)) }\n", "h200");
  auto cluster = first_run(near, 1).sms;
  cluster.push_back(first_run(near, 0).sms.at(0));
  std::sort(cluster.begin(), cluster.end());
  REQUIRE(cluster.size() == 8);
  for (std::uint32_t i = 0; i < 8; ++i) CHECK(cluster[i] == cluster[0] + 16 * i);
  const auto block = run_text(kTwoArrays + "stage a { launch grid 2 block 64 timed t total { load A at tid * 4B via cg } repeat 2 find x: cycles = value(median(t)) }\n"
                                      "stage b beside a { launch block 32 place block timed u total { load B at (tid + 100 * cta) * 4B via cg } find y: cycles = value(median(u)) }\n",
                              "gtx780");
  CHECK(first_run(block, 0).ticks.size() == 4);
  CHECK(first_run(block, 1).ticks.size() == 2);
  CHECK(first_run(block, 1).sms.at(1) == first_run(block, 0).sms.at(2));
}

TEST_CASE("a stage that has no place is said to be so, and nothing is told of how it ends") {
  const auto result = run_text(handoff("place other_sm") + "stage after { timed w total { load A at 0B } repeat 2 find v: cycles = value(median(w)) }\n", "gtx780",
                               {{"\nsms = 12", "\nsms = 1"}});
  for (const std::size_t stage : {0, 1}) {
    const auto& point = result.stages.at(stage).table.points.at(0);
    CHECK(point.outcome.status == device::Outcome::Status::Unplaced);
    CHECK(point.outcome.what.find("1 of 2 blocks") != std::string::npos);
    CHECK(point.runs.empty());
  }
  CHECK(found(result, "b.time").find("undetermined") == 0);
  CHECK(found(result, "after.v").find("undetermined") != 0);
  const auto asked = run_text(kTwoArrays + "stage a { launch grid 1 block 1 timed t total { signal x } repeat 2 }\n"
                                      "stage b beside a { launch grid 1 block 1 place other_sm timed u total { wait x } expect not hang }\n",
                              "gtx780", {{"\nsms = 12", "\nsms = 1"}});
  CHECK(count(asked, Status::Unknown) == 1);
}

TEST_CASE("a chase beside a stream of loads is slower than alone, access by access; a follower sees the sweep") {
  const auto result = run_text(kTwoArrays + "memory C: u32[8MiB] in global\nstage walk { sweep loads in [1, 200] pattern ring = uniform(stride: 128B, span: 16KiB) launch grid 1 block 1\n"
                                       "warm { chase A by ring laps 1 via cg } timed lat each { chase A by ring laps 2 via cg } repeat 2\n"
                                       "find alone: cycles = value(median(lat), loads: 1) find disturbed: cycles = value(median(lat), loads: 200) }\n"
                                       "stage stream beside walk { launch block 960 place block timed t total { loop i in 1..loads { load C at (tid * 32B + i * 31KiB) mod 8MiB via cg } }\n"
                                       "find long: cycles = value(max(t), loads: 200) find short: cycles = value(max(t), loads: 1) }\n"
                                       "expect walk.disturbed > walk.alone\nexpect stream.long > 10 * stream.short\n",
                               "gtx780");
  CHECK(count(result, Status::Pass) == 2);
  CHECK(first_run(result, 0).ticks.size() == 256);
}

TEST_CASE("waits that nobody answers are a hang of the point; the rest of the file runs, and no kernel is left behind") {
  const std::string dead = "stage a { launch grid 1 block 1 timed t total { wait y within 100000cycles signal x } repeat 2 EXPECT }\n"
                           "stage b beside a { launch grid 1 block 1 timed u total { wait x within 100000cycles signal y } find v: cycles = value(median(u)) }\n"
                           "stage after { timed w total { load A at 0B } repeat 2 find v: cycles = value(median(w)) }\n";
  auto asked = dead;
  const auto hung = run_text(kTwoArrays + asked.replace(asked.find("EXPECT"), 6, "expect hang"), "gtx780");
  CHECK(hung.end == result::RunResult::End::Complete);
  CHECK(count(hung, Status::Pass) == 1);
  CHECK(hung.stages.at(1).table.points.at(0).outcome.status == device::Outcome::Status::Timeout);
  CHECK(found(hung, "b.v").find("undetermined") == 0);
  CHECK(found(hung, "after.v").find("undetermined") != 0);
  auto quiet = dead;
  const auto faulted = run_text(kTwoArrays + quiet.replace(quiet.find("EXPECT"), 6, "find v: cycles = value(median(t))"), "gtx780");
  CHECK(faulted.end == result::RunResult::End::Faulted);
}

TEST_CASE("of a launch that the end of the run broke off, every stage keeps what was measured") {
  measure::SessionOptions options;
  options.time_limit = 0.3;
  const auto result = run_text(kTwoArrays + "stage a { sweep n in 1..5000 launch grid 1 block 1 timed t total { loop i in 1..n { signal x wait y } } repeat 2 find v: cycles = value(median(t), n: 1) }\n"
                                       "stage b beside a { launch grid 1 block 1 timed u total { loop i in 1..n { wait x signal y } } find v: cycles = value(median(u), n: 1) }\n",
                               "gtx780", {}, 0, options);
  CHECK(result.end == result::RunResult::End::OutOfSetTime);
  CHECK(!result.stages.at(0).table.points.empty());
  CHECK(result.stages.at(1).table.points.size() == result.stages.at(0).table.points.size());
  CHECK(found(result, "b.v").find("undetermined") != 0);
}

TEST_CASE("a thread that waits for another of its warp hangs before compute capability 7.0, and gets on after it") {
  const std::string spec = kTwoArrays + "stage s { launch grid 1 block 32 timed t total { branch lane == 0 { wait go } branch lane == 1 { signal go } } repeat 2\n"
                                   "expect hang where device.compute < 70\nexpect not hang where device.compute >= 70 }\n";
  for (const auto* model : {"gtx980", "h200"}) CHECK(count(run_text(spec, model), Status::Pass) == 1);
}

TEST_CASE("what stages of one launch cannot have is refused") {
  const std::string a = "stage a { launch grid 1 block 1 timed t total { load A at 0B } find x: cycles = fastest(t) }\n";
  const auto b = [](const std::string& launch, const std::string& body = "load B at 0B", const std::string& more = "") {
    return "stage b beside a { launch " + launch + " timed u total { " + body + " } " + more + " find x: cycles = fastest(u) }\n";
  };
  CHECK(codes(a + b("grid 1")) == "");
  CHECK(codes(a + b("grid 1 place block")) == "E0437");
  CHECK(codes(a + b("block 33")) == "E0437");
  CHECK(codes(a + b("grid 1 smem 1KiB")) == "E0437");
  CHECK(codes(a + b("block 1024 place block")) == "E0437");
  CHECK(codes(a + b("grid 7 place gpc")) == "");
  CHECK(codes(a + b("grid 8 place gpc")) == "E0438");
  CHECK(codes(a + b("grid 1", "load B at 0B", "repeat 3")) == "E0230");
  CHECK(codes(a + b("grid 1", "wait never")) == "E0231");
  CHECK(codes(a + b("grid 1", "wait never", "expect hang")) == "");
  CHECK(codes(b("grid 1")) == "E0229");
  CHECK(codes("stage a { launch grid 2 timed t total {} }\n" + b("grid 1 place other_sm")).find("E0437") != std::string::npos);
  CHECK(codes(a + "stage m { timed v total { load A at 0B } find x: cycles = fastest(v) }\n" + b("grid 1")) == "E0229");
  // Two rings in one memory.
  CHECK(codes("stage a { pattern p = uniform(stride: 128B, span: 4KiB) timed t total { chase A by p laps 1 } find x: cycles = fastest(t) }\n"
              "stage b beside a { pattern q = uniform(stride: 64B, span: 4KiB) timed u total { chase A by q laps 1 } find x: cycles = fastest(u) }\n") == "E0437");
}
