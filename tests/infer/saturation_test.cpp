// SPDX-License-Identifier: Apache-2.0
// Throughput curves drawn by hand, with and without noise: the knee, its interval, and when there is none to give.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/infer/table.h"

using namespace gexp;
using test::field;
using test::Noise;
using test::undetermined;
using test::mentions;

namespace {

using Shape = std::function<double(double)>;

const std::string kStage = "  sweep x in 1..64\n  sweep inflight in 32B..64KiB times 2\n  sweep g in 1..8\n  sweep y in [1B / 1cycle]\n"
                           "  launch grid 1 block 1\n  timed t total { load A at 0B }\n";

const auto kCorner = [](double x) { return std::min(4 * x, 80.0); };

records::Table rates(const std::vector<double>& xs, const Shape& shape, double share = 0, std::uint64_t seed = 1, double g = 1) {
  records::Table made;
  made.stage = "s", made.timed = "t", made.timing = records::Table::Timing::Total, made.columns = {"x", "g"};
  Noise noise(seed);
  for (const double x : xs) {
    const double y = shape(x) * (1 + share * noise());
    made.points.push_back(test::point_of({{"x", Value(x)}, {"inflight", Value(128 * x, kBytes)}, {"g", Value(g)}, {"y", Value(y, kBytes / kCycles)}}));
  }
  return made;
}

std::vector<double> steps(int last, int step = 1) {
  std::vector<double> xs;
  for (int x = step; x <= last; x += step) xs.push_back(x);
  return xs;
}

const std::vector<double> kDoubling = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

infer::Finding saturation(const records::Table& table, const std::string& rest = "") { return test::ask_in(kStage, table, "structure", "saturation(y over x" + rest + ")"); }

}  // namespace

TEST_CASE("a corner is found where its two lines meet, also between two x") {
  for (const auto& xs : {steps(64), steps(64, 3), kDoubling}) {
    const auto finding = saturation(rates(xs, kCorner));
    CAPTURE(finding.why);
    CHECK(field(finding, "plateau") == doctest::Approx(80));
    CHECK(field(finding, "slope") == doctest::Approx(4));
    CHECK(field(finding, "knee") == doctest::Approx(20));
    CHECK(field(finding, "low") <= 20.0001);
    CHECK(field(finding, "high") >= 19.9999);
  }
}

TEST_CASE("a gradual turn has the same asymptotes") {
  const auto soft = [](double x) { return std::pow(std::pow(4 * x, -2.0) + std::pow(80, -2.0), -0.5); };
  const auto finding = saturation(rates(steps(200, 4), soft));
  CAPTURE(finding.why);
  CHECK(field(finding, "plateau") == doctest::Approx(80).epsilon(0.03));
  CHECK(field(finding, "knee") == doctest::Approx(20).epsilon(0.05));
}

TEST_CASE("the interval holds the knee as often as it says") {
  for (const double share : {0.02, 0.05, 0.1}) {
    for (const auto& xs : {steps(32), steps(64, 4), steps(60, 2)}) {
      const double true_knee = 20;
      int held = 0, found = 0;
      double off = 0;
      for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const auto finding = saturation(rates(xs, kCorner, share, seed));
        if (undetermined(finding)) continue;
        ++found;
        held += field(finding, "low") <= true_knee && true_knee <= field(finding, "high") ? 1 : 0;
        off += std::fabs(field(finding, "knee") / true_knee - 1);
      }
      CAPTURE(share);
      CAPTURE(xs.size());
      CAPTURE(held);
      CAPTURE(found);
      CHECK(found >= 36);
      CHECK(held >= 0.9 * found);  // 95 % of 40 are 38, give or take 1.4
      CHECK(off < 1.5 * share * found + 0.02 * found);
    }
  }
}

TEST_CASE("Little's law is a statement about the same knee, whatever x counts") {
  const auto agrees = [](const infer::Finding& finding) { return *finding.value.get<Fields>()->at("agrees").get<bool>(); };
  const auto bytes = test::ask_in(kStage, rates(steps(64), kCorner), "structure", "saturation(y over inflight, latency: 32cycles)");
  CAPTURE(bytes.why);
  CHECK(field(bytes, "in_flight") == doctest::Approx(2560));
  CHECK(field(bytes, "ratio") == doctest::Approx(1).epsilon(0.02));
  CHECK(agrees(bytes));
  const auto warps = saturation(rates(steps(64), kCorner), ", latency: 32cycles, per: 128B");
  CHECK(agrees(warps));
  const auto late = saturation(rates(steps(64), kCorner), ", latency: 64cycles, per: 128B");
  CHECK_FALSE(agrees(late));
  CHECK(field(late, "ratio") == doctest::Approx(0.5).epsilon(0.02));
  const auto unknown = saturation(rates(steps(64), kCorner), ", latency: 32cycles");
  CHECK(mentions(unknown, "`per` would"));
  CHECK(std::isnan(field(unknown, "ratio")));
}

