// SPDX-License-Identifier: Apache-2.0
// Plain shapes of a curve, drawn by hand: what is found, how sure, and what is not found.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/infer/table.h"

using namespace gexp;
using infer::Finding;
using test::Noise;
using test::undetermined;
using test::says, test::number;

namespace {

using Shape = std::function<double(double)>;

const std::string kStage =
    "  sweep x in 1..64\n  sweep g in 1..8\n  sweep y in [1cycles]\n  launch grid 1 block 1\n  timed t total { load A "
    "at 0B }\n";

records::Table curve(const std::vector<double>& xs, const Shape& shape, double noise = 0, std::uint64_t seed = 1,
                     double g = 1) {
  records::Table made;
  made.stage = "s", made.timed = "t", made.timing = records::Table::Timing::Total, made.columns = {"x", "g"};
  Noise draw(seed);
  for (const double x : xs)
    made.points.push_back(
        test::point_of({{"x", Value(x)}, {"g", Value(g)}, {"y", Value(shape(x) + noise * draw(), kCycles)}}));
  return made;
}

records::Table joined(records::Table a, const records::Table& b) {
  a.points.insert(a.points.end(), b.points.begin(), b.points.end());
  return a;
}

std::vector<double> upto(int last, int step = 1) {
  std::vector<double> xs;
  for (int x = step; x <= last; x += step) xs.push_back(x);
  return xs;
}

const std::vector<double> kUneven = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
const auto kCorner = [](double x) { return std::min(40 * x, 800.0); };

Finding ask_count(const records::Table& table, const std::string& question) {
  return test::ask_in(kStage, table, "count", question);
}
Finding knee(const records::Table& table, const std::string& rest = "") {
  return ask_count(table, "knee(y over x" + rest + ")");
}

}  // namespace

TEST_CASE("a knee is where two lines meet, up to the x beside it") {
  for (const auto& xs : {upto(64), upto(64, 4), kUneven}) {
    const auto finding = knee(curve(xs, kCorner));
    CAPTURE(xs.size());
    CHECK(std::fabs(number(finding) - 20) <= 4);
    REQUIRE(finding.interval);
    CHECK(finding.interval->first < 20);
    CHECK(finding.interval->second > 20);
    CHECK(finding.confidence > 0.95);
  }
}

TEST_CASE("a curve that turns gradually has no knee, however two lines cross") {
  const std::vector<Shape> smooth = {[](double x) { return 100 + 900 / x; },
                                     [](double x) { return 1000 * x / (20 + x); },
                                     [](double x) { return 1000 * (1 - std::exp(-x / 20)); },
                                     [](double x) { return 100 * std::sqrt(x); },
                                     [](double x) { return 200 * std::log(x) + 10; },
                                     [](double x) { return 500 + x; },
                                     [](double) { return 400.0; },
                                     [](double x) { return x * x; }};
  for (std::size_t i = 0; i < smooth.size(); ++i) {
    CAPTURE(i);
    for (const auto& xs : {upto(64), upto(64, 4), kUneven}) {
      CHECK(undetermined(knee(curve(xs, smooth[i]))));
      for (std::uint64_t seed = 1; seed <= 5; ++seed) CHECK(undetermined(knee(curve(xs, smooth[i], 8, seed))));
    }
  }
}

TEST_CASE("a jump is no knee, and two bends are told apart") {
  CHECK(says(knee(curve(upto(64), [](double x) { return x < 20 ? 100.0 : 400.0; })), "one step"));
  CHECK(says(knee(curve(upto(64), [](double x) { return kCorner(x) - std::max(0.0, 20 * (x - 50)); })), "bends twice"));
}

TEST_CASE("a line is a line however few its points are, and a curve of another shape is none") {
  const auto line = [](const records::Table& table, const char* question = "linear(y over x)", const char* type = "line") { return test::ask_in(kStage, table, type, question); };
  for (const int points : {3, 4, 8, 64}) {
    CAPTURE(points);
    const auto finding = line(curve(upto(points), [](double x) { return 40 + 3 * x; }));
    REQUIRE_MESSAGE(finding.status == Finding::Status::Found, finding.why);
    CHECK(test::field(finding, "slope") == doctest::Approx(3));
    CHECK(finding.confidence > 0.97);
    CHECK(line(curve(upto(points), [](double x) { return 4000 + 300 * x; }, 2)).status == Finding::Status::Found);
  }
  const std::vector<Shape> others = {[](double x) { return x * x; }, [](double x) { return 100 + 900 / x; }, [](double x) { return x < 20 ? 100.0 : 400.0; }, kCorner};
  for (std::size_t i = 0; i < others.size(); ++i) {
    CAPTURE(i);
    CHECK(says(line(curve(upto(64), others[i])), "no line"));
    CHECK(undetermined(line(joined(curve(upto(64), others[i], 0, 1, 1), curve(upto(64), [](double x) { return 5 * x; }, 0, 1, 2)), "slopes(y over x by g)", "list")));
  }
}

