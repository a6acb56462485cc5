// SPDX-License-Identifier: Apache-2.0
// Which points are visited, in which order, and which of them are known before any is measured.
#include "runtime/measure/schedule.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <optional>

#include "compiler/pipeline.h"

using namespace gexp;
using compiler::Coordinates;

namespace {

double number(const Value& value) { return value.get<Number>()->number; }

std::string text(const Coordinates& at) {
  std::string all;
  for (const auto& [name, value] : at) all += fmt::format("{}{}{}", all.empty() ? "" : " ", name, number(value));
  return all;
}

/// A stage's visit where a condition holds at points whose coordinates add up to at least `border`: batches end with `;`.
/// `curve`: a value of that sum instead. `settled`: the border once what was measured is settled.
std::string visited(const std::string& sweeps, double border, bool at_once = true, std::optional<double> settled = {},
                    const std::function<double(double)>& curve = {}) {
  const Source spec("spec.gexp", "gexp 1\nexperiment t\nmemory A: u32[64KiB] in global\nstage s {\n" + sweeps +
                                     "\ntimed t total { load A at 0B }\nfind f: cycles = value(median(t))\n}\n");
  Diagnostics diagnostics;
  const auto program = compiler::compile(spec, {}, diagnostics);
  std::string said;
  for (const auto& diagnostic : diagnostics.sorted()) said += render(diagnostic, &spec);
  REQUIRE_MESSAGE(program, said);
  std::string order;
  measure::PointMeasurer measure;
  measure.points = [&](const measure::Batch& batch) -> Result<bool> {
    bool any = false;
    for (std::size_t i = 0; i < batch.points.size(); ++i) {
      any = any || !batch.known[i];
      if (!batch.known[i]) order += (order.empty() || order.back() == '\n' ? "" : ", ") + text(batch.points[i]);
      auto more = batch.measured(i);
      REQUIRE(more.ok());
      if (!*more) break;
    }
    if (at_once && any) order += batch.all_wanted ? " ;\n" : " ?\n";
    return true;
  };
  measure.converge = [&] {
    if (settled) border = *settled;
    return true;
  };
  measure.value = [&](const compiler::Formula&, const Coordinates& at) -> Result<Value> {
    double sum = 0;
    for (const auto& [name, value] : at) sum += number(value);
    return curve ? Value(curve(sum)) : Value(sum >= border);
  };
  const auto scope = compiler::file_scope(*program);
  REQUIRE(scope.ok());
  const auto done = measure::visit_points(program->stages[0], *scope, measure);
  if (!done) return order + done.error().code;
  CHECK(*done);
  return order;
}

}  // namespace

TEST_CASE("the product of plain sweeps is one batch") {
  CHECK(visited("sweep a in 1..2 sweep b in [10, 20, 30]", 0) == "a1 b10, a1 b20, a1 b30, a2 b10, a2 b20, a2 b30 ;\n");
}

TEST_CASE("a sweep that may end is one batch whose rest may not be wanted") {
  CHECK(visited("sweep a in 1..9 until median(t) > 0cycles", 3) == "a1, a2, a3 ?\n");
  CHECK(visited("sweep a in 1..9 until median(t) > 0cycles sweep b in [10, 0]", 3) == "a1 b10, a1 b0, a2 b10, a2 b0, a3 b10, a3 b0 ?\n");
  CHECK(visited("sweep b in [0, 2] sweep a in 1..9 until median(t) > 0cycles", 3) == "b0 a1, b0 a2, b0 a3 ?\nb2 a1 ?\n");
}

TEST_CASE("each round of refining is a batch") {
  CHECK(visited("sweep a in [0, 16, 32] refine to 1 on median(t) > 0cycles", 13) == "a0, a16, a32 ;\na8 ;\na12 ;\na14 ;\na13 ;\n");
  CHECK(visited("sweep a in [0, 16] refine to 4 on median(t) > 0cycles sweep b in 0..1", 13) ==
        "a0 b0, a0 b1, a16 b0, a16 b1 ;\na8 b0, a8 b1 ;\na12 b0, a12 b1 ;\n");
}

TEST_CASE("an axis is refined around where a value is highest") {
  const auto peak = [](double top) { return [=](double x) { return -std::fabs(x - top); }; };
  const auto around = [&](const std::string& sweeps, double top) { return visited(sweeps, 0, true, {}, peak(top)); };
  CHECK(around("sweep a in [0, 16, 32] refine to 1 on highest(median(t))", 19) == "a0, a16, a32 ;\na8, a24 ;\na12, a20 ;\na18, a22 ;\na17, a19 ;\n");
  CHECK(around("sweep a in [0, 16, 32] refine to 8 on highest(median(t))", 0) == "a0, a16, a32 ;\na8 ;\n");
  CHECK(around("sweep a in [32, 0, 16] refine to 8 on highest(median(t))", 16) == "a32, a0, a16 ;\na8, a24 ;\n");
  CHECK(around("sweep a in [0, 16] refine to 8 on highest(median(t)) sweep b in [0, 16] refine to 8 on highest(median(t))", 25) ==
        "a0 b0, a0 b16 ;\na0 b8 ;\na16 b0, a16 b16 ;\na16 b8 ;\na8 b0, a8 b16 ;\na8 b8 ;\n");
  // Wherever a single peak lies, it is found; how many points that takes at most is told before.
  for (int top = 1; top <= 64; ++top) {
    const auto order = around("sweep a in 1..64 times 2 refine to 1 on highest(median(t))", top);
    CHECK_MESSAGE((order + ",").find(fmt::format("a{}", top)) != std::string::npos, order);
    CHECK(std::count(order.begin(), order.end(), 'a') <= 7 + 2 * 5);
  }
}

TEST_CASE("an axis is refined as far as it was visited") {
  CHECK(visited("sweep a in [0, 16, 32] refine to 4 on median(t) > 0cycles until median(t) > 0cycles", 13) == "a0, a16 ?\na8 ;\na12 ;\n");
}

TEST_CASE("what few repetitions decided is decided anew once they are settled") {
  CHECK(visited("sweep a in 1..6 until median(t) > 0cycles", 3, true, 5) == "a1, a2, a3 ?\na4, a5 ?\n");
  CHECK(visited("sweep a in [0, 16, 32] refine to 4 on median(t) > 0cycles", 100, true, 13) == "a0, a16, a32 ;\na8 ;\na12 ;\n");
  CHECK(visited("sweep a in [0, 16, 32] refine to 8 on median(t) > 0cycles until median(t) > 0cycles", 13, true, 30) == "a0, a16 ?\na8 ;\na32 ?\na24 ;\n");
}

TEST_CASE("what is wrong beyond the end of a sweep is not met") {
  const std::string sweeps = "sweep a in 1..9 until median(t) > 0cycles sweep b in a..5 step 1";
  CHECK(visited(sweeps, 0) == "a1 b1, a1 b2, a1 b3, a1 b4, a1 b5 ?\n");
  const auto all = visited(sweeps, 1e9);
  CHECK(all.ends_with("a5 b5 ?\nE0425"));
}

TEST_CASE("batches are cut where they grow large, and nothing else changes") {
  std::string all;
  for (int a = 1; a <= 9000; ++a) all += fmt::format("{}a{}", a == 1 ? "" : ", ", a);
  CHECK(visited("sweep a in 1..9000", 0, false) == all);
  CHECK(visited("sweep a in 1..20000 until median(t) > 0cycles", 9000, false) == all);
}
