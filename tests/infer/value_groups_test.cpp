// SPDX-License-Identifier: Apache-2.0
// Levels of values: as many as noise does not explain.
#include <doctest/doctest.h>

#include "runtime/infer/model/value_groups.h"
#include "tests/infer/table.h"

using namespace gexp;
using infer::value_groups;

namespace {

std::vector<double> drawn(const std::vector<double>& levels, std::size_t each, double noise, std::uint64_t seed = 1) {
  std::vector<double> values;
  test::Noise draw(seed);
  for (const double level : levels) {
    for (std::size_t i = 0; i < each; ++i) values.push_back(level + noise * draw());
  }
  return values;
}

std::vector<double> centres(const infer::ValueGroups& made) {
  std::vector<double> all;
  for (const auto& group : made.groups) all.push_back(group.centre);
  return all;
}

}  // namespace

TEST_CASE("values of a few levels are as many groups, however many there are of each") {
  CHECK(centres(value_groups({198, 204, 198, 257, 198, 204}, {0.3, true})) == std::vector<double>{198, 204, 257});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto made = value_groups(drawn({100, 110, 140}, 30, 1, seed), {1, true});
    CHECK(made.groups.size() == 3);
    CHECK(made.weight > 0.95);
    CHECK_FALSE(made.all_alone);
  }
}

TEST_CASE("noise of one level is not cut, whether repetitions show how large it is or not") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CHECK(value_groups(drawn({100}, 200, 1, seed), {1, true}).groups.size() == 1);
    CHECK(value_groups(drawn({100}, 200, 5, seed), {1, false}).groups.size() == 1);
  }
}

TEST_CASE("neighbours that are near one another do not chain what is far apart") {
  std::vector<double> ramp;
  for (int i = 0; i < 40; ++i) ramp.push_back(100 + i);
  const auto made = value_groups(ramp, {0.1, true});
  CHECK(made.all_alone);
  CHECK(made.groups.size() == 40);
}

TEST_CASE("a centre is a value that was seen") {
  CHECK(centres(value_groups({10, 20}, {100, true})) == std::vector<double>{20});
}
