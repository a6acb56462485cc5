// SPDX-License-Identifier: Apache-2.0
// Cold walks drawn by hand: the unit that a miss brings in, which address misses first, and walks that show neither.
#include <doctest/doctest.h>

#include "tests/infer/table.h"

using namespace gexp;
using test::undetermined;
using test::says, test::number;

namespace {

/// Whether an access misses: its address, and whether its aligned unit was touched before.
using SlowThere = std::function<bool(std::int64_t offset, bool first)>;

/// A lap over `span` bytes at `stride`, up or down, from `base`; units are aligned to `unit`.
records::Point walk(bool up, std::int64_t span, std::int64_t stride, std::int64_t unit, const SlowThere& slow, double stray = 0, std::size_t runs = 3, std::int64_t base = 0, std::uint64_t seed = 7) {
  std::mt19937_64 engine(seed);
  Pattern ring;
  ring.steps = span / stride;
  for (std::int64_t i = 0; i < ring.steps; ++i) ring.offsets.push_back(base + (up ? i : ring.steps - 1 - i) * stride);
  auto made = test::point(up ? 0 : 1, ring.steps, 1, runs, [&](std::size_t, std::size_t a) {
    if (static_cast<double>(engine() >> 11) * 0x1p-53 < stray) return 300u;
    const auto offset = ring.offsets[a];
    const bool first = a == 0 || ring.offsets[a - 1] / unit != offset / unit;
    return slow(offset, first) ? 300u : 100u;
  });
  made.walk = std::make_shared<const Pattern>(ring);
  return made;
}
const SlowThere kFirst = [](std::int64_t, bool first) { return first; };

infer::Finding spacing(std::vector<records::Point> points, const std::string& above = "") { return test::ask(test::table(std::move(points)), "B", "miss_spacing(lat" + above + ")"); }

}  // namespace

TEST_CASE("the first access to each unit misses: the unit, wherever the walk begins") {
  for (const std::int64_t unit : {16, 32, 64, 128, 4096}) {
    for (const std::int64_t base : {0, 36}) {
      const auto finding = spacing({walk(true, 32 * unit, 4, unit, kFirst, 0, 3, base), walk(false, 32 * unit, 4, unit, kFirst, 0, 3, base)});
      CAPTURE(finding.why);
      CHECK(number(finding) == static_cast<double>(unit));
      CHECK(finding.confidence > 0.99);
    }
  }
}

TEST_CASE("a level hardly slower, of longer units, hides those of the first") {
  const auto through_two = [](bool up, std::uint32_t later) {
    Pattern ring;
    ring.steps = 512;
    for (std::int64_t i = 0; i < ring.steps; ++i) ring.offsets.push_back((up ? i : ring.steps - 1 - i) * 4);
    auto made = test::point(up ? 0 : 1, ring.steps, 1, 3, [&](std::size_t, std::size_t a) {
      const auto is_new = [&](std::int64_t unit) { return a == 0 || ring.offsets[a - 1] / unit != ring.offsets[a] / unit; };
      return is_new(64) ? 300u : is_new(32) ? 100u + later : 100u;
    });
    made.walk = std::make_shared<const Pattern>(ring);
    return made;
  };
  const auto hidden = spacing({through_two(true, 2), through_two(false, 2)});
  CHECK(undetermined(hidden));
  CHECK_MESSAGE(says(hidden, "the first access to each 32 B takes 2.0 cycles longer"), hidden.why);
  CHECK(number(spacing({through_two(true, 0), through_two(false, 0)})) == 64);
}

TEST_CASE("a longer walk is surer, and three misses show little") {
  double before = 0;
  for (const std::int64_t units : {3, 6, 12, 24}) {
    const auto finding = spacing({walk(false, units * 32, 4, 32, kFirst)});
    CHECK(finding.confidence >= before);
    before = finding.confidence;
  }
  CHECK(before > 0.99);
  CHECK(undetermined(spacing({walk(false, 3 * 32, 16, 32, kFirst)})));
}

TEST_CASE("upwards only, a prefetcher would look like a larger unit") {
  const auto up = spacing({walk(true, 2048, 4, 32, kFirst)});
  CHECK(number(up) == 32);
  CHECK(up.confidence == doctest::Approx(0.9));
  // Each miss on the way up brings the next unit, too.
  const auto both = spacing({walk(true, 2048, 4, 64, kFirst), walk(false, 2048, 4, 32, kFirst)});
  CHECK(number(both) == 32);
  CHECK(both.why.find("64 B on the way up") != std::string::npos);
}

TEST_CASE("units that hit, because something brought them before, and interference") {
  std::mt19937_64 engine(5);
  const SlowThere some = [&](std::int64_t offset, bool first) { return first && (offset / 32 * 2654435761u >> 7) % 5 != 0; };
  CHECK(number(spacing({walk(false, 16384, 4, 32, some)})) == 32);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) CHECK(number(spacing({walk(false, 8192, 4, 32, kFirst, 0.02, 3, 0, seed)})) == 32);
}

TEST_CASE("misses without a unit") {
  std::mt19937_64 engine(3);
  CHECK(undetermined(spacing({walk(false, 8192, 4, 32, [&](std::int64_t, bool) { return engine() % 2 == 0; }, 0, 1)})));  // noise on half of them
  CHECK(says(spacing({walk(false, 8192, 4, 32, [](std::int64_t offset, bool first) { return first && offset / 32 % 4 < 2; })}), "of every"));
  CHECK(says(spacing({walk(false, 8192, 4, 32, [](std::int64_t, bool) { return true; }), walk(true, 64, 4, 32, [](std::int64_t, bool) { return true; })}), ""));
  CHECK(says(spacing({walk(false, 8192, 4, 32, [](std::int64_t offset, bool) { return offset == 4000; })}), "fewer than two"));
}

TEST_CASE("the first miss is the lowest address that misses again and again beyond the plateau, and nowhere on it") {
  const auto overflow = [](std::size_t first, bool before) {
    const auto at = [&](bool beyond) {
      return test::point(beyond ? 1 : 0, 97, 4, 3, [&, beyond](std::size_t, std::size_t a) { return (beyond || before) && a % 97 >= first && a % 97 % 4 == 2 ? 300u : 100u; });
    };
    return test::ask(test::table({at(false), at(true)}), "B", "first_miss(lat over n)");
  };
  CHECK(number(overflow(0, false)) == 64);
  CHECK(number(overflow(50, false)) == 50 * 32);
  CHECK(undetermined(overflow(0, true)));
  CHECK(undetermined(overflow(97, false)));
}
