// SPDX-License-Identifier: Apache-2.0
// Shares of slow accesses: a border between two levels tells a size, one within a level does not.
#include <doctest/doctest.h>

#include "tests/infer/table.h"

using namespace gexp;

namespace {

/// What memory answers in: from 160 cycles on, more and more rarely.
std::uint32_t from_memory(std::size_t by_chance) {
  const auto a = std::mt19937_64(~by_chance)();
  return 170 + static_cast<std::uint32_t>(std::min({a % 200, (a >> 20) % 200, (a >> 40) % 200}));
}

/// Footprints of which ever more is in memory beyond 4 KiB; of every run's laps, the first alone where `first` says so.
infer::Finding size(const std::string& above, bool first) {
  std::vector<records::Point> points;
  for (int i = 1; i <= 8; ++i) {
    const std::size_t absent = i <= 4 ? 0 : 10 * (i - 4);  // of 100
    points.push_back(test::point(1024.0 * i, 512, 4, 3, [=](std::size_t run, std::size_t access) {
      const auto chance = 100'000 * i + 10'000 * run + access;
      return (!first || access < 512) && std::mt19937_64(chance)() % 100 < absent ? from_memory(chance) : 50u;
    }));
  }
  return test::ask(test::table(std::move(points)), "B", "last_flat(slower(lat, above: " + above + ") > 1 / 64 over n)");
}

}  // namespace

TEST_CASE("a share of slow accesses tells a size where it begins between two levels") {
  const auto found = size("100cycles", false);
  CHECK_MESSAGE(found.value == Value(4096.0, kBytes), found.why);
}

TEST_CASE("a share that begins within a level counts its tail, and tells no size") {
  const auto finding = size("240cycles", false);
  CHECK(test::undetermined(finding));
  CHECK_MESSAGE(finding.why.find("the tail of one latency class") != std::string::npos, finding.why);
}

TEST_CASE("slow accesses of first laps alone say that what is walked was not there before") {
  const auto finding = size("100cycles", true);
  CHECK(test::undetermined(finding));
  CHECK_MESSAGE(finding.why.find("in the first lap of a run alone") != std::string::npos, finding.why);
}
