// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "compiler/plan/calibrate.h"
#include "runtime/measure/point_runner.h"

using namespace gexp;

namespace {

/// What a launch would tell of a hit of `latency` and a region that costs 9 cycles more, a chain's own 20; `load` is one load's time.
template <class Load> std::vector<std::uint32_t> told(Load load) {
  std::vector<std::uint32_t> words;
  const auto chain = [&](int loads, double own) {
    double time = own;
    for (int i = 0; i < loads; ++i) time += load();
    words.push_back(static_cast<std::uint32_t>(time));
  };
  for (int i = 0; i < compiler::kChainTimes; ++i) chain(compiler::kShortChain, 20);
  for (int i = 0; i < compiler::kChainTimes; ++i) chain(compiler::kLongChain, 20);
  for (int i = 0; i < compiler::kRegionTimes; ++i) chain(1, 9);
  return words;
}

}  // namespace

TEST_CASE("a region's cost is exact where loads are, whatever the first pass took") {
  auto words = told([] { return 33.0; });
  CHECK(measure::region_cost(words).cycles == 9);
  words[0] += 700, words[compiler::kChainTimes] += 1000, words[2 * compiler::kChainTimes] += 400;
  CHECK(measure::region_cost(words).cycles == 9);
  words[compiler::kChainTimes + 5] += 3;  // one time that is a little off does not make it a fraction
  CHECK(measure::region_cost(words).cycles == 9);
  std::fill(words.begin(), words.begin() + 2 * compiler::kChainTimes, 0);
  CHECK(measure::region_cost(words).cycles == 42);  // no chain: what the region took
}

TEST_CASE("a region's cost under jitter and tails, on average of some launches") {
  std::mt19937_64 random(5);
  std::normal_distribution<double> jitter(0, 4);
  std::uniform_real_distribution<double> chance(0, 1);
  double sum = 0;
  for (int launch = 0; launch < 100; ++launch) sum += measure::region_cost(told([&] { return 110 + jitter(random) + (chance(random) < 0.02 ? 300 : 0); })).cycles;
  CHECK(std::fabs(sum / 100 - 9) < 1);
}

TEST_CASE("noise on half of the loads does not move a region's cost, and its error says how far one launch may be off") {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> chance(0, 1);
  double sum = 0, squares = 0, errors = 0;
  for (int launch = 0; launch < 400; ++launch) {
    const auto cost = measure::region_cost(told([&] { return 40 + (chance(random) < 0.5 ? 19 : 0); }));
    sum += cost.cycles - 9, squares += (cost.cycles - 9) * (cost.cycles - 9), errors += cost.error * cost.error;
  }
  CHECK(std::fabs(sum / 400) < 0.5);
  CHECK(std::sqrt(squares / 400) == doctest::Approx(std::sqrt(errors / 400)).epsilon(0.4));
  CHECK(measure::region_cost(told([] { return 40.0; })).error == 0);
}
