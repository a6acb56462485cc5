// SPDX-License-Identifier: Apache-2.0
// Points that see lines alike: groups told by latencies, which lines in other places judge.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/infer/table.h"

using namespace gexp;
using test::field;
using test::undetermined;
using test::mix;

namespace {

double unit(std::uint64_t x) { return static_cast<double>(mix(x + 0x9e3779b97f4a7c15ULL) >> 11) * 0x1p-53; }

struct Chip {
  std::vector<int> of{};     ///< group of each point
  int lines = 1024, slices = 80, laps = 4;
  double spread = 30;        ///< ticks by which a slice is further from one group than from another
  double own = 0;            ///< ticks that each point's way to a slice has of its own
  double noise = 1;
  double wild = 0;           ///< share of visits that something holds up
  std::uint64_t seed = 1;
  int unmeasured = -1;       ///< a point whose launch failed
  bool backwards = false;    ///< the table has its points in another order
};

records::Table seen(const Chip& chip) {
  records::Table table;
  table.stage = "s", table.timed = "lat", table.columns = {"m"};
  test::Noise draw(chip.seed);
  std::uint64_t state = chip.seed << 32;
  for (std::size_t i = 0; i < chip.of.size(); ++i) {
    const auto m = chip.backwards ? chip.of.size() - 1 - i : i;
    records::Point point;
    point.at["m"] = Value(static_cast<double>(m));
    Pattern walk;
    walk.steps = chip.lines;
    for (int line = 0; line < chip.lines; ++line) walk.offsets.push_back(line * 128);
    point.walk = std::make_shared<const Pattern>(std::move(walk));
    point.steps = static_cast<std::int64_t>(chip.lines) * chip.laps;
    records::Run run;
    for (int lap = 0; lap < chip.laps; ++lap) {
      for (int line = 0; line < chip.lines; ++line) {
        const auto slice = mix(chip.seed * 7919 + static_cast<std::uint64_t>(line)) % static_cast<std::uint64_t>(chip.slices);
        const double far = chip.spread * unit(chip.seed ^ slice << 16 ^ static_cast<std::uint64_t>(chip.of[m]) << 32) + chip.own * unit(chip.seed ^ slice << 16 ^ m << 48);
        const bool held_up = unit(++state) < chip.wild;
        run.ticks.push_back(static_cast<std::uint32_t>(std::lround(260 + 3.0 * static_cast<double>(m % 5) + far + chip.noise * draw() + (held_up ? 300 : 0))));
      }
    }
    if (static_cast<int>(m) != chip.unmeasured) point.runs.push_back(std::move(run));
    table.points.push_back(std::move(point));
  }
  return table;
}

infer::Finding ask(const records::Table& table, const std::string& call = "alike(lat over m)") {
  return test::ask_in("  sweep m in 0..3\n  pattern ring = uniform(stride: 128B, span: 64KiB)\n  launch grid 1 block 1\n  timed lat each { chase A by ring laps 4 }\n", table, "structure", call);
}

/// Points of groups of these sizes, which take turns, as multiprocessors are numbered.
std::vector<int> in_turns(std::vector<int> sizes) {
  std::vector<int> of;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t group = 0; group < sizes.size(); ++group) {
      if (sizes[group] == 0) continue;
      of.push_back(static_cast<int>(group)), --sizes[group], more = true;
    }
  }
  return of;
}

/// The same as an answer has them: numbered as they come, and -1 where a group is one point.
std::vector<int> expected(const std::vector<int>& sizes) {
  auto of = in_turns(sizes);
  std::vector<int> number(sizes.size(), -1);
  int next = 0;
  for (auto& group : of) {
    if (sizes[static_cast<std::size_t>(group)] > 1 && number[static_cast<std::size_t>(group)] < 0) number[static_cast<std::size_t>(group)] = next++;
    group = number[static_cast<std::size_t>(group)];
  }
  return of;
}

std::vector<int> list(const infer::Finding& finding, const char* name) {
  std::vector<int> numbers;
  const auto* fields = finding.value.get<Fields>();
  const auto* items = fields && fields->count(name) ? fields->at(name).get<List>() : nullptr;
  if (items) {
    for (const auto& item : *items) numbers.push_back(static_cast<int>(item.get<Number>()->number));
  }
  return numbers;
}

}  // namespace

TEST_CASE("groups of unequal sizes: which points are in which, and how many") {
  const std::vector<int> sizes{16, 16, 14, 18, 2, 3};
  const auto finding = ask(seen({.of = in_turns(sizes)}));
  CHECK_MESSAGE(field(finding, "count") == 6, finding.why);
  CHECK(list(finding, "of") == in_turns(sizes));
  CHECK(list(finding, "sizes") == sizes);
  CHECK(field(finding, "predicted") > 0.95);
  CHECK(finding.confidence > 0.98);
}

TEST_CASE("points of a group that differ a little are of one group") {
  const auto finding = ask(seen({.of = in_turns({12, 12, 12, 12}), .own = 8}));
  CHECK_MESSAGE(field(finding, "count") == 4, finding.why);
  CHECK(list(finding, "of") == in_turns({12, 12, 12, 12}));
  CHECK(field(finding, "predicted") < 0.98);
}

