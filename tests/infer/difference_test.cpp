// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/difference.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace gexp::infer;

namespace {

Agreement one(std::vector<double> a, std::vector<double> b, double resolution = 0) {
  Tolerance tolerance;
  tolerance.resolution = resolution;
  return differences({{std::move(a), std::move(b)}}, tolerance).at(0).agreement;
}

}  // namespace

TEST_CASE("values without scatter are exact") {
  CHECK(one({100, 100}, {100, 100}) == Agreement::Same);
  CHECK(one({100, 100}, {101, 101}) == Agreement::Same);
  CHECK(one({100, 100}, {103, 103}) == Agreement::Different);
  CHECK(one({0, 0}, {0, 0, 0}) == Agreement::Same);
  CHECK(one({0, 0}, {1, 1}) == Agreement::Different);
}

TEST_CASE("one cycle is what a clock can tell") {
  CHECK(one({33, 33, 33}, {34, 34, 34}) == Agreement::Different);
  CHECK(one({33, 33, 33}, {34, 34, 34}, 1) == Agreement::Same);
}

TEST_CASE("one repetition decides nothing, but what is equal is the same") {
  CHECK(one({100}, {100}) == Agreement::Same);
  CHECK(one({100}, {150}) == Agreement::Ambiguous);
  CHECK(one({100}, {101}) == Agreement::Ambiguous);
  CHECK(one({}, {101}) == Agreement::Ambiguous);
}

TEST_CASE("Welch's interval of two textbook samples") {
  // Difference 4, errors² 1/3 + 4/3, freedom (5/3)² / ((1/3)²/2 + (4/3)²/2) = 2.9412, t(0.995) = 5.9484.
  const auto all = differences({{{9, 10, 11}, {12, 14, 16}}}, {0.02, 0, 0, 0.01});
  CHECK(all[0].high - all[0].low == doctest::Approx(2 * 5.9484 * std::sqrt(5.0 / 3)).epsilon(0.002));
  CHECK(all[0].agreement == Agreement::Ambiguous);
}

TEST_CASE("more pairs need more evidence; a disturbed run in ten decides nothing") {
  const Pair apart{{100, 101, 99, 100, 100}, {107, 108, 106, 107, 107}}, alike{{100, 101, 99, 100, 100}, {101, 100, 99, 100, 100}};
  CHECK(differences({apart}, {})[0].agreement == Agreement::Different);
  std::vector<Pair> many(5000, alike);
  many[0] = apart;
  const auto all = differences(many, {});
  CHECK(all[0].agreement == Agreement::Ambiguous);
  CHECK(all[1].agreement == Agreement::Same);
  CHECK(one({100, 101, 99, 100, 100, 101, 99, 100, 100, 500}, {100, 101, 99, 100, 100, 101, 99, 100, 100, 101}) == Agreement::Same);
}

TEST_CASE("few repetitions that agree by chance scatter as others do") {
  std::vector<Pair> pairs(9, {{100, 104, 96}, {96, 100, 104}});
  pairs.push_back({{100, 100, 100}, {103, 103, 103}});
  CHECK(differences(pairs, {})[9].agreement == Agreement::Ambiguous);
}

TEST_CASE("beside large counts a scattering small one is as good as none") {
  Tolerance tolerance;
  tolerance.zero_floor = 0.01;
  const std::vector<Pair> pairs = {{{1000, 1001, 999}, {1000, 1001, 999}}, {{0, 0, 1}, {0, 0, 0}}, {{0, 0, 0}, {20, 20, 20}}};
  CHECK(differences(pairs, tolerance)[1].agreement == Agreement::Same);
  CHECK(differences(pairs, tolerance)[2].agreement == Agreement::Different);
}
