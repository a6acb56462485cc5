// SPDX-License-Identifier: Apache-2.0
// What the checker finds and where it points. How it says so is in tests/cases/diagnostics.
#include <doctest/doctest.h>

#include "lang/dimensions.h"
#include "lang/names.h"
#include "lang/vocabulary.h"
#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::lang;
using namespace gexp::test;

namespace {

/// Code and text pointed at, of a text after the header.
std::string points(const std::string& text) { return checked(text).points(); }

/// The same, inside a stage that has a memory A, a sweep n, a pattern ring and a record lat.
std::string in_stage(const std::string& text) {
  return points("memory A: u32[64KiB] in global\nstage s {\n  sweep n in 1KiB..8KiB times 2\n  pattern ring = uniform(stride: 32B, span: n)\n"
                "  timed lat each { chase A by ring laps 2 }\n" + text + "\n}");
}

}  // namespace

TEST_CASE("every experiment of the library is right") {
  for (const auto& path : files_under("experiments", ".gexp")) {
    CAPTURE(path.string());
    CHECK(Checked(read(path), path.filename().string(), files_of(path.parent_path())).text() == "");
  }
}

TEST_CASE("the examples of the language are right but for analyses to come") {
  for (const auto& path : files_under("tests/cases/examples", ".gexp")) {
    CAPTURE(path.string());
    for (const auto& problem : Checked(read(path)).diagnostics.sorted()) {
      CHECK(problem.code == "");
    }
  }
}

TEST_CASE("dimensions: what may be added, compared, multiplied") {
  for (const char* right : {"let a = 4KiB + 0", "let a = 0 - 4KiB", "let a = 4KiB / 2 + 1B", "let a = 4KiB / 32B + 1", "let a = 4KiB mod 32B + 1B",
                            "let a = 4KiB div 32B + 1", "let a = 2% + 1", "let a = max(4B, 8B) + 1B", "let a = 4B in 0..8B",
                            "let a = 8B within 2% of 9B", "let l = [4B, 8B] let a = l.count + 1", "let a = count([1, 2]) + 1", "let a = 1GB/s * 2s + 3B",
                            "let a = 32ops / 2cycles + 1ops/cycle", "let a = not (1 < 2) and 2B == 2B", "let a = gcd(4B, 6B) + 1B",
                            "let a = [1, 2] == [1, 2]", "let a = max([4B, 8B]) + 1B", "let a = -4B + 1B", "let a = device.l2.bytes * 3 + 1B"}) {
    CAPTURE(right);
    CHECK(points(right) == "");
  }
  CHECK(points("let a = device.l2.bytes * 3 + 1cycles") == "E0210 device.l2.bytes * 3 + 1cycles");
  CHECK(points("let a = device.l3.bytes") == "E0202 l3");
  CHECK(points("let a = 4KiB + 2") == "E0211 2");
  CHECK(points("let a = 4KiB * 2B + 1B") == "E0210 4KiB * 2B + 1B");
  CHECK(points("let a = 1s + 2cycles") == "E0210 1s + 2cycles");
  CHECK(points("let a = 2cycles < 3ops") == "E0210 2cycles < 3ops");
  CHECK(points("let a = 4KiB in 2..8") == "E0211 8");
  CHECK(points("let a = 8B within 2B of 9B") == "E0210 2B");
  CHECK(points("let a = not 4B") == "E0215 4B");
  CHECK(points("let a = 1 and 2 < 3") == "E0215 1");
  CHECK(points("let a = \"x\" == 4") == "E0215 \"x\" == 4");
  CHECK(points("let a = [4B, 8cycles]") == "E0210 8cycles");
  CHECK(points("let a = max(4B, 8cycles)") == "E0210 8cycles");
}

TEST_CASE("one mistake is one diagnostic: what depends on it is quiet") {
  CHECK(points("let a = nothing + 4B\nlet b = a + 4cycles\nlet c = b + a") == "E0202 nothing");
  CHECK(in_stage("  derive m: count = misses(latt)\n  find k: B = last_flat(m over n)") == "E0202 latt");
}