TEST_CASE("a point that is like no other is in no group") {
  const auto finding = ask(seen({.of = in_turns({8, 8, 1, 1})}));
  CHECK_MESSAGE(field(finding, "count") == 2, finding.why);
  CHECK(list(finding, "sizes") == std::vector<int>{8, 8});
  CHECK(list(finding, "of") == expected({8, 8, 1, 1}));
}

TEST_CASE("no noise at all") {
  const auto finding = ask(seen({.of = in_turns({5, 6, 7}), .noise = 0}));
  CHECK_MESSAGE(field(finding, "count") == 3, finding.why);
  CHECK(list(finding, "of") == in_turns({5, 6, 7}));
}

TEST_CASE("two sides and nothing else, of two slices or of many") {
  for (const int slices : {2, 80}) {
    CAPTURE(slices);
    auto chip = Chip{.of = std::vector<int>(24), .slices = slices};
    for (std::size_t m = 0; m < 24; ++m) chip.of[m] = m < 10 ? 0 : 1;
    const auto finding = ask(seen(chip));
    CHECK_MESSAGE(field(finding, "count") == 2, finding.why);
    CHECK(list(finding, "sizes") == std::vector<int>{10, 14});
  }
}

TEST_CASE("all points see the same: no group") {
  for (const double noise : {0.0, 1.0, 20.0}) {
    CAPTURE(noise);
    const auto finding = ask(seen({.of = std::vector<int>(32, 0), .noise = noise}));
    CHECK(undetermined(finding));
    CHECK(finding.why.find("all points see them alike") != std::string::npos);
  }
}

TEST_CASE("each point sees lines in its own way: no group, however many points") {
  for (const std::size_t points : {4u, 5u, 16u, 60u}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(points);
      CAPTURE(seed);
      auto chip = Chip{.of = std::vector<int>(points), .seed = seed};
      for (std::size_t m = 0; m < points; ++m) chip.of[m] = static_cast<int>(m);
      const auto finding = ask(seen(chip));
      CHECK_MESSAGE(undetermined(finding), field(finding, "count"));
      CHECK(finding.why.find("in a way of its own") != std::string::npos);
    }
  }
}

TEST_CASE("drawn chips: a group is not claimed that is none, whatever the noise") {
  int right = 0, open = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::vector<int> sizes(2 + mix(seed) % 7);
    for (std::size_t group = 0; group < sizes.size(); ++group) sizes[group] = 1 + static_cast<int>(mix(seed << 8 | group) % 12);
    if (in_turns(sizes).size() < 4) continue;
    const auto finding = ask(seen({.of = in_turns(sizes), .lines = 384, .slices = 8 + static_cast<int>(mix(seed + 1) % 80), .spread = 5 + 30 * unit(seed),
                                   .own = 4 * unit(seed + 2), .noise = 12 * unit(seed + 3) * unit(seed + 4), .wild = seed % 3 ? 0 : 0.01, .seed = seed}));
    if (undetermined(finding)) {
      ++open;
      continue;
    }
    const auto of = list(finding, "of");
    right += of == expected(sizes) ? 1 : 0;
    if (finding.confidence >= 0.95) CHECK_MESSAGE(of == expected(sizes), finding.why << ", " << finding.evidence);
  }
  CHECK(right > 25);
  MESSAGE(right << " right, " << open << " undetermined");
}

TEST_CASE("noise as large as what groups differ by, and visits that something holds up: no two points are put together wrongly") {
  const auto truth = in_turns({18, 18, 16, 16, 16, 16, 16, 16});
  const auto finding = ask(seen({.of = truth, .laps = 6, .spread = 13, .noise = 8, .wild = 0.02}), "alike(lat over m) need 80%");
  CHECK_MESSAGE(field(finding, "count") == 8, finding.why);
  const auto of = list(finding, "of");
  REQUIRE(of.size() == truth.size());
  CHECK(std::count(of.begin(), of.end(), -1) < 33);
  for (std::size_t a = 0; a < of.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (of[a] >= 0 && of[b] >= 0) REQUIRE((of[a] == of[b]) == (truth[a] == truth[b]));
    }
  }
}

TEST_CASE("a point that was not measured has no group, and points come in the order of their coordinate") {
  auto of = in_turns({8, 8, 8});
  of[5] = -1;
  const auto finding = ask(seen({.of = in_turns({8, 8, 8}), .unmeasured = 5, .backwards = true}));
  CHECK_MESSAGE(list(finding, "of") == of, finding.why);
  CHECK(list(finding, "sizes") == std::vector<int>{8, 8, 7});
}

TEST_CASE("what cannot be told says why") {
  const auto why = [](const Chip& chip) {
    const auto finding = ask(seen(chip));
    CHECK(undetermined(finding));
    return finding.why;
  };
  CHECK(why({.of = {0}}).find("several multiprocessors") != std::string::npos);
  CHECK(why({.of = {0, 1}}).find("at least 4") != std::string::npos);
  CHECK(why({.of = {0, 0, 1}}).find("at least 4") != std::string::npos);
  CHECK(why({.of = in_turns({8, 8}), .lines = 32}).find("two halves") != std::string::npos);
  CHECK(why({.of = in_turns({8, 8}), .laps = 1}).find("more laps") != std::string::npos);
  auto twice = seen({.of = in_turns({8, 8})});
  for (auto& point : twice.points) point.at["m"] = Value(1.0);
  CHECK(ask(twice).why.find("several points") != std::string::npos);
}