TEST_CASE("several curves are read one by one, and points of one x by the best of them") {
  auto table = rates(steps(32), kCorner, 0, 1, 1);
  for (auto& point : rates(steps(32), [](double x) { return std::min(8 * x, 160.0); }, 0, 1, 2).points) table.points.push_back(point);
  const auto both = saturation(table, " by g");
  CHECK(field(both, "plateau") == doctest::Approx(160));
  CHECK(both.value.get<Fields>()->at("groups").get<List>()->size() == 2);
  CHECK(field(saturation(table), "plateau") == doctest::Approx(160));
}

TEST_CASE("what has no knee is not given one") {
  CHECK(mentions(saturation(rates({1, 2, 4, 8}, kCorner)), "needs 6 different x"));
  CHECK(mentions(saturation(rates(steps(18), kCorner)), "still rises at its end"));
  CHECK(mentions(saturation(rates(steps(21), kCorner)), "still rises at its end"));
  CHECK(mentions(saturation(rates(kDoubling, [](double x) { return 10 * (1 + std::log2(x)); })), "rises at its end"));
  CHECK(mentions(saturation(rates(steps(32), [](double) { return 80.0; })), "does not rise"));
  CHECK(mentions(saturation(rates({16, 24, 32, 40, 48, 56, 64}, kCorner)), "reached at once"));
  CHECK(mentions(saturation(rates(steps(64), [](double x) { return std::min(20 * std::sqrt(x), 80.0); })), "no straight line"));
  CHECK(undetermined(saturation(rates(steps(64), [](double) { return 0.0; }))));
  CHECK(undetermined(saturation(rates(steps(64), kCorner, 0.5))));
}

TEST_CASE("a fall after the top is said, and the plateau before it is given when there is one") {
  const auto falls = saturation(rates(steps(64), [](double x) { return x > 50 ? 80 - 2 * (x - 50) : kCorner(x); }));
  CAPTURE(falls.why);
  CHECK(field(falls, "plateau") == doctest::Approx(80));
  CHECK(field(falls, "falls") == 55);
  const auto peak = saturation(rates(steps(64), [](double x) { return x > 30 ? 240 - 4 * x : 4 * x; }));
  CHECK(mentions(peak, "no plateau"));
  const auto only = saturation(rates(steps(64), [](double x) { return 100 / x; }));
  CHECK(undetermined(only));
}

TEST_CASE("one wild point moves nothing") {
  for (const std::size_t wild : {3u, 18u, 40u}) {
    auto table = rates(steps(64), kCorner, 0.02);
    table.points[wild].at["y"] = Value(300, kBytes / kCycles);
    const auto finding = saturation(table);
    CAPTURE(finding.why);
    CHECK(field(finding, "plateau") == doctest::Approx(80).epsilon(0.03));
    CHECK(field(finding, "knee") == doctest::Approx(20).epsilon(0.06));
  }
}

TEST_CASE("what is no plateau is not called one, however the sweep was chosen") {
  struct Bent {
    double beginning, end;
  };
  const std::vector<std::vector<double>> sweeps{steps(26), steps(32), steps(64), steps(64, 3), steps(64, 8), kDoubling, {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48}};
  int wrong = 0, all = 0;
  for (const auto& [beginning, end] : {Bent{1, 0.5}, {1, 0.3}, {1, 0.15}, {1, -0.3}, {0.5, 0}, {0.6, 0}, {1.5, 0}, {0.6, 0.2}}) {
    for (const auto& xs : sweeps) {
      if (beginning == 1 && std::fabs(end) * std::log(xs.back() / 20) < 0.1) continue;  // level as far as it goes
      for (const double share : {0.0, 0.01, 0.03}) {
        for (std::uint64_t seed = 1; seed <= (share > 0 ? 3 : 1); ++seed) {
          const auto finding = saturation(rates(xs, [&](double x) { return 80 * std::pow(x / 20, x < 20 ? beginning : end); }, share, seed));
          const bool claims = !undetermined(finding) && finding.confidence >= 0.95;
          ++all, wrong += claims;
        }
      }
    }
  }
  CAPTURE(all);
  CHECK(wrong <= 0.05 * all);
  for (const auto& xs : sweeps) {
    CHECK(undetermined(saturation(rates(xs, [](double x) { return 30 * std::log1p(x); }, 0.01))));
    CHECK(undetermined(saturation(rates(xs, [](double x) { return 12 * std::sqrt(x); }, 0.01))));
  }
}

TEST_CASE("noise on half of the points widens the interval, and moves nothing") {
  int held = 0, found = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto table = rates(steps(64), kCorner, 0.005, seed);
    Noise noise(seed + 100);
    for (std::size_t i = 0; i < table.points.size(); i += 2) {
      auto& y = table.points[i].at["y"];
      y = Value(y.get<Number>()->number * (1 + 0.15 * noise()), kBytes / kCycles);
    }
    const auto finding = saturation(table);
    if (undetermined(finding)) continue;
    ++found, held += field(finding, "low") <= 20 && 20 <= field(finding, "high");
  }
  CHECK(found >= 15);
  CHECK(held >= 0.9 * found);
}
