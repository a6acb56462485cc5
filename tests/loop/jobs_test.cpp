// SPDX-License-Identifier: Apache-2.0
// Points are measured by as many workers as there are cores: the result must be the same byte for byte, however many that is.
#include <doctest/doctest.h>

#include <atomic>

#include "runtime/sim/sim.h"
#include "tests/loop/forwarding.h"
#include "tests/loop/loop.h"

using namespace gexp;
using namespace gexp::test;
using End = result::RunResult::End;

namespace {

/// Random replacement and noise: each point has chances of its own.
const std::vector<Edit> kNoisy = {
    {"[caches.readonly]\ncapacity = \"12 KiB\"\nline = 32\nsets = 4\nways = 96\nbits = [7, 8]\nreplacement = \"lru\"",
     "[caches.readonly]\ncapacity = \"12 KiB\"\nline = 32\nsets = 4\nways = 96\nbits = [7, 8]\nreplacement = \"random\""},
    {"[shared]", "[noise]\njitter = 1.5\ntail_probability = 0.001\ntail = 90\nassumed = \"a test\"\n\n[shared]"}};

const std::string kHead = "gexp 1\nexperiment t\nmemory A: u32[256KiB] in global\n";
const std::string kChase =
    "pattern ring = uniform(stride: 32B, span: n)\nlaunch grid 1 block 1\nwarm { chase A by ring laps 2 via nc }\ntimed lat each { chase A by ring laps 2 via nc }\n";
const std::string kMany = kHead + "stage coarse {\nsweep n in 1KiB..64KiB times 2 refine to 256B on misses(lat) > 0\n" + kChase +
                          "repeat 3..12 until stable(misses(lat))\nfind C: B = last_flat(misses(lat) over n)\n}\n" +
                          "stage ends {\nsweep n in 8KiB..32KiB step 512B until missed(lat) > 50%\nsweep k in 0..1\n" + kChase +
                          "repeat 2..9 until stable(missed(lat))\nfind h: cycles = fastest(lat)\n}\n" +
                          "stage named {\nsweep n in [4KiB, 24KiB, 8KiB]\nskip n == 8KiB why \"a test\"\nlaunch grid 1 block 1\npattern ring = uniform(stride: 32B, span: n)\n"
                          "timed t total { chase A by ring laps 2 via nc }\nrepeat 3..20 until ci(median(t)) < 0.01%\nfind v: cycles = value(median(t), n: 4KiB)\n}\n";

std::string text(result::RunResult result) {
  result.seconds = 0;
  for (auto& stage : result.stages) stage.seconds = stage.answering = 0, stage.effort = {};
  for (auto& kernel : result.kernels) kernel.seconds = 0, kernel.from_cache = true;
  return to_json(result);
}

result::RunResult with_jobs(const std::string& spec, std::size_t jobs, const std::vector<Edit>& edits = kNoisy, std::uint64_t seed = 3) {
  measure::SessionOptions options;
  options.jobs = jobs;
  return run_text(spec, "gtx780", edits, seed, options);
}

const records::Point* point_at(const result::RunResult& result, double n) {
  for (const auto& point : result.stages.at(0).table.points) {
    if (point.at.at("n").get<Number>()->number == n) return &point;
  }
  return nullptr;
}

std::vector<std::vector<std::uint32_t>> ticks(const records::Point* point) {
  REQUIRE(point);
  std::vector<std::vector<std::uint32_t>> all;
  for (const auto& run : point->runs) all.push_back(run.ticks);
  return all;
}

}  // namespace

TEST_CASE("the result is the same with any number of workers, and again") {
  const auto one = text(with_jobs(kMany, 1));
  CHECK(one.find("undetermined") == std::string::npos);
  CHECK(text(with_jobs(kMany, 1)) == one);
  for (const std::size_t jobs : {2, 4, 13}) {
    CAPTURE(jobs);
    CHECK(text(with_jobs(kMany, jobs)) == one);
  }
  CHECK(text(with_jobs(kMany, 4, kNoisy, 4)) != one);
}

TEST_CASE("a point's records do not depend on the points beside it") {
  const auto sweep = [](const std::string& values) { return kHead + "stage s {\nsweep n in " + values + "\n" + kChase + "repeat 4\nfind h: cycles = fastest(lat)\n}\n"; };
  const auto many = with_jobs(sweep("[4KiB, 32KiB, 16KiB]"), 2), alone = with_jobs(sweep("[16KiB]"), 2);
  CHECK(ticks(point_at(many, 16384)) == ticks(point_at(alone, 16384)));
  // Chance is not the same everywhere: two stages, two repetitions.
  CHECK(ticks(point_at(many, 16384))[0] != ticks(point_at(many, 16384))[1]);
  auto renamed = sweep("[16KiB]");
  renamed.replace(renamed.find("stage s"), 7, "stage r");
  CHECK(ticks(point_at(with_jobs(renamed, 2), 16384)) != ticks(point_at(alone, 16384)));
}

