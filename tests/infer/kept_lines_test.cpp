// SPDX-License-Identifier: Apache-2.0
// Sets of which a policy lets only a part miss, another part in another order, as the L1 of a Hopper does.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "tests/infer/table.h"

using namespace gexp;
using test::undetermined;
using test::mix;

namespace {

constexpr std::int64_t kLine = 128, kFitting = 512;  // lines that fit
constexpr std::uint32_t kHit = 40, kMiss = 290;

std::uint64_t parity(std::int64_t line, std::uint64_t mask) { return static_cast<std::uint64_t>(std::popcount(static_cast<std::uint64_t>(line) & mask) % 2); }
/// Four sets, by two exclusive ors of bits of a line's number.
std::uint64_t by_xor(std::int64_t line) { return parity(line, 0b01101001) | parity(line, 0b10110110) << 1; }

struct Made {
  std::function<std::uint64_t(std::int64_t line)> set_of = by_xor;
  std::size_t ways = 128;  ///< of a set
  std::uint64_t part = 4;   ///< one line in so many of a set that overflows misses now and then, others in another order
  bool same_in_every_order = false;
  int extra = 8, orders = 3;
};

/// From a footprint that fits, line by line. In a set that overflows some lines miss, one in 16 visits, and one of them in every lap.
records::Table grown(const Made& made) {
  records::Table table;
  table.stage = "s", table.timed = "lat", table.columns = {"extra", "order"};
  std::uint64_t state = 5;
  for (int extra = 0; extra <= made.extra; ++extra) {
    for (int order = 0; order < made.orders; ++order) {
      std::vector<std::int64_t> lines(static_cast<std::size_t>(kFitting + extra));
      std::iota(lines.begin(), lines.end(), 0);
      std::map<std::uint64_t, std::vector<std::int64_t>> missing;  // by set: those that may miss
      std::map<std::uint64_t, std::size_t> held;
      for (const auto line : lines) {
        ++held[made.set_of(line)];
        const auto of = made.same_in_every_order ? 0 : order;
        if (mix(static_cast<std::uint64_t>(line * 64 + of * 8 + 3)) % made.part == 0) missing[made.set_of(line)].push_back(line);
      }
      std::sort(lines.begin(), lines.end(), [&](auto a, auto b) { return mix(static_cast<std::uint64_t>(a * 8 + order)) < mix(static_cast<std::uint64_t>(b * 8 + order)); });
      records::Point point;
      point.at["extra"] = Value(static_cast<double>(extra)), point.at["order"] = Value(static_cast<double>(order));
      Pattern walk;
      walk.steps = static_cast<std::int64_t>(lines.size());
      for (const auto line : lines) walk.offsets.push_back(line * kLine);
      point.walk = point.warm_walk = std::make_shared<const Pattern>(std::move(walk));
      point.steps = point.warm_steps = 4 * point.walk->steps;
      for (int repetition = 0; repetition < 24; ++repetition) {
        records::Run run;
        for (int lap = 0; lap < 4; ++lap) {
          std::map<std::int64_t, bool> misses;
          for (const auto& [set, of_set] : missing) {
            if (held[set] <= made.ways || of_set.empty()) continue;
            misses[of_set[mix(++state) % of_set.size()]] = true;
            for (const auto line : of_set) misses[line] = misses[line] || mix(++state) % 16 == 0;
          }
          for (const auto line : lines) run.ticks.push_back(misses.contains(line) && misses[line] ? kMiss : kHit);
        }
        point.runs.push_back(std::move(run));
      }
      table.points.push_back(std::move(point));
    }
  }
  return table;
}

infer::Finding ask(const Made& made) {
  return test::ask_in("  sweep extra in 0..8\n  sweep order in 0..2\n  pattern ring = shuffle(uniform(stride: 128B, span: 64KiB + extra * 128B), order)\n  launch grid 1 block 1\n"
                      "  warm { chase A by ring laps 4 }\n  timed lat each { chase A by ring laps 4 }\n",
                      grown(made), "structure", "cache_sets(lat over extra, line: 128B)");
}

std::string text_of(const infer::Finding& finding, const std::string& name) {
  const auto* fields = finding.value.get<Fields>();
  const auto at = fields ? fields->find(name) : Fields::const_iterator{};
  return fields && at != fields->end() ? show(at->second) : "";
}

}  // namespace

TEST_CASE("the function that all missing lines have in common tells the sets, though most lines of a set never miss") {
  const auto found = ask({});
  REQUIRE_MESSAGE(found.status == infer::Finding::Status::Found, found.why);
  CHECK(text_of(found, "mapping") == "xor");
  CHECK(text_of(found, "bits") == "[[7, 10, 12, 13], [8, 9, 11, 12, 14]]");
  CHECK(text_of(found, "sizes") == "[128, 128, 128, 128]");
}

TEST_CASE("a part of lines that misses in every order is no policy's choice") {
  Made made;
  made.same_in_every_order = true;
  const auto found = ask(made);
  CHECK_MESSAGE(undetermined(found), show(found.value));
}

TEST_CASE("lines that no function chooses are not said to be chosen by one") {
  Made made;
  made.set_of = [](std::int64_t line) { return mix(static_cast<std::uint64_t>(line)) % 4; };
  std::map<std::uint64_t, std::size_t> held;
  for (std::int64_t line = 0; line < kFitting; ++line) ++held[made.set_of(line)];
  made.ways = 0;
  for (const auto& [set, lines] : held) made.ways = std::max(made.ways, lines);
  const auto found = ask(made);
  if (found.status == infer::Finding::Status::Found) CHECK(text_of(found, "mapping") != "xor");
}
