// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/calibration.h"

#include <doctest/doctest.h>

#include <cmath>

using gexp::measure::Claim;
using gexp::measure::reliability;

TEST_CASE("log-loss and Brier score are those of what was stated") {
  const auto made = reliability({{0.9, true}, {0.8, false}});
  CHECK(made.claims == 2);
  CHECK(made.wrong == 1);
  CHECK(made.log_loss == doctest::Approx((-std::log(0.9) - std::log(0.2)) / 2));
  CHECK(made.brier == doctest::Approx((0.01 + 0.64) / 2));
}

TEST_CASE("a claim without doubt that is wrong costs much, and not infinitely much") {
  CHECK(reliability({{1, false}}).log_loss == doctest::Approx(-std::log(1e-6)));
  CHECK(reliability({{1, true}}).log_loss == doctest::Approx(0).epsilon(1e-5));
}

TEST_CASE("claims fall into bins of stated confidence, of which those without claims are left out") {
  const auto made = reliability({{0.96, true}, {0.98, true}, {0.98, false}, {1, true}});
  REQUIRE(made.bins.size() == 2);
  CHECK(made.bins[0].from == 0.95);
  CHECK(made.bins[0].claims == 3);
  CHECK(made.bins[0].wrong == 1);
  CHECK(made.bins[0].stated == doctest::Approx((0.96 + 0.98 + 0.98) / 3));
  CHECK(made.bins[1].from == 0.9999);
}

TEST_CASE("a bin's share has the interval of Wilson") {
  const auto made = reliability(std::vector<Claim>(10, {0.97, true}));
  CHECK(made.bins[0].low == doctest::Approx(0.7225).epsilon(1e-3));  // 10 of 10: Wilson 1927, z = 1.96
  CHECK(made.bins[0].high == doctest::Approx(1).epsilon(1e-6));
}

TEST_CASE("no claims have no bins and no loss") {
  const auto made = reliability({});
  CHECK(made.bins.empty());
  CHECK(made.log_loss == 0);
}
