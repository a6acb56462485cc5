// SPDX-License-Identifier: Apache-2.0
// The interval at which accesses have to wait, of when each began and how long it took.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/infer/table.h"

using namespace gexp;
using test::field;
using test::says;
using test::undetermined;

namespace {

struct Refreshed {
  double interval = 3888, lasts = 600;  ///< cycles; 0: no refresh
  int every = 1;                        ///< only each so-manieth concerns these lines
  double drift = 0;                     ///< share by which the clock is faster at the end
  double tail = 0;                      ///< share of accesses that wait by chance
  double pause = 4096;                  ///< cycles between two accesses, at most
  int points = 4, count = 4000;
  std::uint64_t seed = 1;
};

records::Table refreshed(const Refreshed& made) {
  records::Table table;
  table.stage = "s", table.timed = "t", table.columns = {"line"};
  std::mt19937_64 engine(made.seed);
  std::normal_distribution<double> scatter(0, 6);
  std::uniform_real_distribution<double> any(0, 1);
  for (int line = 0; line < made.points; ++line) {
    records::Point point;
    point.at["line"] = Value(static_cast<double>(line));
    records::Run run;
    std::vector<std::uint32_t> took;
    double now = 1000 + 500 * any(engine);
    for (int i = 0; i < made.count; ++i) {
      const double interval = made.interval * made.every * (1 + made.drift * i / made.count);
      const double phase = std::fmod(now, interval);
      const double wait = made.lasts > 0 && phase < made.lasts ? made.lasts - phase : 0;
      const double latency = 550 + 40 * line + scatter(engine) + wait + (any(engine) < made.tail ? 400 * any(engine) : 0);
      run.ticks.push_back(static_cast<std::uint32_t>(static_cast<std::uint64_t>(now)));
      took.push_back(static_cast<std::uint32_t>(std::lround(latency)));
      now += latency + 600 + made.pause * any(engine);
    }
    run.ticks.insert(run.ticks.end(), took.begin(), took.end());
    point.steps = static_cast<std::int64_t>(run.ticks.size());
    point.runs.push_back(std::move(run));
    table.points.push_back(std::move(point));
  }
  return table;
}

infer::Finding ask_interval(const records::Table& table) {
  return test::ask_in("  sweep line in 0..3\n  pattern ring = uniform(stride: 128B, span: 64KiB)\n  launch grid 1 block 1\n"
                      "  timed t each { chase A by ring laps 4 }\n",
                      table, "structure", "recurrence(t)");
}

}  // namespace

TEST_CASE("the interval between refreshes, how long they make wait, and what part of the accesses") {
  const auto finding = ask_interval(refreshed({}));
  REQUIRE(finding.status == infer::Finding::Status::Found);
  CHECK(field(finding, "interval") == doctest::Approx(3888).epsilon(0.002));
  CHECK(field(finding, "predicted") > 0.9);
  CHECK(field(finding, "wait") > 300);
  CHECK(field(finding, "wait") < 700);
}

TEST_CASE("an interval is not told as two or three of its kind, nor as a part") {
  for (const int every : {2, 3}) {
    const auto finding = ask_interval(refreshed({.every = every, .seed = 5}));
    REQUIRE(finding.status == infer::Finding::Status::Found);
    CHECK(field(finding, "interval") == doctest::Approx(3888 * every).epsilon(0.002));
  }
}

TEST_CASE("a clock that drifts a little, and accesses that wait by chance, leave the interval") {
  const auto finding = ask_interval(refreshed({.drift = 0.0003, .tail = 0.05, .seed = 3}));
  REQUIRE(finding.status == infer::Finding::Status::Found);
  CHECK(field(finding, "interval") == doctest::Approx(3888).epsilon(0.002));
}

TEST_CASE("a loop that keeps step with the refresh does not tell its interval") {
  const auto finding = ask_interval(refreshed({.pause = 40}));
  CHECK(says(finding, "keep step"));
}

TEST_CASE("accesses that wait by chance recur at no interval") {
  for (const std::uint64_t seed : {1, 2, 3}) CHECK(undetermined(ask_interval(refreshed({.lasts = 0, .tail = 0.2, .seed = seed}))));
}
