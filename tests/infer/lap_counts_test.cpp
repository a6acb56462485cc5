// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/lap_counts.h"

#include <doctest/doctest.h>

#include <array>

using gexp::infer::model::LapCounts;

TEST_CASE("laps are counted 64 at once as they are one by one") {
  LapCounts counts;
  std::array<int, 128> one_by_one{};
  std::uint64_t chance = 1;
  std::vector<std::pair<std::size_t, std::uint64_t>> put;
  const auto check = [&] {
    for (std::size_t lap = 0; lap < one_by_one.size(); ++lap) {
      CHECK((counts.any(lap / 64) >> lap % 64 & 1) == (one_by_one[lap] > 0 ? 1 : 0));
    }
  };
  const auto add = [&](std::size_t word, std::uint64_t laps, int step) {
    counts.add(word, laps, step);
    for (std::size_t bit = 0; bit < 64; ++bit) one_by_one[word * 64 + bit] += (laps >> bit & 1) != 0 ? step : 0;
  };
  for (int i = 0; i < 40; ++i) {
    chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
    put.emplace_back(i % 2, chance ^ chance >> 29);
    add(put.back().first, put.back().second, 1);
    check();
  }
  for (const auto& [word, laps] : put) add(word, laps, -1), check();
  CHECK((counts.any(0) | counts.any(1)) == 0);
}
