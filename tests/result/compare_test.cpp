// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/compare.h"

#include <doctest/doctest.h>

#include <random>

using namespace gexp;
using infer::Agreement;
using result::RunResult;

namespace {

const compiler::Program kNoProgram;

RunResult found(const char* id, Value value, std::optional<std::pair<double, double>> interval = {}, double confidence = 0.99) {
  RunResult result;
  infer::Finding finding;
  finding.id = id;
  finding.value = std::move(value);
  finding.interval = interval;
  finding.confidence = confidence;
  if (!finding.value.known()) finding.why = "nothing misses";
  result.findings.push_back(finding);
  return result;
}

result::ComparedFinding only(const RunResult& a, const RunResult& b, double margin = result::kMargin) {
  const auto rows = result::compare({{kNoProgram, a, "A"}, {kNoProgram, b, "B"}}, margin);
  REQUIRE(rows.size() == 1);
  return rows[0];
}
Agreement agreement(const RunResult& a, const RunResult& b) { return only(a, b).agreement; }

// A stage whose record is drawn: each tick scatters and some wait long, each run has an offset of its own, and now and then
// something else disturbs a whole run, as on a GPU that others use.
struct Drawn {
  std::size_t points = 24, runs = 10, ticks = 48;
  double offset = 0.004;  // from run to run
  double factor = 1;  // of the second half of the points, those of the slower level
};

compiler::Program program_of() {
  compiler::Program program;
  compiler::Stage stage;
  stage.name = "fill";
  stage.timed_name = "lat";
  program.stages.push_back(std::move(stage));
  return program;
}

RunResult draw(const Drawn& what, std::mt19937_64& chance) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> share;
  RunResult result;
  result::StageResult stage;
  stage.name = "fill";
  stage.table.stage = "fill";
  stage.table.timed = "lat";
  stage.table.columns = {"n"};
  for (std::size_t i = 0; i < what.points; ++i) {
    const bool slow = 2 * i >= what.points;
    const double level = slow ? 280 * what.factor : 190;
    records::Point point;
    point.at["n"] = Value(static_cast<double>(i + 1) * 1024, kBytes);
    for (std::size_t r = 0; r < what.runs; ++r) {
      records::Run run;
      const double offset = 1 + what.offset * normal(chance) + (share(chance) < 0.01 ? 0.1 * share(chance) : 0);
      for (std::size_t t = 0; t < what.ticks; ++t) {
        double tick = level * offset + 3 * normal(chance);
        if (share(chance) < 0.02) tick += 50 / (0.02 + share(chance));  // a refresh, a queue
        run.ticks.push_back(static_cast<std::uint32_t>(std::lround(tick)));
      }
      point.runs.push_back(std::move(run));
    }
    stage.table.points.push_back(std::move(point));
  }
  result.stages.push_back(std::move(stage));
  return result;
}

result::ComparedCurve curve(const RunResult& a, const RunResult& b) {
  static const auto program = program_of();
  const auto curves = result::compare_curves({program, a, "A"}, {program, b, "B"});
  REQUIRE(curves);
  REQUIRE(curves->size() == 1);
  return curves->front();
}

}  // namespace

TEST_CASE("sizes, counts, names and lists are the same where they are equal") {
  const auto bytes = [](double n) { return Value(n, kBytes); };
  CHECK(agreement(found("a", bytes(4096)), found("a", bytes(4096))) == Agreement::Same);
  CHECK(agreement(found("a", bytes(4096)), found("a", bytes(4128))) == Agreement::Different);
  CHECK(agreement(found("a", bytes(4096), {{4096, 4127}}), found("a", bytes(4100), {{4100, 4131}})) == Agreement::Ambiguous);
  CHECK(agreement(found("a", bytes(4096), {{4096, 4127}}), found("a", bytes(4128), {{4128, 4159}})) == Agreement::Different);
  CHECK(agreement(found("a", 100.0), found("a", 101.0)) == Agreement::Different);
  CHECK(agreement(found("a", "lru"), found("a", "fifo")) == Agreement::Different);
  CHECK(agreement(found("a", "lru"), found("a", "fifo", {}, 0.7)) == Agreement::Ambiguous);
  CHECK(agreement(found("a", List{7.0, 8.0}), found("a", List{7.0, 9.0})) == Agreement::Different);
}

TEST_CASE("what was not found on one side is ambiguous, on both sides no claim") {
  const auto row = only(found("a", 100.0), found("a", Value()));
  CHECK(row.agreement == Agreement::Ambiguous);
  CHECK(row.why == "undetermined on B: nothing misses");
  CHECK(agreement(found("a", Value()), found("a", Value())) == Agreement::Undetermined);
}

