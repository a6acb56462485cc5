// SPDX-License-Identifier: Apache-2.0
// The models of a curve and how rivals are weighed: each model explains its own curve, and a curve decides between them
// as far as its noise allows.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/model/model_choice.h"
#include "tests/infer/table.h"

using namespace gexp;
using infer::CurveFit;
using infer::Weighed;
using infer::XyCurve;

namespace {

using Shape = std::function<double(double)>;

XyCurve drawn(const Shape& shape, double noise = 0, std::uint64_t seed = 1, int last = 32) {
  XyCurve curve;
  test::Noise draw(seed);
  for (int x = 1; x <= last; ++x) curve.x.push_back(x), curve.y.push_back(shape(x) + noise * draw());
  return curve;
}

const infer::CurveNoise kExact{0.05, true}, kUnknown{0.05, false};  // repetitions that agree to this, and none

std::vector<CurveFit> all_models(const XyCurve& curve) {
  return {infer::fit_constant(curve),
          infer::fit_line(curve),
          infer::fit_parabola(curve),
          infer::fit_hyperbola(curve),
          infer::fit_logarithm(curve),
          infer::fit_power(curve),
          infer::fit_saturating_hyperbola(curve),
          infer::fit_saturating_exponential(curve),
          infer::fit_joined_lines(curve),
          infer::fit_three_joined_lines(curve),
          infer::fit_steps(curve, 1),
          infer::fit_steps(curve, 2),
          infer::fit_line_with_step(curve)};
}

struct Case {
  const char* name;
  Shape shape;
};

const std::vector<Case> kCases = {
    {"a constant", [](double) { return 7.0; }},
    {"a straight line", [](double x) { return 3 + 2 * x; }},
    {"a parabola", [](double x) { return 3 + x * x; }},
    {"a + b / x", [](double x) { return 9 + 20 / x; }},
    {"a logarithm", [](double x) { return 9 + 20 * std::log(x); }},
    {"a power of x", [](double x) { return 4 + 2 * std::pow(x, 1.5); }},
    {"a x / (b + x)", [](double x) { return 80 * x / (9 + x); }},
    {"an exponential", [](double x) { return 80 * (1 - std::exp(-x / 6)); }},
    {"two joined lines", [](double x) { return std::min(4 * x, 40.0); }},
    {"three joined lines", [](double x) { return std::min(4 * x, 40.0) - std::max(0.0, 3 * (x - 22)); }},
    {"one step", [](double x) { return x < 12 ? 10.0 : 30.0; }},
    {"steps", [](double x) { return x < 12   ? 10.0
                                    : x < 20 ? 30.0
                                             : 80.0; }},
    {"a line with a step", [](double x) { return x + (x < 12 ? 0 : 30); }},
};

}  // namespace

TEST_CASE("each model explains the curve that it draws, and is chosen for it") {
  for (const auto& [name, shape] : kCases) {
    CAPTURE(name);
    const auto curve = drawn(shape);
    const auto weighed = infer::weigh(curve, kExact, all_models(curve));
    CHECK(weighed.front().fit.name == name);
    CHECK(weighed.front().fit.squares < 0.01);
  }
}

TEST_CASE("borders lie where the curve bends or jumps") {
  CHECK(infer::fit_joined_lines(drawn(kCases[8].shape)).borders.at(0) == doctest::Approx(10));
  const auto between = infer::fit_joined_lines(drawn([](double x) { return std::min(4 * x, 42.0); }));
  CHECK(between.borders.at(0) == doctest::Approx(10.5));
  const auto three = infer::fit_three_joined_lines(drawn(kCases[9].shape));
  CHECK(three.borders.at(0) == doctest::Approx(10).epsilon(0.005));
  CHECK(three.borders.at(1) == doctest::Approx(22).epsilon(0.005));
  CHECK(infer::fit_steps(drawn(kCases[10].shape), 1).borders.at(0) == doctest::Approx(11.5));
}

TEST_CASE("noise is not explained: the simple model is kept, and the right bend is found in it") {
  int constant = 0, bent = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto flat = drawn([](double) { return 50.0; }, 1, seed);
    const auto weighed = infer::weigh(flat, kUnknown, all_models(flat));
    constant += weighed.front().fit.name == "a constant" ? 1 : 0;
    for (const auto& each : weighed) CHECK((each.fit.name == "a constant" || each.weight < 0.9));
    const auto corner = drawn(kCases[8].shape, 1, seed);
    bent += infer::weigh(corner, kUnknown, all_models(corner)).front().fit.name == "two joined lines" ? 1 : 0;
  }
  CHECK(constant >= 14);
  CHECK(bent >= 17);
}

TEST_CASE("a curve that no model explains is none of these") {
  const auto zigzag = drawn([](double x) { return static_cast<int>(x * x) % 7 * 10.0; });
  CHECK(infer::weigh(zigzag, kExact, all_models(zigzag)).front().fit.name == infer::kNoneOfThese);
  CHECK(infer::weigh(zigzag, kUnknown, all_models(zigzag)).front().fit.name ==
        std::string("a constant"));  // without repetitions it may be noise
}

TEST_CASE("weights are of all rivals together, and a rival with as many parameters as points is none") {
  const auto curve = drawn(kCases[1].shape, 1);
  double sum = 0;
  for (const auto& each : infer::weigh(curve, kExact, all_models(curve))) sum += each.weight;
  CHECK(sum == doctest::Approx(1));
  const XyCurve two{{1, 2}, {1, 2}};
  for (const auto& each : infer::weigh(two, kExact, all_models(two)))
    CHECK((each.fit.name == "a constant" || each.fit.name == infer::kNoneOfThese));
}

TEST_CASE("what neighbours have in common is counted once") {
  CHECK(infer::independent_share({1, -1, 1, -1}) == doctest::Approx(1));
  CHECK(infer::independent_share({1, 1, 1, 1, 1, -1, -1, -1, -1, -1}) < 0.3);
  CHECK(infer::independent_share({0, 0}) == 1);
}

TEST_CASE("models of positive x leave other curves alone") {
  const XyCurve from_zero{{0, 1, 2, 3}, {1, 2, 3, 4}};
  CHECK_FALSE(infer::fitted(infer::fit_hyperbola(from_zero)));
  CHECK_FALSE(infer::fitted(infer::fit_logarithm(from_zero)));
  CHECK(infer::fitted(infer::fit_line(from_zero)));
}
