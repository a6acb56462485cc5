// SPDX-License-Identifier: Apache-2.0
// What an analysis of one's own stands for: questions of the language's analyses, and a formula of their answers.
#include <doctest/doctest.h>

#include "tests/compiler/compile.h"

using namespace gexp;

namespace {

/// "id = analysis(arguments)" of each question of the last stage, a line each.
std::string questions(const std::string& analyses, const std::string& finds) {
  compiler::Options options;
  const auto made = test::compile("gexp 1\nexperiment x\nmemory A: u32[64KiB] in global\n" + analyses +
                                      "\nstage s { sweep n in 1KiB..8KiB times 2 sweep i in 1..2 pattern ring = uniform(stride: 32B, span: n)\n"
                                      "timed lat each { chase A by ring laps 2 }\n" + finds + "\n}\n",
                                  options);
  if (!made.program) return made.text();
  std::string all;
  for (const auto& question : made.program->stages.back().finds) {
    compiler::Formula call;
    call.kind = compiler::Formula::Kind::Call;
    call.text = question.analysis;
    call.arguments = question.arguments;
    all += question.id + " = " + (question.combined ? show(*question.combined) : show(call)) + (question.each ? "" : " once") + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("each analysis in it is a question, and what it gives a formula of their answers") {
  CHECK(questions("analysis cost(t: record) -> cycles { let hit = fastest(t) give slowest(t) - hit }", "find c: cycles = cost(lat where n > 1KiB)") ==
        "s.c.hit = fastest(lat where n > 1 KiB)\ns.c.slowest = slowest(lat where n > 1 KiB)\ns.c = s.c.slowest - s.c.hit once\n");
  CHECK(questions("analysis low(t: record, x: B) -> B { let much = misses(t where lap > 0) give last_flat(much over x where x > 2KiB) }", "find c: B = low(lat where i == 1, n)") ==
        "s.c = last_flat(misses(lat where lap > 0) over n where (i == 1) and (n > 2 KiB))\n");
  CHECK(questions("analysis all(t: record) -> cycles { give slowest(t) + slowest(t) }", "find c: list = all(lat by n)") ==
        "s.c.slowest = slowest(lat by n)\ns.c.slowest2 = slowest(lat by n)\ns.c = s.c.slowest + s.c.slowest2\n");
}

TEST_CASE("one that asks another has its parts under its own name") {
  CHECK(questions("analysis both(t: record) -> structure { give hit = fastest(t) give miss = slowest(t) }\n"
                  "analysis gap(t: record) -> cycles { let of = both(t) give of.miss - of.hit }",
                  "find c: cycles = gap(lat) find d: structure = both(lat)") ==
        "s.c.of.hit = fastest(lat)\ns.c.of.miss = slowest(lat)\ns.c = s.c.of.miss - s.c.of.hit once\n"
        "s.d.hit = fastest(lat)\ns.d.miss = slowest(lat)\ns.d = structure(hit: s.d.hit, miss: s.d.miss) once\n");
}

TEST_CASE("a name in it never means one of the stage") {
  // `i` is a sweep of the stage, and a variable of a list in the analysis.
  CHECK(questions("analysis sum(t: record, k: count) -> list { let all = clusters(t) give [i + 0 * k for i in [1, 2]] + 0 * all.count }", "find c: list = sum(lat, i)").find("E0") != std::string::npos);
  CHECK(questions("analysis up(t: record, k: count) -> cycles { give value(median(t) + max([i * k for i in 1..3]) * 1cycle, n: 1KiB) }", "find c: cycles = up(lat, i)").find("E0222") != std::string::npos);
  CHECK(questions("analysis up(t: record, k: count) -> cycles { give highest(median(t) + max([i * k for i in 1..3]) * 1cycle) }", "find c: cycles = up(lat, i)") ==
        "s.c = highest(median(lat) + (max([i2 * i for i2 in 1..3]) * 1 cycles))\n");
}

TEST_CASE("variables of lists are shown as they are written, and never mean each other") {
  CHECK(questions("analysis up(t: record) -> cycles { give highest(max([misses(t where lap == q) for q in 0..1]) * 1cycle) }", "find c: cycles = up(lat)") ==
        "s.c = highest(max([misses(lat where lap == q) for q in 0..1]) * 1 cycles)\n");
  CHECK(questions("analysis up(t: record, k: count) -> cycles { give highest(median(t) + max([max([i * i2 * k for i2 in 1..2]) for i in 1..3]) * 1cycle) }", "find c: cycles = up(lat, i)") ==
        "s.c = highest(median(lat) + (max([max([(i2 * i22) * i for i22 in 1..2]) for i2 in 1..3]) * 1 cycles))\n");
}

TEST_CASE("what it stands for is bounded") {
  std::string lets = "let a0 = median(t) + median(t)\n";
  for (int i = 1; i < 60; ++i) lets += "let a" + std::to_string(i) + " = a" + std::to_string(i - 1) + " + a" + std::to_string(i - 1) + "\n";
  CHECK(questions("analysis f(t: record) -> cycles { " + lets + " give highest(a59) }", "find c: cycles = f(lat)").find("E0238") != std::string::npos);
}