TEST_CASE("times and rates without records: by value and interval") {
  const auto cycles = [](double n) { return Value(n, kCycles); };
  const auto rate = [](double n) { return Value(n, kBytes / kSeconds); };
  CHECK(agreement(found("a", cycles(100)), found("a", cycles(101.5))) == Agreement::Same);
  CHECK(agreement(found("a", cycles(100)), found("a", cycles(103))) == Agreement::Different);
  CHECK(only(found("a", cycles(100)), found("a", cycles(103)), 0.05).agreement == Agreement::Same);
  // The interval of a latency is its class's width.
  CHECK(agreement(found("a", cycles(100), {{95, 105}}), found("a", cycles(108), {{104, 112}})) == Agreement::Different);
  CHECK(agreement(found("a", rate(100), {{95, 105}}), found("a", rate(108), {{104, 112}})) == Agreement::Ambiguous);
  CHECK(agreement(found("a", rate(100), {{99.9, 100.1}}), found("a", rate(108), {{107.9, 108.1}})) == Agreement::Different);
  CHECK(agreement(found("a", List{cycles(264.8), cycles(297.8)}), found("a", List{cycles(265.1), cycles(298.1)})) == Agreement::Same);
  CHECK(agreement(found("a", List{cycles(264.8), cycles(297.8)}), found("a", List{cycles(264.8)})) == Agreement::Different);
}

TEST_CASE("a structure is compared field by field, those of one device alone too") {
  const auto a = found("s.sets", Fields{{"sets", 4.0}, {"ways", 96.0}}), b = found("s.sets", Fields{{"sets", 4.0}, {"ways", 48.0}, {"more", 1.0}});
  const auto rows = result::compare({{kNoProgram, a, "a"}, {kNoProgram, b, "b"}, {kNoProgram, a, "c"}});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].id == "s.sets.sets");
  CHECK(rows[0].agreement == Agreement::Same);
  CHECK(rows[1].id == "s.sets.ways");
  CHECK(rows[1].values == std::vector<std::string>{"96", "48", "96"});
  CHECK(rows[1].agreement == Agreement::Different);
  CHECK(rows[2].values == std::vector<std::string>{"undetermined", "1", "undetermined"});
  CHECK(rows[2].agreement == Agreement::Ambiguous);
}

TEST_CASE("drawn curves without a difference are hardly ever called different") {
  std::mt19937_64 chance(1);
  constexpr std::size_t kPairs = 100;
  std::size_t in_all = 0;
  for (const std::size_t runs : {2, 3, 5, 10, 20}) {
    for (const auto& [ticks, offset] : {std::pair<std::size_t, double>{48, 0.004}, {48, 0.02}, {48, 0.0}, {1, 0.01}}) {
      std::size_t different = 0, same = 0;
      for (std::size_t i = 0; i < kPairs; ++i) {
        Drawn what;
        what.runs = runs, what.ticks = ticks, what.offset = offset;
        const auto verdict = curve(draw(what, chance), draw(what, chance));
        different += verdict.agreement == Agreement::Different ? 1 : 0;
        same += verdict.same();
      }
      INFO(runs, " runs of ", ticks, " ticks, offsets of ", offset, ": ", different, " of ", kPairs, " different, ", 100.0 * static_cast<double>(same) / (kPairs * 24), " % of the points same");
      CHECK(different <= kPairs / 50);
      in_all += different;
    }
  }
  CHECK(in_all <= kPairs / 5);  // 1 %
}

TEST_CASE("5 % are found with ten repetitions, and the points where they are") {
  std::mt19937_64 chance(2);
  std::size_t found_it = 0, wrong_place = 0;
  constexpr std::size_t kPairs = 100;
  for (std::size_t i = 0; i < kPairs; ++i) {
    Drawn what;
    const auto a = draw(what, chance);
    what.factor = 1.05;
    const auto verdict = curve(a, draw(what, chance));
    found_it += verdict.agreement == Agreement::Different ? 1 : 0;
    wrong_place += verdict.different > 12 ? 1 : 0;
    if (verdict.agreement == Agreement::Different) CHECK(verdict.worst->difference.low > 0);
  }
  CHECK(found_it == kPairs);
  CHECK(wrong_place == 0);
}

TEST_CASE("a result and itself are the same, with one repetition too; refined points are counted apart") {
  std::mt19937_64 chance(3);
  for (const std::size_t runs : {1, 2, 10}) {
    Drawn what;
    what.runs = runs;
    auto a = draw(what, chance);
    CHECK(curve(a, a).same() == 24);
    auto b = a;
    b.stages[0].table.points.erase(b.stages[0].table.points.begin() + 3, b.stages[0].table.points.begin() + 5);
    const auto verdict = curve(a, b);
    CHECK(verdict.agreement == Agreement::Same);
    CHECK(verdict.points == 22);
    CHECK(verdict.only_in_a == 2);
    CHECK(verdict.only_in_b == 0);
  }
}

TEST_CASE("one repetition is too few, and says so") {
  std::mt19937_64 chance(4);
  Drawn what;
  what.runs = 1;
  const auto a = draw(what, chance);
  what.factor = 1.5;
  const auto verdict = curve(a, draw(what, chance));
  CHECK(verdict.agreement == Agreement::Ambiguous);
  REQUIRE(verdict.worst);
  CHECK(verdict.worst->why == "too few repetitions");
}
