// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "compiler/plan/plan.h"
#include "tests/compiler/compile.h"

using namespace gexp;
using namespace gexp::compiler;

namespace {

const char* kRing = R"(gexp 1
experiment t
param span: B = 256B in 64B..4KiB
memory A: u32[1KiB] in global
stage s {
  sweep n in 64B..256B times 2
  pattern ring = uniform(stride: 32B, span: n)
  launch grid 1 block 1
  warm { chase A by ring laps 2 via ca }
  timed lat each { chase A by ring laps 3 via ca }
  repeat 2..4 until stable(misses(lat))
  find C: B = last_flat(misses(lat) over n)
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

Result<PointPlan> plan(const std::string& text, double n) {
  const auto compiled = test::compile(text);
  REQUIRE_MESSAGE(compiled.program, compiled.text());
  const auto scope = file_scope(*compiled.program);
  REQUIRE(scope.ok());
  bool skipped = false;
  return plan_point(*compiled.program, compiled.program->stages[0], {{"n", Value(n, kBytes)}}, *scope, skipped);
}

}  // namespace

TEST_CASE("a point is a ring of links, a warm-up and a trace") {
  const auto point = plan(kRing, 128);
  REQUIRE(point.ok());
  CHECK(point->links.at(0).offsets == std::vector<std::int64_t>{0, 32, 64, 96});
  CHECK(point->links.at(0).targets == std::vector<std::int64_t>{32, 64, 96, 0});
  CHECK(point->warm_steps == 8);
  CHECK(point->steps == 12);
}

TEST_CASE("what a chase cannot follow is refused at the statement") {
  CHECK(plan(replaced(kRing, "u32[1KiB]", "u32[96B]"), 128).error().code == "E0420");
  const auto far = replaced(replaced(kRing, "u32[1KiB]", "u32[32GiB]"), "uniform(stride: 32B, span: n)", "[0B, 16GiB]");
  CHECK(plan(far, 128).error().code == "E0420");  // of a link of 4 B
  CHECK(plan(replaced(replaced(far, "laps 3", "laps 3 as 8B"), "laps 2", "laps 2 as 8B"), 128));
  CHECK(plan(replaced(kRing, "stride: 32B", "stride: 6B"), 128).error().code == "E0421");
  CHECK(plan(replaced(kRing, "uniform(stride: 32B, span: n)", "[0B, 4B, 0B]"), 128).error().code == "E0422");
  CHECK(plan(replaced(kRing, "laps 3", "laps 0"), 128).error().code == "E0426");
}

TEST_CASE("links of a ring that rises are known to the next ring") {
  const auto text = [](const std::string& first, const std::string& second) {
    const auto both = replaced(kRing, "uniform(stride: 32B, span: n)", first + "\n  pattern other = " + second);
    return replaced(both, "warm { chase", "warm { chase A by other laps 1 via ca chase");
  };
  const std::string rising = "[0B, 32B, 64B]";
  const auto same = plan(text(rising, "[32B, 64B, 0B]"), 128);
  REQUIRE(same.ok());
  CHECK(same->links.at(0).offsets == std::vector<std::int64_t>{32, 64, 0});  // in the order of the first that is chased
  CHECK(same->links.at(0).targets == std::vector<std::int64_t>{64, 0, 32});
  const auto more = plan(text("[100B, 4B]", rising), 128);
  REQUIRE(more.ok());
  CHECK(more->links.at(0).offsets == std::vector<std::int64_t>{0, 32, 64, 100, 4});
  CHECK(more->links.at(0).targets == std::vector<std::int64_t>{32, 64, 0, 4, 100});
  CHECK(plan(text("[64B, 0B, 32B]", rising), 128).ok());  // the same three links
  const auto refused = [&](const std::string& ring) { return test::compile(text(ring, rising)).text(); };
  CHECK(refused("[32B, 0B, 64B]").find("E0423") != std::string::npos);
  CHECK(refused("[96B, 4B, 96B]").find("E0422") != std::string::npos);
  CHECK(refused("[0B]").find("E0423") != std::string::npos);
}

TEST_CASE("all points of a sweep share one kernel") {
  const auto compiled = test::compile(kRing);
  REQUIRE(compiled.program);
  const auto scope = file_scope(*compiled.program);
  const auto shapes = stage_shapes(*compiled.program, compiled.program->stages[0], *scope);
  REQUIRE(shapes.ok());
  CHECK(shapes->size() == 1);
  const auto cuda = emit_cuda(shapes->front());
  REQUIRE(cuda.ok());
  CHECK(cuda->find("ld.global.ca.u32") != std::string::npos);
  CHECK(cuda->find("${") == std::string::npos);
}

TEST_CASE("a sweep of widths is one kernel a width") {
  const auto compiled = test::compile(R"(gexp 1
experiment t
memory S: u32[16KiB] in shared
stage s {
  sweep word in [4B, 8B]
  sweep s in 0..31
  pattern own = bank(stride: s, word: word)
  launch grid 1 block 32
  timed t total { chase S by own steps 64 as word }
  find f: cycles = value(median(t), s: 1)
}
)");
  REQUIRE_MESSAGE(compiled.program, compiled.text());
  const auto scope = file_scope(*compiled.program);
  const auto shapes = stage_shapes(*compiled.program, compiled.program->stages[0], *scope);
  REQUIRE(shapes.ok());
  CHECK(shapes->size() == 2);
}

TEST_CASE("the kernels that are planned ahead are those of all points, and points with one text are planned once") {
  const auto kernels = [](const std::string& operations) {
    const auto compiled = test::compile(fmt::format(R"(gexp 1
experiment t
memory A: u32[1MiB] in global
stage s {{
  sweep n in 0..40
  let half = n div 2
  skip n == 7 why "none"
  launch grid 1 block 32
  timed t total {{ {} load A at 0B }}
  find f: cycles = value(median(t), n: 1)
}}
)", operations));
    REQUIRE_MESSAGE(compiled.program, compiled.text());
    const auto& stage = compiled.program->stages[0];
    const auto scope = file_scope(*compiled.program);
    const auto shapes = stage_shapes(*compiled.program, stage, *scope);
    REQUIRE(shapes.ok());
    std::set<Shape> ahead(shapes->begin(), shapes->end()), all;
    for (int n = 0; n <= 40; ++n) {
      bool skipped = false;
      auto point = plan_point(*compiled.program, stage, {{"n", Value(static_cast<double>(n))}}, *scope, skipped);
      REQUIRE(point.ok());
      if (!skipped) all.insert(point->shape);
    }
    CHECK(ahead == all);
    return all.size();
  };
  CHECK(kernels("loop j in 0..n { load A at j * 4KiB }") == 1);
  CHECK(kernels("loop j in 1..n { load A at j * 4KiB }") == 2);  // one without the loop
  CHECK(kernels("loop j in 5..half { loop k in 10..n { load A at (j + k) * 4KiB } }") == 2);
  CHECK(kernels("unroll j in 1..half { load A at j * 4KiB }") == 21);
  CHECK(kernels("load A at tid div (half + 1) * 4B") == 2);  // a shift, or a division
  CHECK(kernels("alu add.u32 chain n mod 3 + 1 ilp half mod 2 + 1") == 6);
}

TEST_CASE("parameters are set within their domain") {
  Options options;
  options.settings = {{"span", "512B"}};
  auto compiled = test::compile(kRing, options);
  REQUIRE_MESSAGE(compiled.program, compiled.text());
  CHECK(compiled.program->parameters[0].value.get<Number>()->number == 512);
  options.settings = {{"span", "1MiB"}};
  CHECK(test::compile(kRing, options).codes() == "E0414");
  options.settings = {{"spam", "64B"}};
  CHECK(test::compile(kRing, options).codes() == "E0409");
  options.settings = {{"span", "64 KiB!"}};
  CHECK(test::compile(kRing, options).codes() == "E0409");
}

TEST_CASE("sweeps step, multiply and list") {
  const auto values = [](const std::string& domain) {
    const auto compiled = test::compile(replaced(kRing, "64B..256B times 2", domain));
    REQUIRE_MESSAGE(compiled.program, compiled.text());
    const auto scope = file_scope(*compiled.program);
    auto list = sweep_values(compiled.program->stages[0].sweeps[0], *scope);
    std::vector<double> numbers;
    if (list) for (const auto& value : *list) numbers.push_back(value.get<Number>()->number);
    return numbers;
  };
  CHECK(values("64B..256B times 2") == std::vector<double>{64, 128, 256});
  CHECK(values("64B..128B step 32B") == std::vector<double>{64, 96, 128});
  CHECK(values("[64B, 128B]") == std::vector<double>{64, 128});
  CHECK(values("64B..256B points 4") == std::vector<double>{64, 128, 192, 256});
  CHECK(values("256B..64B step 32B").empty());
}
