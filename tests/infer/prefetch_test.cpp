// SPDX-License-Identifier: Apache-2.0
// Cold walks drawn by hand: what moves with the beginning is prefetch, what stays where it is is not.
#include <doctest/doctest.h>

#include "tests/infer/table.h"

using namespace gexp;
using test::undetermined;
using test::says, test::number;

namespace {

constexpr std::int64_t kStride = 128;

/// Slow or fast, by where a walk began and the distance from there.
using SlowAt = std::function<bool(std::int64_t first, std::int64_t distance)>;

records::Table walks(const std::vector<std::int64_t>& starts, std::int64_t span, const SlowAt& slow, double stray = 0, std::size_t runs = 5) {
  std::vector<records::Point> points;
  std::mt19937_64 engine(7);
  for (const auto first : starts) {
    const auto lap = (span - first) / kStride;
    auto made = test::point(static_cast<double>(first), lap, 2, runs, [&](std::size_t, std::size_t a) {
      if (static_cast<double>(engine() >> 11) * 0x1p-53 < stray) return 700u;
      const bool cold = a < static_cast<std::size_t>(lap);
      return cold && slow(first, static_cast<std::int64_t>(a) * kStride) ? 350u : 200u;
    });
    Pattern ring;
    ring.steps = lap;
    for (std::int64_t i = 0; i < lap; ++i) ring.offsets.push_back(first + i * kStride);
    made.walk = std::make_shared<const Pattern>(std::move(ring));
    points.push_back(std::move(made));
  }
  return test::table(std::move(points));
}

const std::vector<std::int64_t> kStarts = {0, 3 * 1024 + 128, 10 * 1024};
constexpr std::int64_t kSpan = 256 * 1024;
const auto kEnds = [](std::int64_t, std::int64_t distance) { return distance % (40 * 1024) == 0; };

infer::Finding prefetch(const records::Table& table, const std::string& above = "") { return test::ask(table, "B", "prefetch(lat" + above + ")"); }

}  // namespace

TEST_CASE("what comes with a miss moves with the miss") {
  const auto finding = prefetch(walks(kStarts, kSpan, kEnds));
  CHECK(number(finding) == 40 * 1024);
  CHECK(finding.interval->first == 40 * 1024 - 127);
  CHECK(finding.confidence > 0.99);
}

TEST_CASE("pages and a full cache are slow, too, and are told from it") {
  const auto pages = [](std::int64_t first, std::int64_t distance) { return kEnds(first, distance) || (first + distance) % (64 * 1024) == 0; };
  CHECK(number(prefetch(walks(kStarts, kSpan, pages))) == 40 * 1024);
  const auto nearer_pages = [](std::int64_t first, std::int64_t distance) { return kEnds(first, distance) || (first + distance) % (16 * 1024) == 0; };
  CHECK(number(prefetch(walks(kStarts, kSpan, nearer_pages))) == 40 * 1024);
  const auto full = [](std::int64_t first, std::int64_t distance) { return kEnds(first, distance) || distance > 60 * 1024; };
  CHECK(number(prefetch(walks(kStarts, kSpan, full))) == 40 * 1024);
}

TEST_CASE("units that are fetched whole are no prefetch") {
  const auto all = [](std::int64_t, std::int64_t) { return true; };
  CHECK(number(prefetch(walks(kStarts, 64 * 1024, all))) == 0);
  CHECK(number(prefetch(walks({0}, 64 * 1024, all))) == 0);
  const auto units = [](std::int64_t first, std::int64_t distance) { return distance == 0 || (first + distance) % 512 == 0; };
  const auto finding = prefetch(walks(kStarts, 64 * 1024, units));
  CHECK(number(finding) == 0);
  CHECK(finding.interval->second == 511);
}

