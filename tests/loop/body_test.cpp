// SPDX-License-Identifier: Apache-2.0
// Kernels made from body.cu on models whose latencies are known: the same answers as from the templates for one chase.
#include <doctest/doctest.h>

#include "tests/loop/loop.h"

using namespace gexp::test;

namespace {

std::string spec(const std::string& stage) {
  return "gexp 1\nexperiment t\nmemory A: u32[64KiB] in global\nmemory W: u64[64KiB] in global\nmemory S: u32[4KiB] in shared\n"
         "pattern ring = uniform(stride: 64B, span: 2KiB)\nstage s {\n" + stage + "\n}\n";
}
std::string answer(const std::string& stage, const std::string& model = "gtx780") { return found(run_text(spec(stage), model), "s.f"); }

}  // namespace

TEST_CASE("a chase costs the same whichever kernel times it") {
  const std::string warm = "warm { chase A by ring laps 2 via cg ", timed = "} timed t each { chase A by ring laps 4 via cg } repeat 3 find f: list = latency_classes(t)";
  CHECK(answer(warm + timed) == "[198 cycles]");            // Mei17 Figure 14, P1
  CHECK(answer(warm + "barrier " + timed) == "[198 cycles]");
  CHECK(answer("warm { chase W by ring laps 2 via cg barrier } timed t each { chase W by ring laps 4 via cg } repeat 3 find f: list = latency_classes(t)") == "[198 cycles]");
  CHECK(answer("warm { chase S by ring laps 1 } timed t each { chase S by ring laps 4 } repeat 3 find f: list = latency_classes(t)") == "[47 cycles]");  // Mei17 section 6.2
}

TEST_CASE("the arithmetic that makes an address is no part of its load's latency, however slow it is") {
  const std::string hits = " warm { loop k in 0..63 { load A at k * 128B via nc } } timed t each { loop k in 0..63 { load A at ADDRESS via nc } } repeat 3 find f: list = latency_classes(t)";
  const std::string chased = " warm { chase A by ring laps 2 via nc } timed t each { BARRIER chase A by ring laps 2 via nc } repeat 3 find f: list = latency_classes(t)";
  const auto with = [](std::string text, const std::string& hole, const std::string& what) { return text.replace(text.find(hole), hole.size(), what); };
  for (const std::string alu : {"9", "20", "60"}) {
    const std::vector<Edit> slow = {{"alu = 9\nmultiply = 9", "alu = " + alu + "\nmultiply = " + alu}};
    for (const auto& stage : {with(hits, "ADDRESS", "k * 128B"), with(hits, "ADDRESS", "(k * k mod 64) * 128B"), with(chased, "BARRIER", "barrier"), with(chased, "BARRIER", "")}) {
      CAPTURE(stage);
      CHECK(found(run_text(spec(stage), "gtx780", slow), "s.f") == "[110 cycles]");  // Mei14 Table 5
    }
  }
}

TEST_CASE("the clock waits for loads whose values nothing needs") {
  // Two loads of one cell: they overlap, and the region lasts one latency and a little, not two, and not none.
  const std::string loads = "warm { load A at 0B via cg } timed t total { load A at 0B via cg load A at 64B via cg } repeat 5 find f: cycles = value(median(t))";
  const auto result = run_text(spec(loads), "gtx780");
  const auto text = found(result, "s.f");
  CAPTURE(text);
  const double cycles = std::stod(text);
  CHECK(cycles >= 198);
  CHECK(cycles < 2 * 198);
}

TEST_CASE("an arithmetic chain has the pipeline's latency") {
  const std::string chain = "sweep n in [64, 100, 256, 512, 1000] timed t total { alu add.u32 chain n ilp 1 } repeat 3 find f: line = linear(median(t) over n)";
  const auto result = run_text(spec(chain), "gtx780");
  CHECK(std::stod(found(result, "s.f", "slope")) == doctest::Approx(9).epsilon(0.03));  // the model's alu latency
  CHECK(std::stod(found(result, "s.f", "r2")) > 0.999);
}

TEST_CASE("loops, branches and stores run as often as they say") {
  CHECK(answer("launch grid 1 block 32 timed t wall { loop p in 0..9 { load A at tid * 4B + p * 128B store A at tid * 4B } branch lane < 4 { load A at tid * 4B } } repeat 2 find f: B = value(moved(t))") ==
        std::to_string(10 * 32 * 8 + 4 * 4) + " B");
  CHECK(answer("timed t each { loop p in 0..4 { load A at p * 128B via cg } load A at 8KiB via cg } repeat 1 find f: list = latency_classes(t) need 10%").substr(0, 12) != "undetermined");
}

