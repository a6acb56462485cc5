// SPDX-License-Identifier: Apache-2.0
// Analyses of one's own, as the checker sees them: where they are declared, and again wherever they are asked.
#include <doctest/doctest.h>

#include <map>

#include "tests/lang/support.h"

using namespace gexp;
using gexp::test::Checked;

namespace {

using Files = std::map<std::string, std::string>;

/// "code text-pointed-at" of everything but missing hashes. The stage has a sweep `n`, a record `lat` and what follows.
std::string said(const std::string& analyses, const std::string& finds, const Files& files = {}, const std::string& how = "each") {
  const lang::Loader load = [&](const std::string& path, const std::string&) -> Result<lang::LoadedText> {
    const auto found = files.find(path);
    if (found == files.end()) return failure("E0122", "no such file");
    return lang::LoadedText{path, "gexp 1\nexperiment m\n" + found->second};
  };
  const auto stage = "stage s { sweep n in 1KiB..8KiB times 2 sweep g in 1..2 let half = n / 2 pattern ring = uniform(stride: 32B, span: n)\n"
                     "timed lat " + how + " { chase A by ring laps 2 }\nderive rate: B/cycle = n / median(lat)\n" + finds + "\n}";
  const Checked checked("gexp 1\nexperiment x\nmemory A: u32[64KiB] in global\n" + analyses + "\n" + (finds.empty() ? "" : stage) + "\n", "x.gexp", load);
  std::string all;
  for (const auto& d : checked.diagnostics.sorted()) {
    if (d.code != "E0126") all += (all.empty() ? "" : "; ") + d.code + " " + std::string((d.in ? *d.in : checked.source).slice(d.span));
  }
  return all;
}

const std::string kCost = "analysis cost(t: record) -> cycles { let hit = fastest(t) give slowest(t) - hit }\n";

}  // namespace

TEST_CASE("an analysis is composed of analyses, and asked by find") {
  CHECK(said(kCost, "find c: cycles = cost(lat)") == "");
  CHECK(said(kCost, "find c: cycles = cost(t: lat)") == "");
  CHECK(said(kCost, "find c: list = cost(lat by n)") == "");
  CHECK(said(kCost, "find c: cycles = cost(lat where n > 1KiB and lap > 0)") == "");
  CHECK(said("analysis top(y: B/cycle, x: B) -> B/cycle { give plateau(y over x) }", "find c: B/cycle = top(rate, n)") == "");
  CHECK(said("analysis top(y: B/cycle, x: B) -> B/cycle { give plateau(y over x) }", "find c: B/cycle = top(x: half * 2, y: n / mean(lat))") == "");
  CHECK(said("analysis at(t: record, x: B, p: B) -> cycles { let y = median(t) give value(y, x: p, x2: 1) }", "").find("E0222 x2") != std::string::npos);
  CHECK(said("analysis at(t: record, x: B, z: count, p: B) -> cycles { let y = median(t) give value(y, x: p, z: 1) }", "find c: cycles = at(lat, n, g, 1KiB)") == "");
  CHECK(said("analysis at(t: record, x: B, z: count, p: B) -> cycles { let y = median(t) give value(y, x: p, z: 1) }", "find c: cycles = at(lat, half, g, 1KiB)") == "E0222 x");
  CHECK(said("analysis both(t: record) -> structure { give hit = fastest(t) give miss = slowest(t) }\n"
             "analysis gap(t: record) -> cycles { let b = both(t) give b.miss - b.hit }", "find c: cycles = gap(lat) find d: structure = both(lat) expect d.hit < 400cycles") == "");
  CHECK(said("analysis all(t: record, x: B) -> B { let hit = fastest(t) give last_flat(misses(t, above: 2 * hit) over x) }", "find c: B = all(lat, n)") == "");
  CHECK(said("use \"m.gexp\" as m", "find c: cycles = m.cost(lat)", {{"m.gexp", kCost}}) == "");
  CHECK(said("use \"m.gexp\" as m\nanalysis twice(t: record) -> cycles { give 2 * m.cost(t) }", "find c: cycles = twice(lat)", {{"m.gexp", kCost}}) == "");
}

