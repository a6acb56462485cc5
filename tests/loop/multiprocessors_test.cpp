// SPDX-License-Identifier: Apache-2.0
// `launch … sm` and `sms`: a block on a chosen multiprocessor, and several at once, find what one at a time does.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "tests/loop/loop.h"

using namespace gexp;
using namespace gexp::test;

namespace {

std::string experiment(const std::string& name) {
  std::ifstream in(std::string(GEXP_SOURCE_DIR) + "/experiments/" + name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  std::size_t count = 0;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()), ++count) text.replace(at, from.size(), to);
  REQUIRE(count > 0);
  return text;
}

const std::string kHead = "gexp 1\nexperiment t\nmemory A: u32[256KiB] in global\n";

}  // namespace

TEST_CASE("several multiprocessors at once find what one at a time does" * doctest::test_suite("long")) {
  const auto alone = experiment("cache/structure.gexp");
  const auto beside = replaced(alone, "launch grid 1 block 1\n", "launch grid 1 block 1 sms 4\n");
  for (const char* model : {"gtx780", "gtx980"}) {
    const auto one = run_text(alone, model), four = run_text(beside, model);
    REQUIRE(one.findings.size() == four.findings.size());
    for (std::size_t i = 0; i < one.findings.size(); ++i) {
      CAPTURE(one.findings[i].id);
      CHECK(four.findings[i].status == infer::Finding::Status::Found);
      CHECK(show(one.findings[i].value) == show(four.findings[i].value));
    }
    CHECK(four.stages[0].table.points[0].runs.size() % 4 == 0);
  }
}

TEST_CASE("every launch of several is one launch, and each of its repetitions has its own records") {
  const auto result = run_text(kHead +
                                   "stage s {\npattern ring = uniform(stride: 32B, span: 8KiB)\nlaunch grid 1 block 1 sms 5\nwarm { chase A by ring laps 1 via nc }\n"
                                   "timed lat each { chase A by ring laps 1 via nc }\nrepeat 10\nfind h: cycles = fastest(lat)\n}\n"
                                   "stage w {\nlaunch grid 1 block 64 sms 3\ntimed t total { load A at tid * 128B via cg barrier }\nrepeat 3\nfind v: cycles = value(median(t))\n}\n",
                               "gtx780");
  CHECK(found(result, "s.h") == "110 cycles");
  const auto& runs = result.stages[0].table.points[0].runs;
  REQUIRE(runs.size() == 10);
  for (const auto& run : runs) CHECK(run.ticks.size() == 256);
  REQUIRE(result.stages[1].table.points[0].runs.size() == 3);
  for (const auto& run : result.stages[1].table.points[0].runs) CHECK(run.ticks.size() == 2);  // warps
}

TEST_CASE("each multiprocessor of a device can be chosen") {
  const auto result = run_text(kHead + "stage s {\nsweep m in 0..device.sms - 1\nlaunch grid 1 block 32 sm m\ntimed t total { load A at lane * 4B via cg }\nrepeat 1\nderive v: cycles = median(t)\nfind map: list = values(v over m)\n}\n", "gtx780");
  REQUIRE(result.stages[0].table.points.size() == 12);
  for (const auto& point : result.stages[0].table.points) CHECK(point.outcome.done());  // the block said where it ran
  CHECK(result.findings[0].value.get<List>()->size() == 12);
}
