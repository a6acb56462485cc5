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

/// How far costs of so many launches lie from the truth, on average and by scatter, and how far they say that they do.
struct Deviation {
  double mean = 0, scatter = 0, told = 0;
};
template <class Load> Deviation deviation(int launches, Load load) {
  constexpr int kTries = 300;
  double sum = 0, squares = 0, errors = 0;
  for (int i = 0; i < kTries; ++i) {
    std::vector<std::uint32_t> words;
    for (int launch = 0; launch < launches; ++launch) {
      const auto one = told(load);
      words.insert(words.end(), one.begin(), one.end());
    }
    const auto cost = measure::region_cost(words);
    sum += cost.cycles - 9, squares += (cost.cycles - 9) * (cost.cycles - 9), errors += cost.error * cost.error;
  }
  return {sum / kTries, std::sqrt(squares / kTries), std::sqrt(errors / kTries)};
}

TEST_CASE("noise on some of the loads does not move a region's cost, and its error says how far some launches may be off") {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> chance(0, 1);
  struct Noise {
    double share, cycles;
  };
  for (const auto [share, cycles] : {Noise{0.05, 100}, Noise{0.1, 30}, Noise{0.3, 40}, Noise{0.5, 19}, Noise{0.5, 40}, Noise{0.7, 40}}) {
    CAPTURE(share);
    CAPTURE(cycles);
    const auto cost = deviation(7, [&, share = share, cycles = cycles] { return 100 + (chance(random) < share ? cycles : 0); });
    CHECK(std::fabs(cost.mean) < 0.5);
    CHECK(cost.scatter == doctest::Approx(cost.told).epsilon(0.4));
  }
  CHECK(measure::region_cost(told([] { return 40.0; })).error == 0);
}

TEST_CASE("noise of reading the clock is one of a chain, however long it is") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> jitter(0, 8);
  double sum = 0;
  for (int launch = 0; launch < 300; ++launch) {
    auto words = told([] { return 100.0; });
    for (auto& word : words) word = static_cast<std::uint32_t>(std::lround(word + jitter(random)));
    sum += measure::region_cost(words).cycles;
  }
  CHECK(std::fabs(sum / 300 - 9) < 0.5);
}