TEST_CASE("a knee needs points on both sides") {
  CHECK(undetermined(knee(curve(upto(20), kCorner))));
  CHECK(undetermined(knee(curve(upto(21), kCorner))));
  CHECK(undetermined(knee(curve({18, 22, 26, 30, 34, 38, 42}, kCorner))));
  CHECK(says(knee(curve({1, 2, 3, 40, 50}, kCorner)), "6 different x"));
  CHECK(says(knee(joined(curve(upto(5), kCorner), curve(upto(5), kCorner))),
             "6 different x"));  // twice the same x are no more x
}

TEST_CASE("the knee's interval holds it as often as it says, and repeated x do not make it narrow") {
  for (const double noise : {8.0, 24.0}) {
    int held = 0, given = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      auto table = curve(upto(48), kCorner, noise, seed);
      table = joined(std::move(table), curve(upto(48), kCorner, noise, seed + 100));
      const auto finding = knee(table);
      if (undetermined(finding)) continue;
      ++given;
      CHECK(finding.interval->second - finding.interval->first >= 1);
      held += finding.interval->first <= 20 && 20 <= finding.interval->second ? 1 : 0;
    }
    CAPTURE(noise);
    CHECK(given >= 30);
    CHECK(held >= 0.92 * given);
  }
}

TEST_CASE("records that repeat exactly are one observation, not many") {
  auto table = curve(kUneven, kCorner);
  auto again = table;
  for (auto& point : again.points) point.runs.insert(point.runs.end(), 20, point.runs[0]);
  CHECK(knee(again).confidence == doctest::Approx(knee(table).confidence));
}

TEST_CASE("curves by a value have one knee only where they agree on it") {
  const auto later = [](double x) { return std::min(20 * x, 800.0); };
  const auto higher = [](double x) { return std::min(80 * x, 1600.0); };
  CHECK(number(knee(joined(curve(upto(64), kCorner), curve(upto(64), higher, 0, 1, 2)), " by g")) == 20);
  CHECK(says(knee(joined(curve(upto(64), kCorner), curve(upto(64), later, 0, 1, 2)), " by g"), "different knees"));
}

TEST_CASE("a period is the shift after which a curve repeats, exactly or within its noise") {
  const auto period = [](const records::Table& table) { return ask_count(table, "period(y over x)"); };
  const auto wave = [](double x) { return 100 + 40 * std::sin(2 * 3.14159265 * x / 7); };
  const auto teeth = [](double x) { return std::fmod(x, 8) == 0 ? 300.0 : 100.0; };
  CHECK(number(period(curve(upto(64), teeth))) == 8);
  CHECK(period(curve(upto(64), teeth)).confidence > 0.99);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) CHECK(number(period(curve(upto(64), wave, 2, seed))) == 7);
}

TEST_CASE("what repeats not, or less than twice, has no period") {
  const auto period = [](const records::Table& table) { return ask_count(table, "period(y over x)"); };
  CHECK(says(period(curve(upto(64), [](double) { return 100.0; })), "constant"));
  CHECK(says(period(curve(upto(64), [](double x) { return std::fmod(x, 40) == 0 ? 300.0 : 100.0; })), "does not repeat"));
  for (std::uint64_t seed = 1; seed <= 10; ++seed) CHECK(undetermined(period(curve(upto(64), [](double) { return 100.0; }, 10, seed))));
}

TEST_CASE("where a curve is highest") {
  const auto hill = [](double x) { return 1000 - (x - 24) * (x - 24); };
  const auto at = [](const records::Table& table) { return ask_count(table, "highest_at(y over x) need 50%"); };
  CHECK(number(at(curve(kUneven, hill))) == 24);
  CHECK(at(curve(kUneven, hill)).confidence == 0.95);
  CHECK(number(at(curve(kUneven, [](double x) { return std::min(x, 12.0); }))) == 12);  // of several the first
  const auto rising = at(curve(kUneven, [](double x) { return x; }));
  CHECK(number(rising) == 128);
  CHECK(rising.confidence == 0.5);
  CHECK(says(ask_count(curve(kUneven, [](double x) { return x; }), "highest_at(y over x)"), "still rises there"));
}

TEST_CASE("a top at the end of one sweep that another point reaches before that end") {
  const auto level = [](double g, double top) { return curve(kUneven, [=](double x) { return std::min(g * x, top); }, 0, 1, g); };
  const auto at = [](const records::Table& table) { return ask_count(table, "highest_at(y over x) need 50%"); };
  // At g = 1 the curve rises to its end, x = 128, where it is 0.2 % above the level that g = 4 has from x = 32 on: there is no more.
  const auto found = at(joined(level(1, 128.2), level(4, 127.8)));
  CHECK(found.confidence == 0.95);
  // The level of g = 4 is 6 % lower: a longer x may show more.
  CHECK(at(joined(level(1, 128.2), level(4, 120))).confidence == 0.5);
}