TEST_CASE("names: twice, unknown, of another kind, too early") {
  CHECK(points("let a = 1\nlet a = 2") == "E0201 a");
  CHECK(points("let a = 1\nstage a { }") == "E0201 a");
  CHECK(in_stage("  let lat = 4") == "E0201 lat");
  CHECK(points("let a = 1\nstage s { let a = 2B  let b = a + 1B }") == "");  // an inner name hides an outer one
  CHECK(points("let a = b\nlet b = 1") == "E0206 b");
  CHECK(points("let a = a") == "E0206 a");
  CHECK(in_stage("  derive m: count = k\n  derive k: count = misses(lat)") == "E0206 k");
  CHECK(in_stage("  derive m: count = m") == "E0206 m");
  CHECK(in_stage("  let x = A") == "E0207 A");
  CHECK(in_stage("  let x = s") == "E0207 s");
  CHECK(in_stage("  warm { chase A by n laps 2 }") == "E0207 n");
  CHECK(in_stage("  warm { chase ring by ring laps 2 }") == "E0207 ring");
  CHECK(in_stage("  warm { load A at tid * 4B  unroll j in 0..3 { store A at j * 4B } }") == "");
  CHECK(in_stage("  warm { unroll j in 0..3 { load A at i * 4B } }") == "E0202 i");
  CHECK(in_stage("  record la raw") == "E0202 la");
  CHECK(in_stage("  plot misses(lat) vs n by order") == "E0202 order");
  CHECK(points("let a = {0}") != "");
}

TEST_CASE("a unit that is a name") {
  CHECK(points("let s = 2\nlet a = 2s") == "E0205 2s");
  CHECK(points("let a = 2s\nlet s = 2") == "E0205 2s");  // a name in sight, wherever it is declared
  CHECK(points("stage t { sweep s in 1..4 }\nbudget time 3s") == "");
  CHECK(points("stage t { sweep s in 1..4  skip s * 1s > 2 * 3s why \"x\" }") == "E0205 1s; E0205 3s");
}

TEST_CASE("statements at their level") {
  CHECK(points("sweep n in 1..4") == "E0203 sweep");
  CHECK(points("launch grid 1 block 1") == "E0203 launch");
  CHECK(points("repeat 3") == "E0203 repeat");
  CHECK(points("stage s { param a: count = 4 }") == "E0203 param");
  CHECK(points("stage s { seed 4 }") == "E0203 seed");
  CHECK(points("stage s { launch grid 1 block 1 launch grid 2 block 1 }") == "E0219 launch");
  CHECK(points("budget time 1s budget time 2s") == "E0219 budget");
}

TEST_CASE("words of a place") {
  CHECK(points("memory A: u31[4KiB] in global") == "E0204 u31");
  CHECK(points("memory A: u32[4KiB] in sharde") == "E0204 sharde");
  CHECK(in_stage("  warm { chase A by ring laps 1 via cx }") == "E0204 cx");
  CHECK(in_stage("  flush l3") == "E0204 l3");
  CHECK(in_stage("  record lat rew") == "E0204 rew");
  CHECK(points("memory A: u32[4KiB] in global\nstage s { pattern p = uniform(stride: 4B, span: 1KiB) timed t eech { chase A by p laps 1 } }") == "E0204 eech");
  CHECK(in_stage("  let q = unique(merger(2, of: treads))") == "E0204 treads");
}

TEST_CASE("elem needs one element size") {
  CHECK(points("let a = 1elem") == "E0212 1elem");
  CHECK(points("memory A: u32[4KiB] in global\nlet a = 1elem + 4B") == "");
  CHECK(points("memory A: u32[4KiB] in global\nmemory C: f32[4KiB] in global\nlet a = 1elem") == "");
  CHECK(points("memory A: u32[4KiB] in global\nmemory C: f64[4KiB] in global\nlet a = 1elem") == "E0212 1elem");
}

