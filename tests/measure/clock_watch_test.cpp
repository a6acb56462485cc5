// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/clock_watch.h"

#include <doctest/doctest.h>

using namespace gexp::measure;
using gexp::device::Condition;

namespace {

/// A device whose clock goes as a script says: at each look the next; looks are far enough apart to be made.
struct Scene {
  std::vector<double> mhz;
  std::vector<bool> slowed;
  std::size_t looks = 0;
  double seconds = 0;

  std::vector<std::size_t> unsteady(std::size_t points) {
    ClockWatch watch(
        [this]() -> std::optional<Condition> {
          const auto i = std::min(looks++, mhz.size() - 1);
          Condition now;
          now.sm_clock_hz = mhz[i] * 1e6;
          if (i < slowed.size() && slowed[i]) now.slowed = {"power cap"};
          return now;
        },
        [this] { return seconds; });
    for (std::size_t point = 1; point <= points; ++point) {
      seconds += 0.03;   // a look at every second point
      watch.point(point);
    }
    return watch.unsteady(points);
  }
};

}  // namespace

TEST_CASE("a steady clock, and one that idles before the first point, make no point unsteady") {
  CHECK(Scene{{1980}, {}}.unsteady(20).empty());
  CHECK(Scene{{345, 1980}, {}}.unsteady(20).empty());
  CHECK(Scene{{1980, 1965, 1980, 1965}, {}}.unsteady(20).empty());
}

TEST_CASE("points between looks of which one saw another clock are unsteady") {
  CHECK(Scene{{1980, 1980, 1980, 1700, 1980}, {}}.unsteady(20) == std::vector<std::size_t>{4, 5, 6, 7});
  CHECK(Scene{{1980, 1200, 1980}, {}}.unsteady(20) == std::vector<std::size_t>{0, 1, 2, 3});
}

TEST_CASE("and those while something holds the clocks down") {
  CHECK(Scene{{1980, 1980, 1980, 1980, 1980, 1980}, {false, false, true}}.unsteady(8) == std::vector<std::size_t>{2, 3, 4, 5});
}

TEST_CASE("where nobody tells, nothing is unsteady, and soon nobody is asked") {
  int asked = 0;
  double seconds = 0;
  ClockWatch watch([&]() -> std::optional<Condition> { return ++asked, std::nullopt; }, [&] { return seconds += 1; });
  for (std::size_t point = 1; point <= 9; ++point) watch.point(point);
  CHECK(watch.unsteady(9).empty());
  CHECK(asked == 5);
  CHECK(watch.wait_until_steady());
}
