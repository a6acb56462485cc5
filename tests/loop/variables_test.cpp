// SPDX-License-Identifier: Apache-2.0
// What threads compute, load and keep on a simulated device is what the spec says: values are kept and compared.
#include <doctest/doctest.h>

#include "tests/loop/loop.h"

using namespace gexp::test;

namespace {

std::string spec(const std::string& stage) {
  return "gexp 1\nexperiment t\nmemory A: u32[64KiB] in global\nmemory N: u32[64KiB] in global\nmemory S: u32[256] in shared\n"
         "memory I: u32[8] in global holds [5, 3, 7, 1, 6, 0, 2, 4]\nmemory J: s16[4] in global holds [-3, 100, -32768, 32767]\n"
         "memory L: u64[4] in global holds [4294967296, 3, 2, 1]\nmemory H: f16[64] in global\nmemory B: bf16[64] in global\npattern ring = uniform(stride: 64B, span: 2KiB)\nstage s {\n" + stage + "\n}\n";
}
std::string answer(const std::string& stage) { return found(run_text(spec(stage), "gtx780"), "s.f"); }

/// The mean of what threads keep, times how many there are.
double kept(const std::string& ops, int threads = 1, int times = 1) {
  const auto text = answer("launch grid 1 block " + std::to_string(threads) + " timed v values { " + ops + " } repeat 2 find f: count = value(mean(v) * " + std::to_string(threads * times) + ")");
  CAPTURE(text);
  return std::stod(text);
}

double cycles(const std::string& ops) { return std::stod(answer("launch grid 1 block 1 warm { chase A by ring laps 1 via cg chase N by ring laps 1 via cg } timed t total { " + ops + " } repeat 1 find f: cycles = value(median(t))")); }

}  // namespace

TEST_CASE("what is kept is what was loaded and computed") {
  CHECK(kept("load I at 4B into x keep x") == 3);
  CHECK(kept("load I at tid * 4B into x keep x", 8) == 28);
  CHECK(kept("load I at tid * 4B into x load I at x * 4B into y keep y * 8 + tid", 8) == 28 * 8 + 28);  // I[I[tid]]
  CHECK(kept("load J at 0B into x keep x + 10") == 7);
  CHECK(kept("load J at 4B into x keep x + 32768") == 0);
  CHECK(kept("load L at 0B into x keep x shr 16") == 65536);
  CHECK(kept("load J at 0B as 1B into x keep x") == 253);  // not as wide as the element: no sign
  CHECK(kept("unroll k in 0..7 { load I at k * 4B into x keep x }", 1, 8) == 28);
  CHECK(kept("loop k in 0..7 { load I at k * 4B into x keep x * k }", 1, 8) == 3 + 14 + 3 + 24 + 0 + 12 + 28);
  CHECK(kept("store A at tid * 4B value tid * 3 barrier load A at ((tid + 1) mod 8) * 4B via cv into x keep x", 8) == 3 * 28);
}

TEST_CASE("a spec that sees what it loads finds zeros where it has written nothing") {
  CHECK(kept("load A at 4KiB into x keep x") == 0);
  CHECK(kept("load S at tid * 4B into x keep x", 32) == 0);
  CHECK(kept("load S at 4B into x store S at 4B value 9 keep x") == 0);
}

TEST_CASE("variables wrap as their types do") {
  CHECK(kept("var x: u8 = 250 assign x = x + 10 keep x") == 4);
  CHECK(kept("var x: s8 = 127 assign x = x + 1 keep x + 200") == 72);
  CHECK(kept("var x: u16 = 65535 assign x = x + 2 keep x") == 1);
  CHECK(kept("var x: u64 = 1 loop k in 0..39 { assign x = x * 2 } keep x shr 38") == 4);
  CHECK(kept("var x: s32 = 0 assign x = x - 7 keep (x shr 1) + 10") == 6);
  CHECK(kept("var x: s32 = 0 assign x = x - 7 keep (x mod 4) * 10 + (x div 4 + 5)") == 13);
  CHECK(kept("var x: u32 = 12 keep (x and 10) * 100 + (x or 3) * 10 + (x xor 10)") == 800 + 150 + 6);
  CHECK(kept("var n: u8 = 3 var x: u32 = 1 assign x = x shl (n and 7) keep x") == 8);
}

