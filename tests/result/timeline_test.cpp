// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <functional>

#include "runtime/result/timeline_json.h"

using namespace gexp;
using namespace gexp::result;
using Json = CheckedJson::Json;

namespace {

Timeline small() {
  Timeline timeline;
  timeline.of = "s at n = 1 KiB", timeline.launch = 2, timeline.launches = 3;
  timeline.from = 100, timeline.to = 400, timeline.cycles = 1000, timeline.noted_whole = false;
  timeline.sm = 7, timeline.warps_of_sm = 12;
  timeline.names = {{Timeline::Kind::Issues, "issues"}, {Timeline::Kind::Waits, "memory"}, {Timeline::Kind::Loads, "l2"}};
  timeline.instructions = {{"PTX:41", "ld.global.u32", "chase A"}, {"PTX:42", "add.u32", ""}};
  timeline.warps = {{3, 32, {{100, 120, 0, 0}, {110, 400, 2, 0}, {120, 400, 1, 1}}}, {3, 64, {}}};
  timeline.counters = {{"cycles", 1000}, {"l2.hits", 5}};
  return timeline;
}

/// Whether what `change` makes of it is refused.
bool refused(const std::function<void(Json&)>& change) {
  auto json = timeline_json(small());
  change(json);
  try {
    (void)read_timeline(CheckedJson(json));
  } catch (const BadShape&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a timeline is read as it was written") {
  const auto json = timeline_json(small());
  const auto read = read_timeline(CheckedJson(json));
  CHECK(timeline_json(read) == json);
  CHECK(read.warps.size() == 2);
  CHECK(read.warps[0].spans[1].end == 400);
  CHECK(read.instructions[0].statement == "chase A");
  CHECK(!read.noted_whole);
  CHECK(!refused([](Json&) {}));
}

TEST_CASE("a timeline that could not be drawn is refused") {
  CHECK(refused([](Json& json) { json["from"] = 401; }));
  CHECK(refused([](Json& json) { json["to"] = 1001; }));
  CHECK(refused([](Json& json) { json["launch"] = 4; }));
  CHECK(refused([](Json& json) { json["sm"] = -1; }));
  CHECK(refused([](Json& json) { json["names"][0]["kind"] = "rests"; }));
  CHECK(refused([](Json& json) { json["names"][0]["text"] = "a\nb"; }));
  CHECK(refused([](Json& json) { json["instructions"][0][1] = "\x1b[2J"; }));
  CHECK(refused([](Json& json) { json["instructions"][0].push_back("more"); }));
  CHECK(refused([](Json& json) { json["warps"][0]["spans"][0][0] = 3; }));      // no such name
  CHECK(refused([](Json& json) { json["warps"][0]["spans"][0][1] = 99; }));     // before what is shown
  CHECK(refused([](Json& json) { json["warps"][0]["spans"][0][2] = 301; }));    // beyond it
  CHECK(refused([](Json& json) { json["warps"][0]["spans"][0][3] = 2; }));      // no such instruction
  CHECK(refused([](Json& json) { json["warps"][0]["spans"][0][1] = 9'007'199'254'740'993; }));
  CHECK(refused([](Json& json) { json["counts"]["x"] = 1.5; }));
}

TEST_CASE("a timeline holds so much and no more") {
  const auto with_spans = [](std::size_t first, std::size_t second) {
    return refused([&](Json& json) {
      const Json span = json["warps"][0]["spans"][0];
      json["warps"][0]["spans"] = Json(first, span), json["warps"][1]["spans"] = Json(second, span);
    });
  };
  CHECK(!with_spans(Timeline::kMostSpans - 10, 10));
  CHECK(with_spans(Timeline::kMostSpans - 10, 11));
  const auto with = [](const char* member, std::size_t count) {
    return refused([&](Json& json) {
      const Json one = json[member].back();
      json[member] = Json(count, one);
      if (std::string(member) != "warps") json["warps"] = Json::array();
    });
  };
  CHECK(!with("warps", Timeline::kMostWarps));
  CHECK(with("warps", Timeline::kMostWarps + 1));
  CHECK(!with("names", Timeline::kMostNames));
  CHECK(with("names", Timeline::kMostNames + 1));
  CHECK(!with("instructions", Timeline::kMostSpans));
  CHECK(with("instructions", Timeline::kMostSpans + 1));
}