TEST_CASE("pages are no units where a walk downwards misses inside them") {
  const auto pages = [](std::int64_t first, std::int64_t distance) { return distance == 0 || (first + distance) % 4096 == 0; };
  auto table = walks(kStarts, 64 * 1024, pages);
  CHECK(number(prefetch(table)) == 0);
  const auto down = [&](bool every) {
    auto made = table;
    const std::int64_t lap = 256;  // each line twice
    auto point = test::point(0, lap, 1, 5, [&](std::size_t, std::size_t a) { return a % 64 == 0 || (every && a % 2 == 0) ? 350u : 200u; });
    Pattern ring;
    ring.steps = lap;
    for (std::int64_t i = 0; i < lap; ++i) ring.offsets.push_back((lap - 2 - i / 2 * 2) / 2 * kStride + i % 2 * 4);
    point.walk = std::make_shared<const Pattern>(std::move(ring));
    made.points.push_back(std::move(point));
    return prefetch(made);
  };
  CHECK(number(down(false)) == 0);
  CHECK(says(down(true), "pages"));
}

TEST_CASE("what could be one or the other is left open") {
  const auto only_first = [](std::int64_t, std::int64_t distance) { return distance == 0; };
  CHECK(says(prefetch(walks(kStarts, kSpan, only_first)), "a longer walk"));
  CHECK(says(prefetch(walks({0}, kSpan, kEnds)), "other beginnings"));
  CHECK(says(prefetch(walks({0, 80 * 1024}, kSpan, kEnds)), ""));  // beginnings that are a whole number of prefetches apart
  const auto only_pages = [](std::int64_t first, std::int64_t distance) { return distance == 0 || (first + distance) % (64 * 1024) == 0; };
  CHECK(says(prefetch(walks(kStarts, kSpan, only_pages)), "longer walk"));
  const auto learns = [](std::int64_t, std::int64_t distance) { return distance < 512 || distance % (40 * 1024) == 0; };
  CHECK(says(prefetch(walks(kStarts, kSpan, learns)), "learns"));
  const auto irregular = [](std::int64_t first, std::int64_t distance) { return distance == 0 || distance == 20 * 1024 + 7 * first / 128 * 128; };
  CHECK(says(prefetch(walks(kStarts, kSpan, irregular)), "different distances"));
  CHECK(undetermined(prefetch(walks(kStarts, kSpan, kEnds, 0, 1))));
  const auto soon = [](std::int64_t, std::int64_t distance) { return distance % 1024 == 0; };
  CHECK(undetermined(prefetch(walks({0, 384}, 2 * 1024, soon))));  // of sixteen places two agree by luck
  CHECK(number(prefetch(walks({0, 384}, kSpan, kEnds))) == 40 * 1024);  // and hardly of two thousand
  const auto warm = [](std::int64_t, std::int64_t distance) { return distance == 40 * 1024; };
  CHECK(says(prefetch(walks(kStarts, kSpan, warm)), "was not cold"));
}

TEST_CASE("accidents neither make a prefetch nor hide one") {
  CHECK(number(prefetch(walks(kStarts, kSpan, kEnds, 0.01))) == 40 * 1024);
  const auto only_first = [](std::int64_t, std::int64_t distance) { return distance == 0; };
  CHECK(undetermined(prefetch(walks(kStarts, kSpan, only_first, 0.02))));
  CHECK(undetermined(prefetch(walks(kStarts, kSpan, [](std::int64_t, std::int64_t) { return false; }, 0.02))));
}

TEST_CASE("far slices are no misses where it is said what the slowest hit takes") {
  auto table = walks(kStarts, kSpan, kEnds);
  for (auto& point : table.points) {
    const auto lap = static_cast<std::size_t>(point.walk->steps);
    for (auto& run : point.runs) {
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        if (point.walk->at(0, static_cast<std::int64_t>(i % lap)) / 1024 % 3 == 1) run.ticks[i] += 40;
      }
    }
  }
  CHECK(undetermined(prefetch(table)));
  CHECK(number(prefetch(table, ", above: 230cycles")) == 40 * 1024);
}