TEST_CASE("it reads its arguments alone") {
  CHECK(said("let far = 3cycles\nanalysis f(t: record) -> cycles { give slowest(t) - far }", "") == "E0202 far");
  CHECK(said("analysis f(t: record) -> cycles { give slowest(lat) - fastest(t) }", "find c: cycles = f(lat)").find("E0202 lat") != std::string::npos);
  CHECK(said("analysis f(t: record) -> cycles { give slowest(t where step > 3) }", "find c: cycles = f(lat)") == "");
  // A part of the record stays one, whatever the stage calls so.
  CHECK(said("analysis f(t: record) -> cycles { give slowest(t where step > 3) }", "let step = n find c: cycles = f(lat)") == "E0233 step");
}

TEST_CASE("mistakes in one are shown where they are, at the declaration or at the use") {
  CHECK(said("analysis f(t: record) -> B { give slowest(t) }", "find c: B = f(lat)") == "E0214 B");
  CHECK(said("analysis f(t: recrod) -> cycles { give slowest(t) }", "") == "E0213 recrod");
  CHECK(said("analysis f(t: record) -> cycle { give slowest(t) }", "") == "E0213 cycle");
  CHECK(said("analysis f(t: record, t: B) -> cycles { give slowest(t) }", "").starts_with("E0201 t"));
  CHECK(said("analysis knee(t: record) -> cycles { give slowest(t) }", "") == "E0201 knee");
  CHECK(said("analysis f(t: record) -> cycles { give median(t) }", "") == "E0237 f; E0301 t");
  CHECK(said("analysis f(x: cycles) -> cycles { give 2 * x }", "") == "E0237 f");
  CHECK(said("analysis f(t: record) -> cycles { let a = fastest(t) }", "").starts_with("E0237 f"));
  CHECK(said("analysis f(t: record) -> structure { give a = fastest(t) give slowest(t) }", "") == "E0237 slowest(t)");
  CHECK(said("analysis f(t: record) -> cycles { sweep k in 1..2 give slowest(t) }", "") == "E0203 sweep");
  CHECK(said("give 2", "") == "E0203 give");
  CHECK(said("analysis f(t: record) -> cycles { give slowest(t) - median(t) }", "") == "E0301 t");
  CHECK(said("analysis f(t: record, x: B) -> B { give last_flat(fastest(t) over x) }", "") == "E0221 fastest");
  CHECK(said("analysis f(t: record) -> list { give [slowest(t) for i in 0..3] }", "") == "E0221 slowest");
  // A parameter may be one value or one at each point: that is known where it is used.
  const std::string sets = "analysis sets(t: record, x: count, unit: B) -> structure { give cache_sets(t over x, line: unit) }";
  CHECK(said(sets, "find c: structure = sets(lat, g, 32B)") == "");
  CHECK(said(sets, "find c: structure = sets(lat, g, n)") == "E0301 unit");
  CHECK(said("use \"m.gexp\" as m", "find c: structure = m.sets(lat, g, n)", {{"m.gexp", sets}}) == "E0301 unit");
  CHECK(said(sets, "find c: structure = sets(lat where step > 1, g, 32B)") == "E0234 cache_sets");
  CHECK(said("analysis f(t: record) -> cycles { give slowest(t where step > 1) }", "find c: cycles = f(lat)", {}, "total") == "E0233 step");
  CHECK(said("analysis f(y: cycles, x: B) -> B { give knee(y over x) }", "find c: list = f(median(lat) by g, n)") == "E0222 knee");
}

