// SPDX-License-Identifier: Apache-2.0
// What an undetermined finding says would decide is true in the case in which it says so.
#include <doctest/doctest.h>

#include "tests/infer/table.h"

using namespace gexp;
using test::ask;
using test::point;
using test::says;

namespace {

/// Walks of 16 lines at growing x, four repetitions; `missing(x)`: whether every access misses there.
template <class Missing> records::Table walks(Missing missing) {
  std::vector<records::Point> points;
  for (double n = 512; n <= 8192; n *= 2) {
    points.push_back(point(n, 16, 2, 4, [=](std::size_t run, std::size_t access) { return static_cast<std::uint32_t>((missing(n) ? 300 : 100) + (run + access) % 2); }));
  }
  return test::table(std::move(points));
}

/// One access a point that takes y(x) cycles.
template <class Y> records::Table curve(Y y, double until = 12) {
  std::vector<records::Point> points;
  for (double x = 1; x <= until; ++x) {
    points.push_back(point(x, 1, 1, 1, [=](std::size_t, std::size_t) { return static_cast<std::uint32_t>(10 + y(x)); }));
  }
  auto table = test::table(std::move(points));
  table.timing = records::Table::Timing::Total;
  return table;
}

infer::Finding of_total(const records::Table& table, const std::string& type, const std::string& analysis) {
  return test::ask_in("  sweep n in 1B..12B step 1B\n  launch grid 1 block 1\n  timed lat total { load A at 0B }\n", table, type, analysis);
}

constexpr auto kLastFlat = "last_flat(misses(lat) over n)";
constexpr auto kFirstFlat = "first_flat(misses(lat) over n)";

}  // namespace

TEST_CASE("a lower beginning is asked for only where a lower one would show the floor") {
  CHECK(says(ask(walks([](double n) { return n < 1024 || n > 2048; }), "B", kLastFlat), "a sweep that begins lower would decide"));
  const auto falls = ask(walks([](double n) { return n < 2048; }), "B", kLastFlat);
  CHECK_MESSAGE(says(falls, "`first_flat` would find that border"), falls.why);
  CHECK(!says(falls, "begins lower"));
  const auto rises = ask(walks([](double n) { return n > 2048; }), "B", kFirstFlat);
  CHECK_MESSAGE(says(rises, "`last_flat` would find that border"), rises.why);
  CHECK(!says(rises, "begins lower"));
}

TEST_CASE("a column that counts no misses is told from one that never falls to 0") {
  const auto last = ask(walks([](double n) { return n > 2048; }), "B", "last_flat(median(lat) over n)");
  CHECK_MESSAGE(says(last, "counts no misses"), last.why);
  const auto first = ask(walks([](double n) { return n > 2048; }), "B", "first_flat(median(lat) over n)");
  CHECK_MESSAGE(says(first, "counts no misses"), first.why);
}

TEST_CASE("a condition that holds everywhere, or nowhere, is told as one, and not as misses") {
  const auto everywhere = ask(walks([](double n) { return n > 2048; }), "B", "last_flat(median(lat) > 1cycles over n)");
  CHECK_MESSAGE(says(everywhere, "holds at every x"), everywhere.why);
  const auto nowhere = ask(walks([](double n) { return n > 2048; }), "B", "last_flat(median(lat) > 9999cycles over n)");
  CHECK_MESSAGE(says(nowhere, "counts no misses"), nowhere.why);
  CHECK(!says(nowhere, "nothing misses"));
}

TEST_CASE("a shuffled ring is asked for only where the walk is not shuffled") {
  auto in_order = walks([](double) { return false; });
  CHECK(says(ask(in_order, "B", kLastFlat), "a shuffled ring would decide"));
  for (auto& each : in_order.points) {
    auto walk = *each.walk;
    for (std::size_t i = 0; i < walk.offsets.size(); ++i) walk.offsets[i] = static_cast<std::int64_t>(32 * ((7 * i * i + 3 * i) % 16));
    each.walk = std::make_shared<const Pattern>(std::move(walk));
  }
  const auto shuffled = ask(in_order, "B", kLastFlat);
  CHECK_MESSAGE(says(shuffled, "would decide"), shuffled.why);
  CHECK(!says(shuffled, "shuffled ring"));
  CHECK(!says(shuffled, "prefetcher"));
}

TEST_CASE("a plateau is looked for where the curve may have one") {
  CHECK(says(of_total(curve([](double x) { return 100 * x; }), "cycles", "plateau(median(lat) over n)"), "a longer sweep would decide"));
  const auto falls = of_total(curve([](double x) { return 2000 - 100 * x; }), "cycles", "plateau(median(lat) over n)");
  CHECK_MESSAGE(says(falls, "a sweep that begins lower would decide"), falls.why);
  const auto peak = of_total(curve([](double x) { return x < 7 ? 100 * x : 1300 - 100 * x; }), "cycles", "plateau(median(lat) over n)");
  CHECK_MESSAGE(says(peak, "is a peak"), peak.why);
}

TEST_CASE("a curve that only rises has no period, and one that only falls no width") {
  CHECK(says(of_total(curve([](double x) { return 100 * x; }), "B", "period(median(lat) over n)"), "rises from end to end"));
  CHECK(says(of_total(curve([](double x) { return x == 5 ? 900 : 100 + 10 * x; }), "B", "period(median(lat) over n)"), "does not repeat"));
  CHECK(says(of_total(curve([](double x) { return 2000 - 100 * x; }), "B", "step_width(median(lat) over n)"), "falls as x grows"));
  CHECK(says(of_total(curve([](double x) { return x < 7 ? 100 : 200; }), "B", "step_width(median(lat) over n)"), "a longer sweep would decide"));
  const auto noisy = of_total(curve([](double x) { return static_cast<int>(x) % 2 ? 100 : 130; }), "B", "step_width(median(lat) over n)");
  CHECK_MESSAGE(says(noisy, "more repetitions would decide"), noisy.why);
}

TEST_CASE("more repetitions are asked for only where they make an analysis surer") {
  const auto table = curve([](double x) { return x < 5 ? 100 * x : 500; });
  const auto sure = of_total(table, "cycles", "plateau(median(lat) over n) need 99%");
  CHECK_MESSAGE(says(sure, "`plateau` is never surer"), sure.why);
  CHECK(!says(sure, "repetitions"));
}
