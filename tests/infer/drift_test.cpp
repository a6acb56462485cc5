// SPDX-License-Identifier: Apache-2.0
// A clock that drifts while a stage is measured: no simulated device does that, so the records are made by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/infer/table.h"

using namespace gexp;
using infer::Finding;
using test::ask;
using test::mentions;

namespace {

/// What an access costs, in cycles of a steady clock: by footprint in lines and access.
using Cost = std::function<double(std::int64_t lines, std::size_t access)>;

/// Ten footprints of 8 lines more each, measured one after the other, while the clock's pace moves as `pace` says of the time from 0 to 1.
records::Table measured(const Cost& cost, const std::function<double(double)>& pace, std::size_t runs = 5, double jitter = 0, bool backwards = false) {
  constexpr int kPoints = 10;
  std::vector<records::Point> points;
  std::uint32_t random = 1;
  for (int p = 1; p <= kPoints; ++p) {
    const std::int64_t lines = 8 * p;
    const int when = backwards ? kPoints - p : p - 1;
    points.push_back(test::point(32.0 * static_cast<double>(lines), lines, 4, runs, [&](std::size_t run, std::size_t access) {
      const double time = (when + static_cast<double>(run) / static_cast<double>(runs)) / kPoints;
      random = random * 1664525 + 1013904223;
      const double noise = jitter * (static_cast<double>(random >> 8) / (1 << 24) - 0.5);
      return static_cast<std::uint32_t>(std::lround((cost(lines, access) + noise) * pace(time)));
    }));
  }
  return test::table(std::move(points));
}

double steady(double) { return 1; }
double faster(double time) { return 1 + 0.06 * time; }
double slower(double time) { return 1 - 0.05 * time; }
double throttled(double time) { return 1 + 0.03 * std::tanh(12 * (time - 0.25)); }
double boosted(double time) { return 1 - 0.03 * std::tanh(12 * (time - 0.75)); }
double up_and_down(double time) { return 1 + 0.05 * std::sin(7 * time); }

double fits_40(std::int64_t lines, std::size_t) { return lines <= 40 ? 198 : 339; }
/// Random replacement: some of the lines miss in some laps.
double some_miss(std::int64_t lines, std::size_t access) { return lines <= 40 || access * 7919 % 13 > 2 ? 198 : 339; }

const std::string kCapacity = "last_flat(misses(lat) over n)";

}  // namespace

TEST_CASE("a drifting clock does not move a capacity") {
  for (const auto& cost : {fits_40, some_miss}) {
    for (const auto& pace : {faster, slower, up_and_down, throttled, boosted}) {
      for (const double jitter : {0.0, 3.0}) {
        for (const bool backwards : {false, true}) {
          CAPTURE(jitter);
          CAPTURE(backwards);
          const auto finding = ask(measured(cost, pace, 5, jitter, backwards), "B", kCapacity);
          REQUIRE_MESSAGE(finding.status == Finding::Status::Found, finding.why);
          CHECK(finding.value.get<Number>()->number == 40 * 32);
        }
      }
    }
  }
}

TEST_CASE("what a drifting clock has measured says so, is less sure, and a latency's interval is as wide as the drift") {
  const auto records = measured(fits_40, faster);
  const auto finding = ask(records, "B", kCapacity);
  CHECK(mentions(finding, "the clock drifted by"));
  CHECK(mentions(finding, "locked clocks would decide"));
  CHECK(finding.confidence <= 0.9);
  CHECK(ask(records, "B", kCapacity + " need 95%").status == Finding::Status::Undetermined);
  const auto hit = ask(records, "cycles", "fastest(lat)");
  REQUIRE(hit.interval);
  CHECK(hit.interval->first <= 188 + 0.1);
  CHECK(hit.interval->second >= 198 * 1.03 - 10);
}

TEST_CASE("without drift nothing is said of it, and classes that a run has both of may be near") {
  const auto near = [](std::int64_t lines, std::size_t access) { return lines <= 40 || access % 4 != 0 ? 198.0 : 204.0; };
  for (const Cost& cost : {Cost(near), Cost(fits_40)}) {
    const auto finding = ask(measured(cost, steady), "B", kCapacity);
    CHECK(!mentions(finding, "drift"));
    REQUIRE_MESSAGE(finding.status == Finding::Status::Found, finding.why);
    CHECK(finding.value.get<Number>()->number == 40 * 32);
  }
}

TEST_CASE("a clock that changes its pace at once is no border: a miss that costs as little and is never among hits looks the same") {
  std::size_t right = 0;
  for (const double sharp : {6.0, 12.0, 20.0, 30.0, 60.0, 1000.0}) {
    for (const double half : {0.02, 0.03, 0.04}) {
      for (const double when : {0.15, 0.25, 0.33}) {
        for (const std::size_t runs : {3, 5, 10}) {
          for (const double jitter : {0.0, 3.0}) {
            CAPTURE(sharp);
            CAPTURE(half);
            CAPTURE(when);
            CAPTURE(runs);
            CAPTURE(jitter);
            const auto finding = ask(measured(fits_40, [&](double time) { return 1 + half * std::tanh(sharp * (time - when)); }, runs, jitter), "B", kCapacity);
            if (finding.status == Finding::Status::Found) {
              CHECK(finding.value.get<Number>()->number == 40 * 32);
              ++right;
            } else {
              CHECK(mentions(finding, "would decide"));
            }
          }
        }
      }
    }
  }
  CHECK(right > 100);
  const auto step = ask(measured([](std::int64_t lines, std::size_t) { return lines <= 40 ? 198.0 : 204.0; }, steady), "B", kCapacity);
  CHECK(step.status == Finding::Status::Undetermined);
  CHECK(mentions(step, "every access takes 3.0 % longer"));
  CHECK(mentions(step, "locked clocks, or a footprint that misses in part, would decide"));
}

TEST_CASE("a class that lies on the drift is told from it or left undetermined, with what would decide") {
  const auto near = [](std::int64_t lines, std::size_t) { return lines <= 40 ? 198.0 : 204.0; };
  for (const auto& pace : {faster, slower}) {
    const auto finding = ask(measured(near, pace), "B", kCapacity);
    CHECK(finding.status == Finding::Status::Undetermined);
    CHECK(mentions(finding, "locked clocks"));
    CHECK(mentions(finding, "would decide"));
  }
}

TEST_CASE("two states that a run may be in are no drift") {
  // A TLB that happens to hold the page or not: the first run of each point is slower as a whole.
  std::vector<records::Point> points;
  for (int p = 1; p <= 6; ++p) {
    points.push_back(test::point(256.0 * p, 8 * p, 4, 5, [p](std::size_t run, std::size_t) { return p > 4 ? 339u : run == 0 ? 204u : 198u; }));
  }
  const auto finding = ask(test::table(std::move(points)), "B", "latency_classes(lat)");
  CHECK(!mentions(finding, "drift"));
  const auto list = ask(test::table({test::point(256, 8, 4, 5, [](std::size_t run, std::size_t) { return run == 0 ? 204u : 198u; })}), "list", "latency_classes(lat)");
  CHECK(list.value.get<List>()->size() == 2);
}
