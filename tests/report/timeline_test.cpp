// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "runtime/report/html.h"
#include "runtime/report/timeline_svg.h"
#include "tests/report/texts.h"

using namespace gexp;
using namespace gexp::report;
using namespace gexp::test;
using result::Timeline;

namespace {

/// A warp that waits for a load from L2, from cycle 1000 to 2000 of 4000.
Timeline small() {
  Timeline timeline;
  timeline.of = "s at n = <b>", timeline.from = 1000, timeline.to = 2000, timeline.cycles = 4000;
  timeline.sm = 3, timeline.warps_of_sm = 9;
  timeline.names = {{Timeline::Kind::Loads, "l2"}, {Timeline::Kind::Issues, "issues"}, {Timeline::Kind::Waits, "memory"}};
  timeline.instructions = {{"PTX:41", "ld.global.u32", "chase <A>"}};
  timeline.warps = {{5, 32, {{1000, 1100, 1, 0}, {1100, 2000, 2, 0}, {1050, 2000, 0, 0}}}};
  timeline.counters = {{"cycles", 4000}, {"issued", 77}, {"warps", 9}, {"executed", 77}, {"warp_cycles", 100}};
  return timeline;
}

}  // namespace

TEST_CASE("a timeline is drawn with its legend, its axis and what is in each span") {
  const auto svg = timeline_svg(small());
  for (const char* part : {">waits for memory</text>", ">load from l2</text>", ">issues</text>", ">cycles since the launch began</text>",
                           ">block 5, threads 32–63</text>", ">1,200</text>", ">2,000</text>",
                           "waits for memory: cycles 1100 to 2000 (900), ld.global.u32 at PTX:41, chase &lt;A&gt;"})
    CHECK_MESSAGE(has(svg, part), part);
  CHECK(count(svg, "<rect") == 3 + 3);  // the legend's, and a span each
  CHECK(!has(svg, "<A>"));
  CHECK(svg.find("issues</text>") < svg.find("waits for memory</text>"));
}

TEST_CASE("a timeline says what it leaves out") {
  auto timeline = small();
  CHECK(has(timeline_words(timeline), "What 1 of 9 warps of SM 3 did in s at n = <b>. Shown are cycles 1,000 to 2,000 of 4,000 of launch 1 of 1"));
  CHECK(!has(timeline_words(timeline), "overlapped"));
  for (int i = 0; i < 7; ++i) timeline.warps[0].spans.push_back({1050, 2000, 0, 0});
  CHECK(has(timeline_words(timeline), "2 loads that overlapped others are not drawn"));
  CHECK(count(timeline_svg(timeline), "<rect") == 3 + 3 + 5);
  timeline.noted_whole = false;
  CHECK(has(timeline_words(timeline), "went on after"));
  timeline.from = 0, timeline.to = timeline.cycles = 2000;
  CHECK(has(timeline_words(timeline), "Shown are all 2,000 cycles"));
}

TEST_CASE("a timeline of nothing is no drawing, and one of no time is") {
  CHECK(timeline_svg({}).empty());
  auto timeline = small();
  timeline.from = timeline.to = 1000;
  timeline.warps[0].spans = {{1000, 1000, 0, 0}};
  CHECK(has(timeline_svg(timeline), "width=\"0.00\""));
}

TEST_CASE("a page shows the timeline of a result that has one, beside its counters") {
  result::RunResult result;
  result.device.kind = "simulated", result.device.sm_clock_hz = 1e9;
  CHECK(!has(html({}, result, {}), "id=\"timeline\""));
  result.timeline = small();
  const auto page = html({}, result, {});
  CHECK(has(page, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"timeline\""));
  CHECK(has(page, "77 issued by 9 warps"));
  CHECK(!has(page, "n = <b>"));
}
