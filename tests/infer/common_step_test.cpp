// SPDX-License-Identifier: Apache-2.0
// A step that curves have in common: where it is, and what is none.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "runtime/infer/model/common_step.h"
#include "tests/infer/table.h"

using namespace gexp;
using infer::SteppedCurve;

namespace {

using Shape = std::function<double(double)>;

SteppedCurve drawn(const Shape& shape, double noise = 0.5, std::uint64_t seed = 1, int last = 32) {
  SteppedCurve made;
  made.noise = {0.5, true};
  test::Noise draw(seed);
  for (int x = 1; x <= last; ++x) made.curve.x.push_back(x), made.curve.y.push_back(shape(x) + noise * draw());
  return made;
}

Shape step(double border, double height) {
  return [=](double x) { return x > border ? height : 0; };
}

}  // namespace

TEST_CASE("curves that rise at one place, each by its own height, have a common step there") {
  for (const double border : {1.0, 2.0, 8.0, 30.0}) {
    const auto found = infer::common_step({drawn(step(border, 90)), drawn(step(border, 400), 0.5, 2), drawn(step(border, 60), 0.5, 3)});
    CHECK(found.before == border);
    CHECK(found.after == border + 1);
    CHECK(found.weight > 0.95);
  }
}

TEST_CASE("what a curve does behind its first step is its own") {
  const auto twice = [](double x) { return 90.0 * (x > 8) + 350.0 * (x > 29); };
  const auto falls = [](double x) { return x > 8 ? 80 - x : -x; };
  const auto found = infer::common_step({drawn(twice), drawn(falls, 0.5, 2), drawn(step(8, 400), 0.5, 3)});
  CHECK(found.before == 8);
  CHECK(found.weight > 0.99);
}

TEST_CASE("smooth curves, and noise, have no step") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CHECK(infer::common_step({drawn([](double) { return 0; }, 0.5, seed), drawn([](double x) { return 2 * x; }, 0.5, seed + 50)}).weight < 0.5);
    const auto bend = [](double x) { return x < 12 ? 0 : 3 * (x - 12); };
    CHECK(infer::common_step({drawn(bend, 0.5, seed)}).weight < 0.9);  // one curve hardly tells it from a small step
    CHECK(infer::common_step({drawn(bend, 0.5, seed), drawn([](double x) { return x < 20 ? 0 : 2 * (x - 20); }, 0.5, seed + 50)}).weight < 0.5);
  }
}

TEST_CASE("steps at different places are none in common") {
  CHECK(infer::common_step({drawn(step(5, 90)), drawn(step(12, 90), 0.5, 2), drawn(step(20, 90), 0.5, 3)}).weight < 0.05);
}

TEST_CASE("a curve that ends before the place has no say") {
  const auto found = infer::common_step({drawn(step(20, 90), 0.5, 1, 10), drawn(step(20, 90), 0.5, 2), drawn(step(20, 60), 0.5, 3)});
  CHECK(found.before == 20);
  CHECK(found.weight > 0.95);
}

TEST_CASE("places that were not measured lie within the step") {
  SteppedCurve coarse;
  coarse.noise = {0.5, true};
  for (int x = 4; x <= 64; x += 4) coarse.curve.x.push_back(x), coarse.curve.y.push_back(x > 17 ? 90 : 0);
  const auto found = infer::common_step({coarse});
  CHECK(found.before == 16);
  CHECK(found.after == 20);
}