TEST_CASE("a device of which there is one, as a GPU is, gives the same answers; its points follow each other") {
  const auto run = [&](std::size_t jobs) {
    auto opened = sim::open("gtx780");
    REQUIRE(opened.ok());
    Forwarding one(std::move(*opened));
    measure::SessionOptions options;
    options.jobs = jobs;
    return run_on(kMany, one, options);
  };
  const auto result = run(4), separate = run_text(kMany, "gtx780");
  CHECK(text(result) == text(run(1)));
  for (const char* id : {"coarse.C", "ends.h", "named.v"}) {
    CAPTURE(id);
    CHECK(found(result, id) == found(separate, id));
  }
  CHECK(found(result, "coarse.C") == "12 KiB");
}

TEST_CASE("all devices of a run are the same device: a scattered mapping is the model's, not the point's") {
  // Odd sizes of the GTX 980's scattered read-only cache: what fits depends on the mapping, and grows with the footprint alone.
  const std::string spec = kHead + "stage s {\nsweep n in 24KiB..26KiB step 32B\nsweep k in 0..2\n" + kChase + "repeat 1\nderive m: count = misses(lat)\nfind h: cycles = fastest(lat)\n}\n";
  const auto result = run_text(spec, "gtx980");
  double last = -1;
  std::vector<std::vector<std::uint32_t>> before;
  for (const auto& point : result.stages.at(0).table.points) {
    const auto n = point.at.at("n").get<Number>()->number;
    std::vector<std::vector<std::uint32_t>> now;
    for (const auto& run : point.runs) now.push_back(run.ticks);
    if (n == last) CHECK(now == before);
    last = n;
    before = now;
  }
}

TEST_CASE("faults count in the order of the points: the third in a row ends the stage, whoever met it first") {
  // 7 KiB of shared memory hold the ticks: smaller carve-outs cannot be launched.
  const std::string spec = kHead + "stage s {\nsweep k in [8, 1, 9, 2, 10, 3, 4, 5, 12, 13]\nlet n = 4KiB\npattern ring = uniform(stride: 32B, span: n)\n"
                           "launch grid 1 block 1 carveout k * 1KiB\nwarm { chase A by ring laps 2 via nc }\ntimed lat each { chase A by ring laps 2 via nc }\nrepeat 3\n"
                           "find h: cycles = fastest(lat)\n}\n";
  const auto one = with_jobs(spec, 1);
  CHECK(one.end == End::Faulted);
  CHECK(one.stages.at(0).table.points.size() == 8);
  CHECK(text(with_jobs(spec, 4)) == text(one));
}

TEST_CASE("an interrupt ends all workers and keeps what they had measured") {
  const std::string spec = kHead + "stage s {\nsweep n in 1KiB..64KiB step 32B\n" + kChase + "repeat 3\nfind h: cycles = fastest(lat)\n}\nstage t {\nsweep n in 1KiB..2KiB step 32B\n" + kChase +
                           "repeat 3\nfind h: cycles = fastest(lat)\n}\n";
  std::atomic<int> asked{0};
  measure::SessionOptions options;
  options.jobs = 4;
  options.interrupted = [&] { return ++asked > 2000; };
  const auto result = run_text(spec, "gtx780", {}, 3, options);
  CHECK(result.end == End::Interrupted);
  const auto& points = result.stages.at(0).table.points;
  std::size_t whole = 0;
  for (const auto& point : points) {
    CHECK(!point.runs.empty());
    whole += point.runs.size() == 3 ? 1 : 0;
  }
  CHECK(whole >= 26);                // asked before a point, before each repetition, and now and then within them
  CHECK(points.size() <= whole + 4);  // what the workers were at
  CHECK(result.stages.at(1).table.points.empty());
  CHECK(found(result, "s.h") != "undetermined: ");
}

TEST_CASE("a time budget ends all workers and keeps what they had measured") {
  const std::string spec = kHead + "stage s {\nsweep n in 1KiB..200KiB step 32B\n" + kChase + "repeat 100\nfind h: cycles = fastest(lat)\n}\n";
  measure::SessionOptions options;
  options.jobs = 3;
  options.time_limit = 0.3;
  const auto result = run_text(spec, "gtx780", {}, 3, options);
  CHECK(result.end == End::OutOfSetTime);
  CHECK(!result.stages.at(0).table.points.empty());
  CHECK(result.seconds < 10);
}
