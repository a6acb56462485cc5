// SPDX-License-Identifier: Apache-2.0
// What a file may not ask for, refused before anything starts (docs/language.md, Limits).
#include <doctest/doctest.h>

#include "compiler/plan/plan.h"
#include "tests/compiler/compile.h"

using namespace gexp;
using namespace gexp::compiler;

namespace {

/// The code that the first point of a stage with this pattern and body is refused with; empty when it is not.
std::string refused(const std::string& pattern, const std::string& body) {
  const auto compiled = test::compile("gexp 1 experiment t memory A: u32[1KiB] in global stage s { pattern ring = " + pattern +
                                      " launch grid 1 block 1 timed lat total { " + body + " } find h: cycles = fastest(lat) }");
  if (!compiled.program) return compiled.codes();
  const auto scope = file_scope(*compiled.program);
  bool skipped = false;
  const auto point = plan_point(*compiled.program, compiled.program->stages[0], {}, *scope, skipped);
  return point ? std::string() : point.error().code;
}

const char* kRing = "uniform(stride: 32B, span: 1KiB)";

}  // namespace

TEST_CASE("accesses of a chase") {
  CHECK(refused(kRing, "chase A by ring steps 4294967296").empty());
  CHECK(refused(kRing, "chase A by ring steps 4294967297") == "E0418");
  CHECK(refused(kRing, "chase A by ring laps 134217728").empty());
  CHECK(refused(kRing, "chase A by ring laps 134217729") == "E0406");
}

TEST_CASE("steps of a pattern") {
  CHECK(refused("uniform(stride: 1B, span: 67108865B)", "chase A by ring laps 1") == "E0406");
  CHECK(refused("repeat([0B], 67108865)", "chase A by ring laps 1") == "E0406");
  CHECK(refused("[i * 4B for i in 0..1e9]", "chase A by ring laps 1") == "E0406");
}

TEST_CASE("operations of a body") {
  CHECK(refused(kRing, "unroll i in 1..4000 { load A at 0B }").empty());
  CHECK(refused(kRing, "unroll i in 1..4097 { load A at 0B }") == "E0432");
  CHECK(refused(kRing, "unroll i in 1..100 { unroll j in 1..100 { load A at 0B } }") == "E0432");
}