TEST_CASE("a chase of one step goes on from round to round, in a loop and in an unroll") {
  // Cold, each step of the ring misses; one that began anew each time would miss once.
  const auto cycles = [](const std::string& body) { return std::stod(answer("timed t total { " + body + " } repeat 1 find f: cycles = value(median(t))")); };
  const double straight = cycles("chase A by ring steps 16 via cg barrier");
  const double around = cycles("loop i in 1..16 { chase A by ring steps 1 via cg }");
  CHECK(around >= straight);
  CHECK(around <= straight + 16 * 40);  // a round's own counter, comparison and branch: three or four instructions of 9 cycles
  CHECK(cycles("unroll i in 1..16 { chase A by ring steps 1 via cg }") == doctest::Approx(straight).epsilon(0.1));
  CHECK(cycles("unroll i in 1..4 { loop j in 1..2 { chase A by ring steps 2 via cg } }") == doctest::Approx(straight).epsilon(0.1));
  CHECK(cycles("chase A by ring steps 1 via cg barrier") < 0.2 * straight);
}

TEST_CASE("what is not kept is not there") {
  const std::string region = "sweep n in 1KiB..4KiB step 1KiB pattern p = uniform(stride: 64B, span: n) timed t each { chase A by p laps 2 via cg } repeat 3 ";
  CHECK(answer(region + "record t histogram find f: list = latency_classes(t) need 10%").substr(0, 12) != "undetermined");
  CHECK(answer(region + "record t summary find f: B = miss_spacing(t)").substr(0, 12) == "undetermined");
}

TEST_CASE("a chase by texture fetches over global memory begins where its ring begins") {
  // 385 lines of 32 B, a quarter of them and one more in the same set: the cache holds 384.
  for (const auto* ring : {"[i * 32B for i in 0..384]", "[4KiB + i * 32B for i in 0..384]"}) {
    CAPTURE(ring);
    const auto result = run_text(std::string("gexp 1\nexperiment t\nmemory A: u32[256KiB] in global\nstage s {\npattern ring = ") + ring +
                                     "\nlaunch grid 1 block 1\nwarm { chase A by ring laps 2 via tex }\ntimed lat each { chase A by ring laps 4 via tex }\n"
                                     "repeat 3\nderive missing: count = misses(lat)\nfind m: count = value(missing)\n}\n",
                                 "gtx780");
    CHECK(found(result, "s.m") == "388");
  }
}

TEST_CASE("the rehearsal of a texture fetch takes no room beside the walk, wherever that begins") {
  // A stale line would go by and by where victims are drawn at random, and make lines of its set miss until then.
  const auto result = run_text("gexp 1\nexperiment t\nmemory A: u32[256KiB] in global\nstage s {\nsweep n in [384, 400]\npattern ring = [4KiB + i * 32B for i in 0..n - 1]"
                               "\nlaunch grid 1 block 1\nwarm { chase A by ring laps 1 via tex }\ntimed lat each { chase A by ring laps 1 via tex }\n"
                               "repeat 20\nderive missing: count = slower(lat, above: 150cycles)\nfind m: list = values(missing over n)\n}\n",
                               "gtx780", {{"bits = [7, 8]\nreplacement = \"lru\"\nscope = \"sm\"\nsource = \"Mei17 Table V, which has it in one column", "bits = [7, 8]\nreplacement = \"random\"\nscope = \"sm\"\nsource = \"Mei17 Table V, which has it in one column"}});
  CHECK_MESSAGE(found(result, "s.m").rfind("[0, ", 0) == 0, found(result, "s.m"));
  CHECK(found(result, "s.m") != "[0, 0]");
}

TEST_CASE("a load by a texture fetch over global memory goes where it says") {
  const std::string warm = "warm { loop k in 0..15 { load A at k * 32B via tex } } timed t each { loop k in 0..15 { load A at ";
  const std::string end = " via tex } } repeat 3 find f: cycles = value(min(t))";
  const auto cycles = [&](const std::string& at) { return std::stod(answer(warm + at + end)); };
  CHECK(cycles("8KiB + k * 1KiB") > cycles("k * 32B") + 50);  // nothing of it is in the cache
}