TEST_CASE("types that are declared") {
  CHECK(points("param a: byte = 4B") == "E0213 byte");
  CHECK(points("param a: list = [4B]") == "E0213 list");
  CHECK(points("param a: B = 4") == "E0211 4");
  CHECK(points("param a: B = 0") == "");
  CHECK(points("param a: name = \"x\" in [\"x\", \"y\"]") == "");
  CHECK(points("param a: name = \"x\" in [1, 2]") == "E0215 [1, 2]");
  CHECK(points("param a: B = 4B in 1..8B") == "E0211 1");
  CHECK(in_stage("  derive m: B = misses(lat)") == "E0214 B");
  CHECK(in_stage("  derive m: cycle = median(lat)") == "E0213 cycle");
  CHECK(in_stage("  find k: count = last_flat(misses(lat) over n)") == "E0214 count");
  CHECK(in_stage("  find k: structure = linear(median(lat) over n)") == "E0214 structure");
  CHECK(in_stage("  find k: line = linear(median(lat) over n)\n  expect k.slope == 1cycles / 1B and k.r2 > 0.9") == "");
}

TEST_CASE("domains of sweeps") {
  const auto sweep = [](const std::string& domain) { return points("stage s { sweep n in " + domain + " }"); };
  for (const char* right : {"1..4", "0B..4KiB step 1KiB", "0..4KiB step 1KiB", "1KiB..4KiB times 2", "1KiB..4KiB points 9 log", "[4B, 8B]", "[\"a\", \"b\"]",
                            "1..8 until n > 4"}) {
    CAPTURE(right);
    CHECK(sweep(right) == "");
  }
  CHECK(sweep("1KiB..4KiB") == "E0217 1KiB..4KiB");
  CHECK(sweep("1KiB..4KiB step 32") == "E0211 32");
  CHECK(sweep("1KiB..4KiB times 2B") == "E0210 2B");
  CHECK(sweep("1KiB..4 times 2") == "E0211 4");
  CHECK(sweep("4") == "E0215 4");
  CHECK(points("stage s { sweep (a, b) in [(1, 4B), (2, 8B)]  let c = b + a * 1B }") == "");
  CHECK(points("stage s { sweep (a, b) in [(1, 4B), (2, 8)] }") == "E0211 8");
  CHECK(points("stage s { sweep (a, b) in [(1, 4B), (2, 8B, 9)] }") == "E0218 (2, 8B, 9)");
  CHECK(points("stage s { sweep (a, b) in 1..4 }") == "E0218 1..4");
}

TEST_CASE("binding times") {
  CHECK(points("let a = lane") == "E0301 lane");
  CHECK(points("pattern p = [lane * 4B]") == "");
  CHECK(in_stage("  let x = lane  skip x > 2 why \"w\"") == "E0301 x");
  CHECK(in_stage("  let x = median(lat)") == "E0301 lat");
  CHECK(in_stage("  skip misses(lat) > 1 why \"w\"") == "E0301 lat");
  CHECK(in_stage("  sweep k in 1..8 until misses(lat) > 4") == "");
  CHECK(in_stage("  launch grid merger(2, of: threads) block 1") == "E0301 merger");
  CHECK(in_stage("  launch grid unique(merger(2, of: threads)) block 1") == "");
  CHECK(in_stage("  find C: B = last_flat(misses(lat) over n)\n  let x = C") == "E0301 C");
  CHECK(in_stage("  find C: B = last_flat(misses(lat) over n)\n  let x = s.C") == "E0301 s.C");
  CHECK(in_stage("  find C: B = last_flat(misses(lat) over n)\n  expect C == 4KiB and s.C == 4KiB") == "");
  CHECK(in_stage("  expect n == 4KiB") == "E0301 n");
  CHECK(in_stage("  expect median(lat) > 4cycles") == "E0301 lat");
  CHECK(points("let x = s.C\nstage s { }") == "E0202 C");
  CHECK(points("stage a { let x = b.C }\nstage b { sweep n in 1..4 derive d: count = n find C: count = knee(d over n) }") == "E0302 b.C");
  CHECK(points("stage b { sweep n in 1..4 derive d: count = n find C: count = knee(d over n) }\nstage a { sweep x in 1..b.C }\nexpect b.C == 4") == "");
  CHECK(points("stage b { sweep n in 1..4 derive d: count = n find C: count = knee(d over n) }\nlet a = b.C") == "E0301 b.C");
  CHECK(points("stage b { sweep n in 1..4 derive d: count = n find C: count = knee(d over n) }\nmemory A: u32[b.C] in global") == "E0301 b.C");
}

