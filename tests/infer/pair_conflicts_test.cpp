// SPDX-License-Identifier: Apache-2.0
// Pairs of accesses that wait for each other: a bump on a falling curve.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/infer/model/falling_bump.h"
#include "tests/infer/table.h"

using namespace gexp;
using test::field;
using test::says;

namespace {

struct Pairs {
  int count = 60000, runs = 4;
  int one_in = 1000;      ///< a pair in so many waits
  double cost = 80, scatter = 6;
  double noise = 0.02;    ///< share of the values of a run that something else makes slow
  std::uint64_t seed = 1;
};

records::Table paired(const Pairs& made, std::set<int>* waiting = nullptr) {
  records::Table table;
  table.stage = "s", table.timed = "t";
  std::mt19937_64 engine(made.seed);
  std::exponential_distribution<double> usual(1 / 5.0), slow(1 / 120.0);
  std::normal_distribution<double> wait(made.cost, made.scatter);
  std::uniform_real_distribution<double> any(0, 1);
  std::vector<double> own;
  for (int i = 0; i < made.count; ++i) {
    const bool waits = made.one_in > 0 && i % made.one_in == made.one_in / 2;
    if (waits && waiting) waiting->insert(i);
    own.push_back(waits ? wait(engine) : usual(engine));
  }
  records::Point point;
  point.steps = made.count;
  for (int run = 0; run < made.runs; ++run) {
    records::Run one;
    for (const double value : own) {
      const double seen = value + usual(engine) / 2 + (any(engine) < made.noise ? slow(engine) : 0);
      one.ticks.push_back(static_cast<std::uint32_t>(std::lround(std::max(0.0, seen))));
    }
    point.runs.push_back(std::move(one));
  }
  table.points.push_back(std::move(point));
  return table;
}

infer::Finding ask_pairs(const records::Table& table) {
  return test::ask_in("  pattern ring = uniform(stride: 128B, span: 64KiB)\n  launch grid 1 block 1\n"
                      "  timed t each { chase A by ring laps 4 }\n",
                      table, "structure", "pair_conflicts(t)");
}

}  // namespace

TEST_CASE("a falling curve pools neighbours that rise") {
  const auto density = infer::model::falling_curve({4, 1, 3, 0});
  CHECK(density == std::vector<double>{0.5, 0.25, 0.25, 0});
}

TEST_CASE("a bump on a falling curve is found, and none where there is none") {
  std::vector<double> counts;
  for (int i = 0; i < 200; ++i) counts.push_back(std::round(20000 * std::exp(-i / 8.0)));
  const auto none = infer::model::find_bump(counts);
  CHECK((!none || none->gain <= 0));
  for (int i = 0; i < 200; ++i) counts[i] += std::round(8 * std::exp(-(i - 120) * (i - 120) / 50.0));
  const auto bump = infer::model::find_bump(counts);
  REQUIRE(bump);
  CHECK(bump->gain > 10);
  CHECK(bump->center == doctest::Approx(120).epsilon(0.02));
  CHECK(bump->width == doctest::Approx(5).epsilon(0.2));
}

TEST_CASE("pairs that wait for each other are told one by one") {
  std::set<int> waiting;
  const auto finding = ask_pairs(paired({}, &waiting));
  REQUIRE_MESSAGE(finding.status == infer::Finding::Status::Found, finding.why);
  CHECK(field(finding, "cost") == doctest::Approx(82).epsilon(0.05));
  CHECK(field(finding, "one_in") == doctest::Approx(1000).epsilon(0.1));
  CHECK(field(finding, "again") == 1);
  const auto* members = finding.value.get<Fields>()->at("members").get<List>();
  REQUIRE(members);
  std::set<int> told;
  for (const auto& member : *members) told.insert(static_cast<int>(member.get<Number>()->number));
  const auto right = std::count_if(told.begin(), told.end(), [&](int pair) { return waiting.contains(pair); });
  CHECK(static_cast<int>(told.size()) - right <= 1);
  CHECK(static_cast<int>(waiting.size()) - right <= 3);  // those of the largest and the least waits may be none
}

TEST_CASE("where no pair waits, none is told, however noisy the runs are") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5})
    CHECK(says(ask_pairs(paired({.one_in = 0, .noise = 0.2, .seed = seed})), "none stand out"));
}

TEST_CASE("one run does not show which pairs are slow again") { CHECK(says(ask_pairs(paired({.runs = 1})), "one run does not show")); }