TEST_CASE("fractions of 2 B are rounded where they are stored, to the nearest and of two to the even one") {
  const auto through = [](const std::string& memory, const std::string& value, const std::string& times) {
    return kept("store " + memory + " at 2B value " + value + " load " + memory + " at 2B via cv into x keep floor(x * " + times + ")");
  };
  CHECK(through("H", "0.333251953125", "16384") == 5460);  // 0x3555: a number of f16
  CHECK(through("H", "2049", "1") == 2048);                // between 2048 and 2050
  CHECK(through("H", "2051", "1") == 2052);
  CHECK(through("H", "0.5 / 3", "65536") == 10920);        // 0.16663
  CHECK(through("B", "257", "1") == 256);                  // between 256 and 258
  CHECK(through("B", "259", "1") == 260);
  CHECK(through("B", "1.5", "2") == 3);
  CHECK(kept("load H at 0B into x load B at 0B into y keep floor(x + y)") == 0);
  CHECK(kept("store H at 0B as 2B value 1.5 load I at 0B into i load H at 0B via cv into x keep floor(x * 2) + i") == 8);
}

TEST_CASE("branches and loops go where the data says") {
  CHECK(kept("load I at tid * 4B into x branch x > 3 { keep 100 } else { keep x }", 8) == 400 + 0 + 1 + 2 + 3);
  CHECK(kept("var here: u32 = 2 var n: u32 = 0 loop while here != 4 laps 9 { load I at here mod 8 * 4B into x assign here = x assign n = n + 1 } keep n") == 2);
  CHECK(kept("var n: u32 = 0 loop while n < tid laps 9 { assign n = n + 1 } keep n", 8) == 28);
  CHECK(kept("var n: u32 = 0 loop while n < 3 and not (n == 2) laps 9 { assign n = n + 1 } keep n") == 2);
}

TEST_CASE("a loop without an end is a launch that has hung") {
  const auto result = run_text(spec("timed v values { var n: u32 = 0 loop while n < 10 laps 9 { assign n = n + 1 } keep n } repeat 1 find f: count = value(mean(v)) expect hang"), "gtx780");
  REQUIRE(result.stages.size() == 1);
  REQUIRE(result.stages[0].table.points.size() == 1);
  CHECK(result.stages[0].table.points[0].outcome.status == gexp::device::Outcome::Status::Timeout);
  CHECK(kept("var n: u32 = 0 loop while n < 9 laps 9 { assign n = n + 1 } keep n") == 9);
}

TEST_CASE("clocks of lanes") {
  const double one = kept("load A at 0B via cv stamp t keep t"), two = kept("load A at 0B via cv stamp t load A at 4KiB via cv stamp u keep u");
  CHECK(one >= 198);
  CHECK(two >= one + 150);
  CHECK(kept("branch lane == 0 { load A at 0B via cv } stamp t keep t", 2) >= 2 * 198);
}

TEST_CASE("chases that are interleaved overlap, and visit what they would visit alone") {
  const std::string chases = "chase A by ring steps 64 via cg chase N by ring steps 64 via cg";
  const double one = cycles("chase A by ring steps 64 via cg"), both = cycles(chases), mixed = cycles("interleave { " + chases + " }");
  CHECK(both > 1.8 * one);
  CHECK(mixed < 1.3 * one);
  CHECK(answer("warm { chase A by ring laps 1 via cg chase N by ring laps 1 via cg } timed t each { interleave { chase A by ring laps 1 via cg chase N by ring laps 1 via cg } } "
               "repeat 1 find f: count = value(misses(t) / 64)") != "undetermined");
}

TEST_CASE("a gather by a pattern loads its items") {
  const std::string scattered = "pattern p = [((x * 37) mod 64) * 128B for x in 0..31] ", close = "pattern p = [((x * 37) mod 64) * 4B for x in 0..31] ";
  const auto time = [](const std::string& pattern) {
    return std::stod(answer(pattern + "launch grid 1 block 32 warm { load A by p via cg } timed t total { load A by p via cg } repeat 2 find f: cycles = value(median(t))"));
  };
  CHECK(time(scattered) > time(close) + 20);
  CHECK(kept("loop k in 0..3 { keep item([3B, 1B, 4B, 1B], k) div 1B }", 1, 4) == 9);
}
