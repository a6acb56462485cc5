// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/progress.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/report/texts.h"

using namespace gexp::report;
using namespace gexp::test;

namespace {

Going half() {
  Going going;
  going.what = "cache [2/6] sets";
  going.done = 63;
  going.of = 126;
  going.rate = 4.21;
  going.left = 15.2;
  going.at = "n = 64 KiB";
  return going;
}

}  // namespace

TEST_CASE("a line of progress leaves out what does not fit, the least important first") {
  CHECK(progress_text(half()) == "cache [2/6] sets: 63 of 126 points, 4.2/s, 15 s left, n = 64 KiB");
  CHECK(progress_line(half(), 120, false) == "cache [2/6] sets [############------------]  63 of 126 points, 4.2/s, 15 s left, n = 64 KiB");
  CHECK(progress_line(half(), 90, false) == "cache [2/6] sets [############------------]  63 of 126 points, 4.2/s, 15 s left");
  CHECK(progress_line(half(), 60, false) == "cache [2/6] sets [#####-----]  63 of 126 points, 15 s left");
  CHECK(progress_line(half(), 40, false) == "cache [2/6] sets  63 of 126 points");
  CHECK(progress_line(half(), 10, false) == "cache [2/6");
  auto wide = half();
  wide.what = "Größe [1/1] Länge";
  for (std::size_t width = 0; width < 140; ++width) CHECK(columns(progress_line(wide, width, false)) <= width);
  CHECK(progress_line(half(), 90, true).find("\033[36m [###") != std::string::npos);
}

TEST_CASE("where the number is not known there is no bar, and no time left") {
  auto going = half();
  going.of.reset();
  going.left.reset();
  CHECK(progress_line(going, 120, false) == "cache [2/6] sets  63 points, 4.2/s, n = 64 KiB");
}

TEST_CASE("times left are rough, and none is silly") {
  auto going = half();
  const auto text = [&](double left) {
    going.left = left;
    return progress_text(going);
  };
  going.at.clear(), going.rate.reset();
  CHECK(text(0.01) == "cache [2/6] sets: 63 of 126 points, 1 s left");
  CHECK(text(150) == "cache [2/6] sets: 63 of 126 points, 2 min left");
  CHECK(text(7300) == "cache [2/6] sets: 63 of 126 points, 2 h left");
  CHECK(text(1e9) == "cache [2/6] sets: 63 of 126 points");
}

TEST_CASE("speed is told once there is something to tell it by") {
  Speed speed;
  for (int i = 0; i < 5; ++i) speed.begin(0.1 * i);
  CHECK_FALSE(speed.rate());
  CHECK_FALSE(speed.left(100));
  for (int i = 1; i <= 16; ++i) speed.begin(0.4 + 0.5 * i);  // later ones take longer
  REQUIRE(speed.rate());
  CHECK(*speed.rate() == doctest::Approx(20 / 8.4));
  CHECK(*speed.left(30) == doctest::Approx(10 * 0.5));
  CHECK_FALSE(speed.left(20));  // more than there were to be
}
