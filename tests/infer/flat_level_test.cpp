// SPDX-License-Identifier: Apache-2.0
// Which points are of one level, and which have begun to rise.
#include <doctest/doctest.h>

#include "runtime/infer/model/flat_level.h"

using namespace gexp::infer;

namespace {

/// Points of so many ticks on average, each known to a few hundredths of a tick.
std::vector<model::MeanDifference> points(const std::vector<double>& means) {
  std::vector<model::MeanDifference> made;
  for (const double mean : means) {
    model::MeanDifference point;
    for (int i = 0; i < 2000; ++i) point.add(mean + (i % 2 == 0 ? 1.2 : -1.2));
    made.push_back(point);
  }
  return made;
}

/// The same of so many pairs each: points that took fewer are known less well.
std::size_t of_level(const std::vector<std::pair<double, int>>& means) {
  std::vector<model::MeanDifference> made;
  for (const auto& [mean, pairs] : means) {
    model::MeanDifference point;
    for (int i = 0; i < pairs; ++i) point.add(mean + (i % 2 == 0 ? 0.8 : -0.8));
    made.push_back(point);
  }
  return model::points_of_level(made, model::scatter_of_neighbours(made)).first;
}

std::size_t of_level(const std::vector<double>& means) {
  const auto all = points(means);
  return model::points_of_level(all, model::scatter_of_neighbours(all)).first;
}

}  // namespace

TEST_CASE("a level ends where its points begin to rise, slowly or at once") {
  CHECK(of_level({-0.02, 0.07, -0.01, -0.02, 0.06, 9, 9, 9.1, 9, 9}) == 5);
  CHECK(of_level({-0.02, 0.07, -0.01, -0.02, 0.06, 0.52, 1.12, 2.0, 2.7, 2.9, 3.2}) == 5);  // fewer and fewer of the visits hit
  CHECK(of_level({0, 0.1, -0.1, 0.05, 0, -0.05}) == 0);                                      // all of one level
}

TEST_CASE("where points scatter more than their own errors say, a rise of as much is none") {
  CHECK(of_level({0, 1.1, -0.8, 0.9, -1.2, 0.4, 1.2, -0.3, 0.8, -1}) == 0);
}

TEST_CASE("small footprints, which are known less well, do not hide a slow rise of larger ones") {
  CHECK(of_level(std::vector<std::pair<double, int>>{{-0.01, 256}, {0.06, 512}, {-0.01, 1024}, {-0.01, 2048}, {0.01, 4096}, {-0.005, 6144}, {0.06, 6272}, {0.07, 6400},
                  {0.045, 6656}, {0.1, 7168}, {0.17, 8192}, {0.32, 12288}, {0.3, 15310}, {0.3, 15385}, {0.31, 12442}}) == 6);
}

TEST_CASE("the last points of a level are in doubt as far as they may lie as high as those beyond it") {
  const auto in_doubt = [](const std::vector<double>& means, double most) {
    const auto all = points(means);
    const model::Level level(all, 0, all.size(), model::scatter_of_neighbours(all));
    return model::first_in_doubt(all, level, all.size(), most, 0.99);
  };
  CHECK(in_doubt({0, 0.5, -0.5, 0.4, -0.4, 0.5, -0.5, 0.4, -0.5}, 100) == 9);  // what lies beyond is far higher
  CHECK(in_doubt({0, 0.5, -0.5, 0.4, -0.4, 0.5, -0.5, 0.4, 1.2}, 4) <= 8);     // the last one is as likely beyond
  CHECK(in_doubt({0, 0.5, -0.5, 0.4, -0.4, 0.5, -0.5, 0.4, -0.5}, 1) < 9);     // what lies beyond is hardly higher
}
