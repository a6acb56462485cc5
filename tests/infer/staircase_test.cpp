// SPDX-License-Identifier: Apache-2.0
// Staircases drawn by hand: the width of their steps, how sure, and curves that have none.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/infer/table.h"

using namespace gexp;
using infer::Finding;
using test::Noise;
using test::undetermined;
using test::says, test::number;

namespace {

using Height = std::function<double(double)>;

const std::string kStairs = "  sweep x in 1..64\n  sweep y in [1cycles]\n  launch grid 1 block 1\n  timed t total { load A at 0B }\n";

/// y of x = 0, step, 2 step, … up to `last`, with normal noise.
Finding width(const Height& shape, double last, double step = 4, double noise = 0, std::uint64_t seed = 1) {
  records::Table made;
  made.stage = "s", made.timed = "t", made.timing = records::Table::Timing::Total, made.columns = {"x"};
  Noise draw(seed);
  for (double x = 0; x <= last; x += step) made.points.push_back(test::point_of({{"x", Value(x)}, {"y", Value(1000 + shape(x) + noise * draw(), kCycles)}}));
  return test::ask_in(kStairs, made, "count", "step_width(y over x)");
}

/// Steps as wide as `wide`, the first at `from`, each `rise` high; after `most` of them the curve is level.
Height stairs(double wide, double from = 32, double rise = 50, double most = 1e9) {
  return [=](double x) { return x < from ? 0 : rise * std::min(most, std::floor((x - from) / wide) + 1); };
}

}  // namespace

TEST_CASE("the width of equal steps, of steps that grow, and of steps that end") {
  for (const double wide : {12.0, 32.0, 64.0}) {
    CHECK(number(width(stairs(wide), 8 * wide)) == wide);
    CHECK(number(width([&](double x) { const double step = stairs(wide)(x) / 50; return 20 * step + 8 * step * step; }, 8 * wide)) == wide);
    CHECK(number(width(stairs(wide, 40, 50, 6), 12 * wide)) == wide);
  }
}

TEST_CASE("a step more makes it surer, and with two rises any widths are as good") {
  double before = 0;
  for (const double rises : {3.0, 4.0, 6.0}) {
    const auto finding = width(stairs(32, 32, 50), 32 * rises + 31);
    CAPTURE(finding.why);
    CHECK(finding.confidence >= before);
    before = finding.confidence;
  }
  CHECK(before > 0.99);
  CHECK(undetermined(width(stairs(32), 95)));
}

TEST_CASE("noise neither hides steps that are higher nor makes some") {
  int right = 0, wrong = 0, made = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto finding = width(stairs(32), 320, 4, 5, seed);
    if (finding.status == Finding::Status::Found) ++(number(finding) == 32 ? right : wrong);
    made += undetermined(width([](double) { return 0; }, 320, 4, 5, seed)) ? 0 : 1;
    made += undetermined(width([](double x) { return x; }, 320, 4, 5, seed)) ? 0 : 1;
    made += undetermined(width([](double x) { return 100000 / (x + 100); }, 320, 4, 5, seed)) ? 0 : 1;
  }
  CHECK(right >= 18);
  CHECK(wrong == 0);
  CHECK(made == 0);
}

TEST_CASE("a rise that one step lacks, and a step of another width") {
  CHECK(number(width([](double x) { return std::floor(x / 32) == 4 ? stairs(32, 32)(x - 32) : stairs(32)(x); }, 352)) == 32);
  CHECK(undetermined(width([](double x) { return 50.0 * ((x >= 32) + (x >= 52) + (x >= 104) + (x >= 120) + (x >= 180)); }, 240)));
}

TEST_CASE("a sweep that the width is no multiple of bounds it") {
  const auto finding = width(stairs(32), 480, 12);
  REQUIRE_MESSAGE(finding.status == Finding::Status::Found, finding.why);
  REQUIRE(finding.interval);
  CHECK(finding.interval->first < 32);
  CHECK(finding.interval->second > 32);
  CHECK(finding.interval->second - finding.interval->first < 4);
  CHECK(!finding.exact);
}

TEST_CASE("steps narrower than the sweep's are a line, and a sweep that shows each of them once gives no width") {
  CHECK(undetermined(width(stairs(2, 0), 320, 4)));
  CHECK(undetermined(width(stairs(4, 0), 320, 4)));
  CHECK(undetermined(width([](double x) { const double step = std::floor(x / 4); return 20 * step + step * step * step; }, 160, 4)));
}

TEST_CASE("curves without steps of one width") {
  CHECK(says(width([](double) { return 0; }, 320), "rises nowhere"));
  CHECK(says(width(stairs(1000), 320), "rises once"));
  CHECK(says(width([](double x) { return -2 * x; }, 320), "falls as x grows"));
  CHECK(undetermined(width([](double x) { return -stairs(32)(x); }, 320)));
  CHECK(undetermined(width([](double x) { return std::fmod(x, 64) < 32 ? 0 : 50; }, 640)));
  CHECK(undetermined(width([](double x) { return x; }, 8)));  // three points
  Noise wild(3);
  CHECK(undetermined(width([&](double x) { return static_cast<int>(x / 4) % 2 ? 200 * wild() : stairs(32)(x); }, 320)));  // noise on half of them
}
