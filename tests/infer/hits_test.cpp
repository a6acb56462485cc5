// SPDX-License-Identifier: Apache-2.0
// Which of A B C D A hit: walks of a set that a model replaces, with and without interference and chance.
#include <doctest/doctest.h>

#include <algorithm>
#include <fmt/format.h>

#include "tests/infer/table.h"

using namespace gexp;

namespace {

constexpr const char* kStage = "  pattern q = visits(names: \"A B C D A E A B\", lines: [i * 4KiB for i in 0..4])\n  launch grid 1 block 1\n  timed lat each { chase A by q laps 1 }\n";

/// The walk of the stage: an access for each letter.
records::Table query(std::size_t runs, const std::function<std::uint32_t(std::size_t run, std::size_t access)>& ticks) {
  auto point = test::point(0, 8, 1, runs, ticks);
  point.at.clear();
  Pattern walk;
  walk.steps = 8;
  const std::string order = "ABCDAEAB";
  for (std::size_t i = 0; i < order.size(); ++i) {
    walk.offsets.push_back(4096 * (order[i] - 'A') + 4 * static_cast<std::int64_t>(std::count(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i), order[i])));
    walk.segments.push_back({std::string(1, order[i]), static_cast<std::int64_t>(i)});
  }
  point.walk = std::make_shared<const Pattern>(std::move(walk));
  auto made = test::table({point});
  made.columns.clear();
  return made;
}

/// "A-B-C-D-A+": - a miss, + a hit.
std::string told(const infer::Finding& finding) {
  const auto* list = finding.value.get<List>();
  if (!list) return finding.why;
  std::string text;
  for (const auto& each : *list) {
    const auto& fields = *each.get<Fields>();
    text += *fields.at("name").get<std::string>() + (fields.at("hit").get<Number>()->number == 1 ? "+" : "-");
  }
  return text;
}

bool lru_hits(std::size_t access) { return access == 4 || access == 6; }

}  // namespace

TEST_CASE("a deterministic set: every access, by its name") {
  const auto finding = test::ask_in(kStage, query(10, [](auto run, auto i) { return (lru_hits(i) ? 100u : 300u) + static_cast<std::uint32_t>((run + i) % 2); }), "list", "hits(lat)");
  CHECK(told(finding) == "A-B-C-D-A+E-A+B-");
  CHECK(finding.confidence > 0.95);
  CHECK(finding.evidence == "A misses, B misses, C misses, D misses, A hits, E misses, A hits, B misses");
}

TEST_CASE("interference in some runs changes no answer") {
  const auto finding = test::ask_in(kStage, query(30, [](auto run, auto i) { return (lru_hits(i) && run % 10 != i ? 100u : 300u) + static_cast<std::uint32_t>((run + i) % 2); }), "list", "hits(lat)");
  CHECK(told(finding) == "A-B-C-D-A+E-A+B-");
}

TEST_CASE("a victim drawn by chance: the side of one half is told, and how surely") {
  std::mt19937_64 random(3);
  std::vector<std::vector<bool>> drawn(200, std::vector<bool>(8));
  for (auto& run : drawn) {
    for (std::size_t i = 0; i < 8; ++i) run[i] = i >= 6 && random() % 4 != 0;  // A and B survive in three of four
  }
  const auto table = query(200, [&](auto run, auto i) { return drawn[run][i] || i == 4 ? 100u : 300u; });
  const auto finding = test::ask_in(kStage, table, "list", "hits(lat)");
  CHECK(told(finding) == "A-B-C-D-A+E-A+B+");
  const auto& last = *finding.value.get<List>()->back().get<Fields>();
  CHECK(last.at("share").get<Number>()->number == doctest::Approx(0.75).epsilon(0.1));
}

TEST_CASE("half of the runs hit: undetermined") {
  const auto finding = test::ask_in(kStage, query(40, [](auto run, auto i) { return lru_hits(i) || (i == 7 && run % 2 == 0) ? 100u : 300u; }), "list", "hits(lat)");
  CHECK(test::undetermined(finding));
  CHECK(finding.why.find("the least sure one is B, which hits in 20 of 40 runs") != std::string::npos);
}

TEST_CASE("one latency: all may hit, and all may miss; a hit's latency decides") {
  const auto table = query(10, [](auto, auto) { return 100u; });
  CHECK(told(test::ask_in(kStage, table, "list", "hits(lat)")).starts_with("all latencies are of one class"));
  CHECK(told(test::ask_in(kStage, table, "list", "hits(lat, above: 90cycles)")) == "A+B+C+D+A+E+A+B+");
  CHECK(told(test::ask_in(kStage, table, "list", "hits(lat, above: 30cycles)")) == "A-B-C-D-A-E-A-B-");
}

TEST_CASE("several points are several queries") {
  auto table = query(10, [](auto, auto i) { return lru_hits(i) ? 100u : 300u; });
  table.columns = {"k"};
  table.points.push_back(table.points.front());
  table.points[0].at["k"] = Value(1.0), table.points[1].at["k"] = Value(2.0);
  const std::string stage = std::string("  sweep k in 1..2\n") + kStage;
  CHECK(told(test::ask_in(stage, table, "list", "hits(lat)")).starts_with("there are 2 points"));
  CHECK(told(test::ask_in(stage, table, "list", "hits(lat where k == 2)")) == "A-B-C-D-A+E-A+B-");
  const auto each = test::ask_in(stage, table, "list", "hits(lat by k)");
  REQUIRE(each.value.get<List>());
  CHECK(each.value.get<List>()->size() == 2);
}
