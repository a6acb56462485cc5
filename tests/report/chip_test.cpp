// SPDX-License-Identifier: Apache-2.0
// The drawing of multiprocessors: which findings are drawn, what of them, and texts of strangers.
#include <doctest/doctest.h>

#include "runtime/report/chip.h"
#include "tests/report/texts.h"

using namespace gexp;
using namespace gexp::report;
using namespace gexp::test;

namespace {

Value list(const std::vector<double>& numbers, Dimension dimension = {}) {
  List items;
  for (const auto number : numbers) items.emplace_back(number, dimension);
  return Value(std::move(items));
}

/// A result of six multiprocessors with these findings.
result::RunResult with(std::vector<std::pair<std::string, Value>> findings) {
  result::RunResult result;
  result.device.sms = 6;
  for (auto& [id, value] : findings) {
    infer::Finding finding;
    finding.id = id;
    finding.status = infer::Finding::Status::Found;
    finding.confidence = 0.99;
    finding.value = std::move(value);
    result.findings.push_back(std::move(finding));
  }
  return result;
}

/// What `alike` answers.
Value groups(const std::vector<double>& of) { return Value(Fields{{"count", Value(2.0)}, {"of", list(of)}, {"sizes", list({3, 3})}}); }

const Value kClocks = groups({0, 1, 2, 0, 1, 2}), kNear = groups({0, 0, 1, 0, 0, 1}), kLatency = list({260, 262, 280, 260, 262, 280}, kCycles);

}  // namespace

TEST_CASE("what was found of each multiprocessor is drawn: a cell for each, fewer groups outside") {
  const auto map = chip_map(with({{"clocks.shared", kClocks}, {"other.list", list({1, 2})}, {"seen.latency", kLatency}, {"seen.near", kNear}}));
  REQUIRE(map);
  REQUIRE((map->groups.size() == 2 && map->values.size() == 1));
  CHECK(map->groups[0].finding == "seen.near");
  CHECK(map->groups[1].groups == 3);
  const auto page = chip_html(*map);
  CHECK(count(page, "class=\"cell\" fill") == 6 + 6);  // cells, and the key's
  CHECK(count(page, "class=\"group\"") == 2);
  CHECK(page.find("seen.near 0: 4 multiprocessors") != std::string::npos);
  CHECK(page.find("clocks.shared 2 (2)") != std::string::npos);
  CHECK(page.find("<title>multiprocessor 5: seen.near 1, clocks.shared 2, seen.latency 280 cycles</title>") != std::string::npos);
  CHECK(count(page, "<tr>") == 7);
}

TEST_CASE("a third grouping frames cells that lie together in a row, line by line") {
  const auto pairs = groups({0, 1, 0, 1, 2, -1});  // 0 and 2, 1 and 3 in the row of all; 4 is alone, 5 is in none
  const auto map = chip_map(with({{"outer", groups({0, 0, 0, 0, 0, 0})}, {"middle", groups({0, 0, 0, 0, 1, 1})}, {"pairs", pairs}}));
  REQUIRE(map);
  REQUIRE(map->groups.size() == 3);
  const auto page = chip_html(*map);
  CHECK(count(page, "class=\"frame\"") == 2);
  CHECK(page.find("multiprocessor 2:") < page.find("multiprocessor 1:"));
  CHECK(count(chip_html(*chip_map(with({{"outer", groups({0, 0, 0, 0, 0, 0})}, {"pairs", pairs}}))), "class=\"frame\"") == 0);
}

TEST_CASE("no drawing without groups of all multiprocessors") {
  CHECK(!chip_map(with({{"seen.latency", kLatency}})));
  CHECK(!chip_map(with({{"f", groups({0, 0, 1})}, {"seen.latency", kLatency}})));
  CHECK(!chip_map(with({{"f", Value(Fields{{"of", list({0, 0, 1, 0, 0, 1})}})}})));
  auto open = with({{"f", kNear}});
  open.findings[0].status = infer::Finding::Status::Undetermined;
  CHECK(!chip_map(open));
  auto alone = with({{"f", groups({0})}});
  alone.device.sms = 1;
  CHECK(!chip_map(alone));
}

TEST_CASE("a multiprocessor of no group, one latency for all, and a stranger's text") {
  const auto map = chip_map(with({{"<b>", groups({0, 0, 1, 1, 2, -1})}, {"l", list({5, 5, 5, 5, 5, 5}, kCycles)}}));
  REQUIRE(map);
  CHECK(map->groups[0].groups == 3);
  const auto page = chip_html(*map);
  CHECK(page.find("<b>") == std::string::npos);
  CHECK(page.find("&lt;b&gt; none: 1 multiprocessor<") != std::string::npos);
  CHECK(page.find("none: 1 multiprocessor<") > page.find("&lt;b&gt; 2: 1 multiprocessor<"));
  CHECK(page.find("nan") == std::string::npos);
}
