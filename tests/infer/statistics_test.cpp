// SPDX-License-Identifier: Apache-2.0
// The robust statistics that analyses argue with.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/infer/statistics.h"
#include "tests/infer/table.h"

using namespace gexp::infer;
using gexp::test::Noise;

TEST_CASE("a few wild values move neither the spread nor the slope") {
  std::vector<double> values;
  std::vector<std::pair<double, double>> points;
  Noise noise(3);
  for (int i = 0; i < 400; ++i) values.push_back(10 + 2 * noise());
  CHECK(robust_spread(values) == doctest::Approx(2).epsilon(0.12));
  for (int i = 0; i < 40; ++i) values[static_cast<std::size_t>(i)] = 1e6;
  CHECK(robust_spread(values) == doctest::Approx(2).epsilon(0.3));
  CHECK(robust_spread({}) == 0);
  for (int i = 0; i < 20; ++i) points.emplace_back(i, 3 * i + (i % 5 == 0 ? 500 : 0));
  CHECK(median_slope(points) == doctest::Approx(3).epsilon(0.05));
  CHECK(median_slope({{1, 2}, {1, 3}}) == 0);
}

TEST_CASE("quantiles lie straight between neighbours") {
  CHECK(quantile({1, 2, 3, 4}, 0.5) == 2.5);
  CHECK(quantile({1, 2, 3, 4}, 0) == 1);
  CHECK(quantile({1, 2, 3, 4}, 1) == 4);
  CHECK(quantile({7}, 0.3) == 7);
}

TEST_CASE("resamples are the same in every run, and of the values given") {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  Bootstrap one(9), same(9), other(10);
  const auto drawn = one.draw(values);
  CHECK(drawn == same.draw(values));
  CHECK(one.draw(values) != drawn);
  CHECK(other.draw(values) != drawn);
  for (const double value : drawn) CHECK(std::find(values.begin(), values.end(), value) != values.end());
}