TEST_CASE("functions, analyses and their arguments") {
  CHECK(points("let a = flor(1)") == "E0221 flor");
  CHECK(points("let a = last_flat(1)") == "E0221 last_flat");
  CHECK(in_stage("  find k: count = median(lat)") == "E0221 median");
  CHECK(in_stage("  find k: list = cache_structure(lat)") == "E0221 cache_structure");
  CHECK(in_stage("  find k: B = last_flat(misses(lat))") == "E0222 misses(lat)");
  CHECK(in_stage("  find k: B = first_miss(misses(lat) over n)") == "E0215 misses(lat)");
  CHECK(in_stage("  find k: structure = cache_sets(lat over n)") == "E0222 cache_sets(lat over n)");
  CHECK(in_stage("  find k: structure = cache_sets(lat over n, line: 32)") == "E0211 32");
  CHECK(in_stage("  find k: structure = cache_sets(lat over n, line: 32B, line: 64B)") == "E0222 line");
  CHECK(in_stage("  find k: structure = cache_sets(lat over n, lines: 32B)") == "E0222 lines");
  CHECK(in_stage("  find k: cycles = value(median(lat), n: 4KiB)") == "");
  CHECK(in_stage("  find k: cycles = value(median(lat), n: 4)") == "E0211 4");
  CHECK(in_stage("  find k: cycles = value(median(lat), m: 4)") == "E0222 m");
  CHECK(in_stage("  find k: structure = cache_sets(lat over n, line: n)") == "E0301 n");
  CHECK(in_stage("  find k: cycles = fastest(lat over n)") == "E0222 n");
  CHECK(in_stage("  find k: B = last_flat(misses(lat) over n) need 95") == "E0208 95");
  CHECK(points("pattern p = uniform(stride: 4B)") == "E0222 uniform(stride: 4B)");
  CHECK(points("pattern p = uniform(4B, 8B)") != "");
  CHECK(points("pattern p = bank(stride: 4B, word: 4B)") == "E0210 4B");
  CHECK(points("pattern p = shuffle([4B, 8B], 7)") == "");
  CHECK(points("pattern p = shuffle([4, 8], 7)") == "E0215 [4, 8]");
  CHECK(points("pattern p = shuffle([4B, 8B])") == "E0222 shuffle([4B, 8B])");
  CHECK(points("pattern p = nonuniform(a: [0B], b: [4])") == "E0215 [4]");
  CHECK(points("pattern p = 4B") == "E0215 4B");
  CHECK(in_stage("  derive m: count = misses(lat, above: 4B)") == "E0210 4B");
  CHECK(in_stage("  derive m: count = misses(median(lat))") == "E0215 median(lat)");
  CHECK(in_stage("  derive m: cycles = lat * 2") == "E0216 lat");
}

TEST_CASE("the words of the language are found, and lead to their neighbours") {
  for (const auto& callable : vocabulary()) CHECK(find_callable(callable.name) == &callable);
  for (const auto word : type_words()) CHECK(declared_type(word));
  CHECK(find_callable("nothing") == nullptr);
  CHECK(element_size("f64") == 8);
  CHECK(element_size("u7") == 0);
}