TEST_CASE("its arguments are those that it has, of their types") {
  CHECK(said(kCost, "find c: cycles = cost()") == "E0222 cost()");
  CHECK(said(kCost, "find c: cycles = cost(lat, n)") == "E0222 n");
  CHECK(said(kCost, "find c: cycles = cost(lat, t: lat)") == "E0222 t");
  CHECK(said(kCost, "find c: cycles = cost(rec: lat)") == "E0222 rec");
  CHECK(said(kCost, "find c: cycles = cost(lat over n)") == "E0222 n");
  CHECK(said(kCost, "find c: cycles = cost(n)") == "E0215 n");
  CHECK(said(kCost, "find c: B = cost(lat)") == "E0214 B");
  CHECK(said("analysis f(t: record, x: B) -> cycles { give value(median(t), n: x) }", "").starts_with("E0222 n"));
  CHECK(said("analysis f(t: record, x: B) -> cycles { give slowest(t where step * 1B < x) }", "find c: cycles = f(lat, 3cycles)") == "E0210 3cycles");
  CHECK(said(kCost, "find c: cycles = cost(lat) derive d: cycles = cost(lat)") == "E0221 cost");
  CHECK(said(kCost, "find c: cycles = cots(lat)").find("E0221 cots") != std::string::npos);
  CHECK(said("use \"m.gexp\" as m", "find c: cycles = m.cots(lat)", {{"m.gexp", kCost}}) == "E0202 cots");
  CHECK(said(kCost, "let y = cost find c: cycles = cost(lat)") == "E0207 cost");
}

TEST_CASE("none asks itself, and what they stand for together is bounded") {
  CHECK(said("analysis f(t: record) -> cycles { give f(t) }", "find c: cycles = f(lat)").starts_with("E0206 f"));
  CHECK(said("analysis f(t: record) -> cycles { give g(t) }\nanalysis g(t: record) -> cycles { give f(t) }", "").starts_with("E0206 g"));
  CHECK(said("analysis f(t: record) -> cycles { give slowest(t) }", "find c: cycles = g(lat)\n}\nanalysis g(t: record) -> cycles { give f(t)").find("E0206 g") != std::string::npos);
  std::string powers = "analysis a0(t: record) -> cycles { give slowest(t) }\n";
  for (int i = 1; i < 40; ++i) powers += "analysis a" + std::to_string(i) + "(t: record) -> cycles { give a" + std::to_string(i - 1) + "(t) + a" + std::to_string(i - 1) + "(t) }\n";
  CHECK(said(powers, "find c: cycles = a39(lat)").find("E0238") != std::string::npos);
  std::string finds;
  for (int i = 0; i < 4; ++i) finds += "find c" + std::to_string(i) + ": cycles = f(lat) ";
  CHECK(said("analysis f(t: record) -> cycles { #" + std::string(1u << 20, '.') + "\n give slowest(t) }", finds) == "E0238 f(lat)");
}

TEST_CASE("what nothing reads is said, save in a library") {
  CHECK(said(kCost, "find c: cycles = slowest(lat)") == "E0239 cost");
  CHECK(said(kCost, "") == "");
  CHECK(said("analysis f(t: record, x: B) -> cycles { let a = fastest(t) give slowest(t) }", "") == "E0239 x; E0239 a");
  CHECK(said("use \"m.gexp\" as m", "find c: cycles = m.cost(lat)", {{"m.gexp", kCost + "analysis other(t: record) -> cycles { give slowest(t) }"}}) == "");
}

TEST_CASE("a text that stops in the middle of one is a mistake at its place") {
  CHECK(said("analysis f(t: record) cycles { give slowest(t) }", "").starts_with("E0103 cycles"));
  CHECK(said("analysis f(t) -> cycles { give slowest(t) }", "").starts_with("E0103 )"));
  CHECK(said("analysis f(t: record) -> cycles { give slowest(t) ", "").starts_with("E0104"));
  CHECK(said("analysis f(t: record) -> cycles { giv slowest(t) }", "").starts_with("E0102 giv"));
}
