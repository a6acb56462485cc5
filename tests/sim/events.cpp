// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <tuple>

#include "runtime/sim/events.h"
#include "runtime/sim/random.h"
#include "runtime/sim/under_way.h"

using namespace gexp::sim;

TEST_CASE("events come in the order of their cycles, and within a cycle in that in which they were added, near and far ones mixed") {
  for (const std::uint32_t far : {3u, 900u, 1024u, 5000u}) {
    CAPTURE(far);
    Random random(far);
    Events events;
    std::set<std::tuple<std::uint64_t, std::uint32_t>> expected;  // cycle, number of the adding
    std::uint64_t now = 1'000'003;
    std::uint32_t added = 0;
    const auto add = [&] {
      const std::uint64_t time = now + random.below(far);
      expected.emplace(time, added);
      events.add(time, Event::Kind::Run, added++);
    };
    add();
    for (int step = 0; step < 20'000 && !expected.empty(); ++step) {
      for (std::uint32_t k = random.below(expected.size() < 50 ? 4 : 2); k > 0; --k) add();
      REQUIRE(events.first() == std::get<0>(*expected.begin()));
      const Event event = events.take();
      REQUIRE(std::tuple(event.time, event.who) == *expected.begin());
      expected.erase(expected.begin());
      now = event.time;
    }
    while (!expected.empty()) {
      const Event event = events.take();
      REQUIRE(std::tuple(event.time, event.who) == *expected.begin());
      expected.erase(expected.begin());
    }
    CHECK(events.empty());
    CHECK(events.first() == kNever);
  }
}

TEST_CASE("numbers of regions are what was written last, whatever came and went between") {
  Random random(5);
  UnderWay table;
  std::map<std::uint64_t, std::uint32_t> expected;
  for (std::uint32_t step = 0; step < 20'000; ++step) {
    const std::uint64_t region = random.below(300) * 128;
    const auto found = expected.find(region);
    const std::uint32_t* const number = table.find(region);
    REQUIRE((number != nullptr) == (found != expected.end()));
    if (number) REQUIRE(*number == found->second);
    if (number && random.below(2) == 0) table.erase(region), expected.erase(region);
    else table[region] = expected[region] = step;
  }
}
