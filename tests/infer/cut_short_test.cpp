// SPDX-License-Identifier: Apache-2.0
// An answer that the budget cuts short is none: at whatever look it says no.
#include <doctest/doctest.h>

#include "lang/base/budget.h"
#include "tests/infer/table.h"

using namespace gexp;

namespace {

/// A cache of 256 lines that replaces by LRU: walks of twice 64 to 512 lines.
records::Table walks() {
  std::vector<records::Point> points;
  for (std::int64_t lines = 64; lines <= 512; lines += 64) {
    points.push_back(test::point(static_cast<double>(32 * lines), lines, 20, 3, [&](std::size_t run, std::size_t access) {
      const bool first = access < static_cast<std::size_t>(lines);
      return static_cast<std::uint32_t>((first || lines > 256 ? 300 : 40) + (access + run) % 3);
    }));
  }
  return test::table(std::move(points));
}

constexpr struct {
  const char *type, *analysis;
} kQuestions[] = {{"B", "last_flat(misses(lat) over n)"},
                  {"cycles", "slowest(lat)"},
                  {"structure", "replacement(lat, members: [i * 32B for i in 0..511], line: 32B)"}};

}  // namespace

TEST_CASE("a question that is cut short, wherever that is, has no answer and says why") {
  const auto table = walks();
  for (const auto& [type, analysis] : kQuestions) {
    CAPTURE(analysis);
    const auto whole = test::ask(table, type, analysis);
    REQUIRE(whole.id == "s.f");
    std::size_t cut = 0, looks = 0;
    for (std::size_t allowed = 0;; allowed += 1 + allowed / 8) {
      looks = 0;
      const Budget budget({.interrupted = [&] { return ++looks > allowed; }});
      const Budget::Use use(budget);
      const auto finding = test::ask(table, type, analysis);
      if (looks <= allowed) {
        CHECK(finding.why == whole.why);
        CHECK(finding.value == whole.value);
        break;
      }
      ++cut;
      CHECK(finding.status == infer::Finding::Status::Undetermined);
      CHECK_FALSE(finding.value.known());
      CHECK(finding.why.find("interrupted") != std::string::npos);
    }
    CHECK(cut > 0);
  }
}

TEST_CASE("records that were not looked at in time say so") {
  const auto table = walks();
  const Budget budget({.interrupted = [] { return true; }});
  const Budget::Use use(budget);
  CHECK(infer::PreparedRecords(table).classes().cut_short);
  CHECK(infer::classify(table).cut_short);
}
