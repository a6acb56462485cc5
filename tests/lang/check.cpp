// SPDX-License-Identifier: Apache-2.0
#include "lang/check.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/lang/support.h"

using gexp::test::Checked;
using gexp::test::checked;

namespace {

/// "code text-pointed-at; …" of a file with these lines after its header.
std::string file(const std::string& text) { return checked(text).points(); }

/// The same for lines inside a stage that times a chase as `lat` over `n` (bytes) and `k` (a count), after an earlier stage
/// `sets` with a finding of every kind.
std::string stage(const std::string& text) {
  return file(fmt::format(R"(memory A: u32[64KiB] in global
stage sets {{
  sweep extra in 0..8
  pattern ring = uniform(stride: 32B, span: 8KiB + extra * 32B)
  timed lat each {{ chase A by ring laps 2 }}
  find S: structure = cache_sets(lat over extra, line: 32B)
  find C: B = last_flat(misses(lat) over extra * 32B)
  find hit: cycles = fastest(lat)
  find fit: line = linear(median(lat) over extra)
  find all: list = latency_classes(lat)
  find kind: structure = replacement(lat, members: [0B, 8KiB], line: 32B)
  find conflicts: structure = bank_conflicts(median(lat) over extra, word: 4B)
}}
stage s {{
  sweep n in 1KiB..64KiB times 2
  sweep k in 1..4
  pattern ring = uniform(stride: 32B, span: n)
  timed lat each {{ chase A by ring laps 2 }}
  {}
}})", text));
}

}  // namespace

TEST_CASE("what ships is right") {
  for (const auto& path : gexp::test::files_under("experiments", ".gexp")) {
    const Checked checked(gexp::test::read(path), path.filename().string(), gexp::test::files_of(path.parent_path()));
    CHECK(checked.text() == "");
  }
  CHECK(stage("") == "");
}

TEST_CASE("the design's examples are right, but for the replacement of sets yet to be told apart") {
  for (const auto& path : gexp::test::files_under("tests/cases/examples", ".gexp")) {
    const Checked checked(gexp::test::read(path), path.filename().string());
    for (const auto& d : checked.diagnostics.sorted()) {
      CHECK_MESSAGE(d.code == "E0222", render(d, &checked.source));
    }
  }
}

TEST_CASE("dimensions are added and compared with their like") {
  CHECK(file("let a = 4KiB + 4B") == "");
  CHECK(file("let a = 4KiB + 4") == "E0211 4");
  CHECK(file("let a = 4 + 4B") == "E0211 4");
  CHECK(file("let a = 4B + 4cycles") == "E0210 4B + 4cycles");
  CHECK(file("let a = 4B * 4 / 2B + 1") == "");
  CHECK(file("let a = 4KiB / 2s + 1GB/s") == "");
  CHECK(file("let a = 4KiB div 4B + 1") == "");
  CHECK(file("let a = (4KiB mod 4B) + 1B") == "");
  CHECK(file("require 0 < 4B else \"a written zero has any dimension\"") == "");
  CHECK(file("require 4B in 1B..8B and not 4cycles == 5cycles else \"\"") == "");
  CHECK(file("require 4B within 2% of 4B else \"\"") == "");
  CHECK(file("require 4B in 1..8 else \"\"") != "");
  CHECK(file("require 4B within 2B of 4B else \"\"") != "");
  CHECK(file("require [1, 2] == [1, 2] else \"\"") == "");
  CHECK(file("let a = gcd(4B, 6)") != "");
  CHECK(file("let a = min(4B, 6B) + 1B") == "");
  CHECK(file("let a = log2(8) + 1") == "");
  CHECK(file("let a = count([1, 2, 3]) + 1") == "");
  CHECK(file("let a = -(4B) + 1B") == "");
  CHECK(file("let a = not 4B") != "");
  CHECK(file("let a = 4B and 5") != "");
}

TEST_CASE("a unit that is also a name in sight is ambiguous") {
  CHECK(file("let s = 2\nlet a = 2s") == "E0205 2s");
  CHECK(file("let a = 2s") == "");
  CHECK(file("let B = 2\nlet a = 2B") == "E0205 2B");
  CHECK(file("budget time 20s\nstage t { sweep s in 1..4 }") == "");
  CHECK(file("stage t { sweep s in 1..4 let a = 2s }") == "E0205 2s");
  CHECK(file("pattern p = [2s * 1B for s in 0..4]") == "E0205 2s");
}

TEST_CASE("elem is the size of the memories' one element") {
  CHECK(file("memory A: u32[4KiB] in global\npattern p = uniform(stride: 1elem, span: 4KiB)") == "");
  CHECK(file("memory A: u32[4KiB] in global\nmemory D: f32[4KiB] in shared\nlet a = 1elem") == "");
  CHECK(file("memory A: u32[4KiB] in global\nmemory D: u64[4KiB] in shared\nlet a = 1elem") == "E0212 1elem");
  CHECK(file("let a = 1elem") == "E0212 1elem");
}

TEST_CASE("names") {
  CHECK(file("let a = b") == "E0202 b");
  CHECK(file("let a = a") != "");
  CHECK(file("let a = 1\nlet a = 2") == "E0201 a");
  CHECK(file("let a = [i for i in 0..4]\nlet i = 2") == "");
  CHECK(file("let a = [j for i in 0..4]") == "E0202 j");
  CHECK(file("let a = [i + j * i for i in 0..4 for j in 0..i]") == "");
  CHECK(file("let a = 4 over") == "E0102 over");
  CHECK(file("let a = x.y") == "E0202 x");
  CHECK(stage("let m = sets.S.members") == "");
  CHECK(stage("let m = sets.S.member") == "E0202 member");
  CHECK(stage("let m = sets.T") == "E0202 T");
  CHECK(stage("let m = sets.C + sets.hit") == "E0210 sets.C + sets.hit");
  CHECK(stage("let m = sets.fit.slope + 1cycles") == "");
  CHECK(stage("let m = sets.S.sets + sets.S.lines + count(sets.S.bits)") == "");
  CHECK(stage("let m = max(sets.kind.probabilities)") == "");
  CHECK(stage("let m = s.x") != "");
}

TEST_CASE("params: type, value and domain agree") {
  CHECK(file("param a: B = 4KiB in 1KiB..8KiB") == "");
  CHECK(file("param a: B = 4 in 1KiB..8KiB") == "E0211 4");
  CHECK(file("param a: count = 4 in [1, 2, 4]") == "");
  CHECK(file("param a: name = \"x\" in [\"x\", \"y\"]") == "");
  CHECK(file("param a: name = \"x\" in [\"x\", 4]") != "");
  CHECK(file("param a: byte = 4B") == "E0213 byte");
  CHECK(file("param a: GHz = 4B") != "");
  CHECK(file("param r: B/s = 4GB/s") == "");
}

TEST_CASE("memories") {
  CHECK(file("memory A: u32[1024] in global") == "");
  CHECK(file("memory A: u32[4cycles] in global") == "E0210 4cycles");
  CHECK(file("memory A: u24[4KiB] in global") == "E0204 u24");
  CHECK(file("memory A: u32[4KiB] in vram") == "E0204 vram");
  CHECK(file("memory A: u32[4KiB] in global page 2MiB align 128B") == "");
  CHECK(file("memory A: u32[4KiB] in global page 2") == "E0211 2");
}

TEST_CASE("sweeps and domains") {
  CHECK(stage("sweep x in 1KiB..4KiB step 32B") == "");
  CHECK(stage("sweep x in 1KiB..4KiB step 32") == "E0211 32");
  CHECK(stage("sweep x in 1KiB..4KiB times 2B") != "");
  CHECK(stage("sweep x in [1B, 2]") == "E0211 2");
  CHECK(stage("sweep x in sets.S.members") == "");
  CHECK(stage("sweep (x, y) in [(1, 2B), (3, 4B)]\n  let z = y + 1B") == "");
  CHECK(stage("sweep (x, y) in [(1, 2B), (3, 4)]") != "");
  CHECK(stage("sweep (x, y) in [(1, 2B, 3)]") != "");
  CHECK(stage("sweep x in 1KiB..4KiB times 2 refine to 32B on misses(lat) > 0") == "");
  CHECK(stage("sweep x in 1KiB..4KiB times 2 refine to 32 on misses(lat) > 0") == "E0211 32");
  CHECK(stage("sweep x in 1KiB..4KiB times 2 refine to 32B on highest(median(lat))") == "");
  CHECK(stage("sweep x in 1KiB..4KiB times 2 refine to 32B on highest(misses(lat) > 0)") != "");
  CHECK(stage("sweep x in 1KiB..4KiB times 2 refine to 32B on highest(lat, lat)") == "E0221 highest");
  CHECK(stage("sweep x in 1KiB..4KiB times 2 refine to 32B on last_flat(lat over x)") == "E0221 last_flat");
  CHECK(stage("sweep x in 1KiB..4KiB refine to 32B on lat").substr(0, 5) == "E0217");  // an interval of bytes needs a step
  CHECK(stage("sweep x in 0..4 until missed(lat) == 100%") == "");
  CHECK(stage("sweep x in 0..4 until misses(lat, above: sets.hit) > 0") == "");
  CHECK(stage("sweep x in 0..4 until misses(lat, above: 4B) > 0") == "E0210 4B");
  CHECK(stage("sweep x in 0..n") != "E0102 n");
}

TEST_CASE("patterns") {
  CHECK(file("pattern p = uniform(stride: 32B, span: 4KiB)") == "");
  CHECK(file("pattern p = uniform(stride: 32, span: 4KiB)") == "E0211 32");
  CHECK(file("pattern p = uniform(step: 32B, span: 4KiB)") != "");
  CHECK(file("pattern p = nonuniform(a: uniform(stride: 32B, span: 4KiB), b: [0B, 4B])") == "");
  CHECK(file("pattern p = bank(stride: 2, word: 4B)") == "");
  CHECK(file("pattern p = bank(stride: 2B, word: 4B)") != "");
  CHECK(file("pattern p = shuffle([0B, 4B], 7)") == "");
  CHECK(file("pattern p = shuffle([0B, 4B])") != "");
  CHECK(file("pattern p = repeat(shuffle([0B, 4B], 7), 3)") == "");
  CHECK(file("pattern p = [i * 4B for i in 0..7 step 2]") == "");
  CHECK(file("pattern p = [i * 4 for i in 0..7]") != "");
  CHECK(file("pattern p = [lane * 4B]") == "");
  CHECK(file("pattern p = [merger(2, of: threads) * 4B]") == "");
  CHECK(file("pattern p = [merger(2, of: blocks) * 4B]") != "");
  CHECK(file("pattern p = 4B") != "");
  CHECK(stage("pattern q = [m + w * 1elem for m in sets.S.members for w in 0..7]") == "");
}

TEST_CASE("a later value is not used early") {
  CHECK(stage("launch grid lat block 1") == "E0301 lat");
  CHECK(stage("launch grid k block 1") == "");
  CHECK(stage("launch grid tid block 1") == "E0301 tid");
  CHECK(stage("let x = median(lat)") == "E0301 lat");
  CHECK(stage("derive x: cycles = median(lat)\n  skip x > 4cycles why \"no\"") == "E0301 x");
  CHECK(stage("let x = C\n  find C: B = last_flat(misses(lat) over n)") == "E0301 C");
  CHECK(stage("find C: B = last_flat(misses(lat) over n)\n  expect C == 4KiB") == "");
  CHECK(stage("expect n == 4KiB") == "E0301 n");
  CHECK(stage("let x = sets.C") == "");
  CHECK(stage("let x = later.C\n}\nstage later {\n  pattern ring = [0B] timed lat each { chase A by ring laps 1 }\n  find C: B = miss_spacing(lat)").substr(0, 11) == "E0302 later");
  CHECK(file("stage s { sweep n in 1..2 }\nlet a = n") == "E0301 n");
  CHECK(file("let a = lane") == "E0301 lane");
}

TEST_CASE("analyses: names, arguments, results") {
  CHECK(stage("find C: B = last_flat(misses(lat) over n) need 95%") == "");
  CHECK(stage("find C: count = last_flat(misses(lat) over k)") == "");
  CHECK(stage("find C: count = last_flat(misses(lat) over n)") == "E0214 count");
  CHECK(stage("find C: B = last_flat(misses(lat))") == "E0222 misses(lat)");
  CHECK(stage("find C: B = last_flatt(misses(lat) over n)") == "E0221 last_flatt");
  CHECK(stage("find C: B = tlb_structure(misses(lat) over n)") == "E0221 tlb_structure");
  CHECK(stage("find C: B = prefetch(lat)") == "");
  CHECK(stage("find C: B = prefetch(misses(lat))") != "");
  CHECK(stage("derive d: B/cycle = n / median(lat) find C: structure = saturation(d over n, latency: 4cycles)") == "");
  CHECK(stage("derive d: B/cycle = n / median(lat) find C: structure = saturation(d over k by n, latency: 4cycles, per: 128B)") == "");
  CHECK(stage("derive d: count = n / 1B find C: structure = saturation(d over n, latency: 4cycles)") == "E0215 saturation(d over n, latency: 4cycles)");
  CHECK(stage("derive d: count = k * 2 find C: structure = outstanding(median(lat) over k, requests: d, instructions: k + 1)") == "");
  CHECK(stage("derive d: count = k * 2 find C: structure = outstanding(median(lat) over k, requests: d, instructions: n)") != "");
  CHECK(stage("find C: B = first_miss(lat over k)") == "");
  CHECK(stage("find C: B = first_miss(misses(lat) over k)") != "");
  CHECK(stage("find C: list = latency_classes(lat)") == "");
  CHECK(stage("find C: count = period(median(lat) over k)") == "");
  CHECK(stage("find C: cycles = plateau(median(lat) over k)") == "");
  CHECK(stage("find C: count = knee(median(lat) over k where n == 4KiB)") == "");
  CHECK(stage("find C: count = knee(median(lat) over k where n == 4)") == "E0211 4");
  CHECK(stage("find C: cycles = value(median(lat), n: 4KiB, k: 2)") == "");
  CHECK(stage("find C: cycles = value(median(lat), m: 4KiB)") != "");
  CHECK(stage("find C: cycles = value(median(lat), n: 4)") != "");
  CHECK(stage("find C: list = clusters(lat by seg)") == "");
  CHECK(stage("find C: list = clusters(lat by k)") == "E0215 k");
  CHECK(stage("find C: list = clusters(lat by warp)") == "");
  CHECK(stage("find C: count = knee(median(lat) over k by n)") == "");
  CHECK(stage("find C: count = knee(median(lat) over k by seg)") == "");
  CHECK(stage("find C: count = knee(median(lat) over k by lane)") == "E0233 lane");
  CHECK(stage("find C: count = knee(median(lat) over k by A)") == "E0215 A");
  CHECK(stage("find C: structure = bank_conflicts(median(lat) over k, word: 4B)") == "");
  CHECK(stage("find C: structure = bank_conflicts(median(lat) over k, word: 4)") == "E0211 4");
  CHECK(stage("find C: structure = bank_conflicts(median(lat) over k)") != "");
  CHECK(stage("find C: B = last_flat(misses(lat) over n) need 95") != "");
}

TEST_CASE("parts of a record") {
  CHECK(stage("derive d: cycles = median(lat where lap > 0 and seg == \"a\")") == "");
  CHECK(stage("derive d: list = median(lat by warp)") == "");
  CHECK(stage("derive d: cycles = median(lat where lane == 0)") == "E0233 lane");
  CHECK(stage("derive d: count = step * 2") == "E0233 step");
  CHECK(stage("derive d: cycles = elapsed(lat where warp == 0)") == "E0222 warp == 0");
  CHECK(stage("derive d: cycles = median(lat by k)") == "E0215 k");
  CHECK(stage("derive e: cycles = median(lat) derive d: cycles = median(e where warp == 0)") == "E0234 e");
  CHECK(stage("find C: list = slowest(lat by lap)") == "");
  CHECK(stage("find C: cycles = slowest(lat by lap)") == "E0214 cycles");
  CHECK(stage("find C: list = values(median(lat) over step)") == "");
  CHECK(stage("find C: list = values(median(lat) over step + 1)") == "E0234 step + 1");
  CHECK(stage("find C: B = last_flat(misses(lat) over n where lap > 0)") == "E0234 lap");
  CHECK(stage("find C: B = last_flat(misses(lat) over n where warp == 0)") == "");
  CHECK(stage("find C: list = slowest(lat by lap where warp == 0 and n > 4KiB)") == "");
  CHECK(stage("record lat summary find C: cycles = slowest(lat where warp == 0)") == "E0233 warp");
  CHECK(stage("record lat histogram find C: list = slowest(lat by step)") == "E0233 step");
  CHECK(stage("plot lat vs step by seg") == "");
  CHECK(stage("plot median(lat) vs n by seg") == "E0233 seg");
  CHECK(stage("plot step vs n") == "E0233 step");
  const auto kept = [](const std::string& column) { return file("stage s { launch grid 1 block 64 timed v values { keep tid } derive d: " + column + " find f: count = value(count(d)) }"); };
  CHECK(kept("list = median(v by tid where step == 0)") == "");
  CHECK(kept("list = median(v by warp)") == "");
  CHECK(kept("list = median(v by lap)") == "E0233 lap");
  CHECK(kept("list = median(v by tid where seg == \"a\")") == "E0233 seg");
}

TEST_CASE("expectations") {
  CHECK(stage("}\nexpect sets.S.bits == [7, 8] and sets.kind.name == \"lru\" {").find("E02") == std::string::npos);
  CHECK(file("expect 4B == 4B on gtx780, \"GTX 980\", sm_90 from \"paper\" xfail \"no\"") == "");
  CHECK(file("expect 4B") == "E0215 4B");
}

TEST_CASE("statements that nothing runs yet are checked for names") {
  CHECK(stage("flush l2 flush tlb flush l1") == "");
  CHECK(stage("flush l7") == "E0204 l7");
  CHECK(stage("warm { load A at tid * 4B as 8B via cg store A at gtid * 4B barrier }") == "");
  CHECK(stage("warm { load Q at 0B }") == "E0202 Q");
  CHECK(stage("warm { unroll j in 0..3 { load A at j * 4B } }") == "");
  CHECK(stage("warm { unroll j in 0..3 { load A at i * 4B } }") == "E0202 i");
  CHECK(stage("warm { load A at tid * 4 }") != "");
  CHECK(stage("record lat histogram") == "");
  CHECK(stage("record lat histogramm") == "E0204 histogramm");
  CHECK(stage("record lot raw") == "E0202 lot");
  CHECK(file("stage t { sweep k in 1..4 timed run wall { alu fma.f32 chain k ilp 2 } }") == "");
  CHECK(file("stage t { sweep k in 1..4 timed run wall { alu fma.f32 chain 4B ilp 2 } }") != "");
  CHECK(stage("warm { chase A by ring laps 2 via cb }") == "E0204 cb");
  CHECK(stage("warm { chase ring by A laps 2 }") == "E0207 ring by A");
  CHECK(stage("plot median(lat) vs n by k log n") == "");
  CHECK(stage("plot median(lat) vs m by k log n") == "E0202 m");
}

TEST_CASE("statements stand where they belong") {
  CHECK(file("sweep n in 1..4") == "E0203 sweep");
  CHECK(file("find C: B = miss_spacing(lat)") == "E0203 find");
  CHECK(stage("memory D: u32[4KiB] in global") == "E0203 memory");
  CHECK(stage("seed 4") == "E0203 seed");
}
