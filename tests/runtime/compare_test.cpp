// SPDX-License-Identifier: Apache-2.0
#include "runtime/compare.h"

#include <doctest/doctest.h>

using namespace gexp;
using runtime::RunResult;

namespace {

RunResult found(const char* id, Value value, std::optional<std::pair<double, double>> interval = {}) {
  RunResult result;
  infer::Finding finding;
  finding.id = id;
  finding.value = std::move(value);
  finding.interval = interval;
  result.findings.push_back(finding);
  return result;
}

}  // namespace

TEST_CASE("numbers within 2 %, or whose intervals meet, are the same") {
  const auto same = [](const RunResult& a, const RunResult& b) {
    const auto rows = runtime::compare({&a, &b});
    REQUIRE(rows.size() == 1);
    return rows[0].same;
  };
  CHECK(same(found("a", 100.0), found("a", 101.5)));
  CHECK_FALSE(same(found("a", 100.0), found("a", 103.0)));
  CHECK(same(found("a", 100.0, {{95, 105}}), found("a", 108.0, {{104, 112}})));
  CHECK_FALSE(same(found("a", 100.0), found("a", Value())));
  CHECK(same(found("a", Value()), found("a", Value())));
  CHECK_FALSE(same(found("a", "lru"), found("a", "fifo")));
  CHECK(same(found("a", List{264.8, 297.8}), found("a", List{265.1, 298.1})));
  CHECK_FALSE(same(found("a", List{264.8, 297.8}), found("a", List{264.8})));
}

TEST_CASE("a structure is compared field by field, those of one device alone too") {
  const auto a = found("s.sets", Fields{{"sets", 4.0}, {"ways", 96.0}}), b = found("s.sets", Fields{{"sets", 4.0}, {"ways", 48.0}, {"more", 1.0}});
  const auto rows = runtime::compare({&a, &b, &a});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].id == "s.sets.sets");
  CHECK(rows[0].same);
  CHECK(rows[1].id == "s.sets.ways");
  CHECK(rows[1].values == std::vector<std::string>{"96", "48", "96"});
  CHECK_FALSE(rows[1].same);
  CHECK(rows[2].values == std::vector<std::string>{"undetermined", "1", "undetermined"});
}
