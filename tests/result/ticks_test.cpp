// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "runtime/result/result_json.h"
#include "runtime/result/ticks_text.h"

using namespace gexp;
using namespace gexp::result;

namespace {

RunResult with_ticks(std::vector<std::uint32_t> ticks) {
  RunResult result;
  result.experiment = "x";
  result.spec_text = "# \"ticks\": [1, 2] is text here\n";
  result.device.kind = "simulated";
  result.device.id = "sim:x";
  auto& stage = result.stages.emplace_back();
  stage.name = "s";
  stage.table.timed = "lat";
  auto& point = stage.table.points.emplace_back();
  point.runs.push_back({std::move(ticks), {0}, 0});
  point.runs.push_back({{7}, {0}, 0});
  return result;
}

gexp::result::LiftedTicks lifted_from(const std::string& text) {
  gexp::result::ReadBudget budget;
  return gexp::result::lift_ticks(text, budget);
}

}  // namespace

TEST_CASE("ticks come back as they were, and text that looks like them stays text") {
  const std::vector<std::uint32_t> ticks{110, 110, 110, 0, 4294967295u, 4294967295u, 12};
  const auto text = to_json(with_ticks(ticks));
  const auto lifted = lifted_from(text);
  REQUIRE(lifted.lifted);
  CHECK(lifted.ticks.size() == 2);
  const auto back = from_json(text, "f");
  REQUIRE(back);
  CHECK(back->stages[0].table.points[0].runs[0].ticks == ticks);
  CHECK(back->stages[0].table.points[0].runs[1].ticks == std::vector<std::uint32_t>{7});
  CHECK(back->spec_text == "# \"ticks\": [1, 2] is text here\n");
  CHECK(to_json(*back) == text);
}

TEST_CASE("what is no list of ticks is left to the JSON reader, which says so") {
  for (const char* wrong : {"[1]", "[1, -1]", "[1, 99999999999]", "[1, 1,]", "[01, 1]", "7", "[1, 1"}) {
    auto text = to_json(with_ticks({5}));
    const auto at = text.find("\"ticks\": [") + 9;
    text.replace(at, text.find(']', at) + 1 - at, wrong);
    CHECK_MESSAGE(!lifted_from(text).lifted, wrong);
    const auto read = from_json(text, "f");
    REQUIRE_MESSAGE(!read, wrong);
    CHECK_MESSAGE((read.error().code == "E0901" || read.error().code == "E0904"), wrong);
  }
}

TEST_CASE("a list with other numbers than counts is not lifted") {
  for (const char* other : {"[1, 1.5]", "[4294967296, 1]", "null", "[1e3, 1]"}) CHECK_MESSAGE(!lifted_from(std::string("{\"ticks\": ") + other + "}").lifted, other);
  CHECK(lifted_from("{\"ticks\" :\n [ ] , \"a\": 1}").text == "{\"ticks\":0 , \"a\": 1}");
}

TEST_CASE("a file cut short is told by the byte in the file") {
  const auto text = to_json(with_ticks(std::vector<std::uint32_t>(1000, 5)));
  const auto read = from_json(text.substr(0, text.size() - 20), "f");
  REQUIRE(!read);
  CHECK(read.error().code == "E0901");
}
