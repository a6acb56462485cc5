// SPDX-License-Identifier: Apache-2.0
// Curves of time over threads drawn from a table of lines, of warp instructions, or of both: which of them it was, and when that
// cannot be told. And what `spikes` makes of noise alone.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/infer/table.h"

using namespace gexp;
using test::field;
using test::Noise;
using test::undetermined;
using test::says;

namespace {

// Sweeps of one value each: they say what there is, the table says how much.
const std::string kStage = "  sweep loads in [1]\n  sweep merge in [1]\n  sweep threads in [2]\n  sweep lines in [1]\n"
                           "  sweep instructions in [1]\n  sweep asked in [1]\n  sweep y in [1cycles]\n  launch grid 1 block 1\n  timed t total { load A at 0B }\n";
const std::string kOutstanding = "outstanding(y over threads by merge, requests: lines, instructions: instructions, accesses: asked)";

struct Table {
  double lines = 1e9, instructions = 1e9, merges = 1e9;
};

/// As the simulator and Lashgar15's figures have it: 400 cycles for each time that the table fills, some for each instruction and line.
records::Table times(const Table& full, double share = 0, std::uint64_t seed = 1, const std::vector<double>& merges = {1, 2, 4, 8, 16, 32}, double most = 1024, double first_load = 1, double load_step = 1) {
  records::Table made;
  made.stage = "s", made.timed = "t", made.timing = records::Table::Timing::Total, made.columns = {"loads", "merge", "threads"};
  Noise noise(seed);
  for (double loads = first_load; loads <= 4; loads += load_step) {
    for (const double merge : merges) {
      for (double threads = 4; threads <= most; threads += 4) {
        const double lines = loads * std::ceil(threads / merge), instructions = loads * std::ceil(threads / 32);
        const double rounds = std::max(std::ceil(lines / full.lines), std::ceil(instructions / full.instructions));
        const double asked = loads * std::ceil(threads / std::min(merge, 32.0)), a_line = std::ceil(asked / lines);
        const double again = a_line > full.merges ? 100 : 0;  // the line is there, then, and is read once more
        const double y = (400 * rounds + again + instructions + lines / 8) * (1 + share * noise());
        made.points.push_back(test::point_of({{"loads", Value(loads)}, {"merge", Value(merge)}, {"threads", Value(threads)}, {"lines", Value(lines)},
                                              {"instructions", Value(instructions)}, {"asked", Value(asked)}, {"y", Value(y, kCycles)}}));
      }
    }
  }
  return made;
}

infer::Finding outstanding(const records::Table& table) { return test::ask_in(kStage, table, "structure", kOutstanding); }
std::string kind(const infer::Finding& finding) {
  const auto* fields = finding.value.get<Fields>();
  return fields ? *fields->at("kind").get<std::string>() : "undetermined: " + finding.why;
}

}  // namespace

TEST_CASE("a table of lines, whoever asks for them") {
  for (const double entries : {32.0, 100.0, 128.0, 256.0}) {
    const auto finding = outstanding(times({.lines = entries}));
    CHECK(kind(finding) == "mshr");
    CHECK(std::fabs(field(finding, "entries") - entries) < 4);
    CHECK(std::isnan(field(finding, "merges")));  // no two warps asked for one line
    CAPTURE(finding.why);
    CHECK(finding.confidence > 0.99);
  }
}

TEST_CASE("an entry merges as many requests of warps as wait together, one more waits for the line") {
  const std::vector<double> merge{1, 2, 4, 8, 16, 32, 1024};
  for (const double merges : {1.0, 2.0, 3.0, 5.0, 8.0, 16.0}) {
    const auto finding = outstanding(times({.lines = 128, .merges = merges}, 0, 1, merge));
    CHECK(kind(finding) == "mshr");
    CHECK(field(finding, "entries") == 128);
    CHECK(field(finding, "merges") == merges);
    CHECK(finding.confidence > 0.95);
  }
  const auto all = outstanding(times({.lines = 128}, 0, 1, merge));
  CHECK(kind(all) == "mshr");
  CHECK(std::isnan(field(all, "merges")));
  CHECK(all.why.find("up to 32 requests") != std::string::npos);
}

TEST_CASE("without warps that ask for lines of their own, merging is not told from how warps are scheduled") {
  const auto finding = outstanding(times({.lines = 16, .merges = 3}, 0, 1, {1, 1024}));  // alone, 16 lines are full before the third warp
  CHECK(std::isnan(field(finding, "merges")));
}

TEST_CASE("curves that jump where one more warp runs may show how warps are scheduled") {
  auto table = times({}, 0, 1, {1, 2, 4, 8, 16, 32}, 160);
  for (auto& point : table.points) {
    const auto at = [&](const char* name) { return point.at.at(name).get<Number>()->number; };
    if (at("loads") == 4 && at("threads") > 128) point.at["y"] = Value(at("y") + 400, kCycles);
  }
  const auto finding = outstanding(table);
  CHECK_MESSAGE(says(finding, "as many warps run"), kind(finding));
}

TEST_CASE("rises no larger than those of issuing, here 0.84 of a latency for each warp, are no table's, however many curves have one") {
  auto table = times({}, 0, 1, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24, 26, 28, 30, 32}, 160, 1, 4);
  for (auto& point : table.points) point.at["y"] = Value(8 + 42 * point.at.at("instructions").get<Number>()->number, kCycles);
  CHECK(kind(outstanding(table)) == "none seen");
}

TEST_CASE("a table of warp instructions, whatever they ask for") {
  for (const double entries : {16.0, 45.0, 64.0}) {
    const auto finding = outstanding(times({.instructions = entries}));
    CHECK(kind(finding) == "prt");
    CHECK(field(finding, "entries") <= entries);
    CHECK(field(finding, "entries") > entries - 4);
    CHECK(std::isnan(field(finding, "requests")));
  }
}

TEST_CASE("a table of warp instructions whose requests are counted, too") {
  const auto finding = outstanding(times({.lines = 1362, .instructions = 45}));
  CHECK(kind(finding) == "prt");
  CHECK(field(finding, "entries") == 45);
  CHECK(field(finding, "requests") == doctest::Approx(1362).epsilon(0.01));
}

TEST_CASE("where issuing takes longer than a latency, nothing is concluded from what is not seen") {
  auto table = times({.instructions = 24});
  for (auto& point : table.points) {  // as much for each line as hides the table: the first is back before the last has left
    const auto value = [&](const char* name) { return point.at[name].get<Number>()->number; };
    const double issue = value("lines"), rounds = std::ceil(value("instructions") / 24);
    if (value("merge") <= 2) point.at["y"] = Value(400 + issue, kCycles);
    else point.at["y"] = Value(400 * rounds + issue / 4, kCycles);
  }
  const auto finding = outstanding(table);
  CHECK(kind(finding) == "prt");
  CHECK(field(finding, "entries") == 24);
}

namespace {

/// As `times`, with what every fourth warp adds for all curves: `delays[i]` from the warp 4 * (i + 1) on.
records::Table delayed(const Table& full, const std::vector<double>& delays) {
  auto table = times(full);
  for (auto& point : table.points) {
    const auto rounds = static_cast<std::size_t>((point.at["threads"].get<Number>()->number - 1) / 128);
    double y = point.at["y"].get<Number>()->number;
    for (std::size_t i = 0; i < std::min(rounds, delays.size()); ++i) y += delays[i];
    point.at["y"] = Value(y, kCycles);
  }
  return table;
}

}  // namespace

TEST_CASE("warps that delay one another are no table") {
  const auto growing = outstanding(delayed({}, {20, 30, 170, 180, 180, 180, 180}));
  CHECK(kind(growing) == "none seen");
  CHECK(field(growing, "requests") >= 384);
  for (const double entries : {40.0, 128.0}) {
    const auto finding = outstanding(delayed({.lines = entries}, {20, 30, 60, 60, 60, 60, 60}));
    CHECK(kind(finding) == "mshr");
    CHECK(std::fabs(field(finding, "entries") - entries) < 4);
  }
}

TEST_CASE("a small rise right before the table is full is not where it is full") {
  auto table = times({.lines = 128});
  for (auto& point : table.points) {
    if (point.at["lines"].get<Number>()->number > 112) point.at["y"] = Value(point.at["y"].get<Number>()->number + 60, kCycles);
  }
  const auto finding = outstanding(table);
  CHECK(kind(finding) == "mshr");
  CHECK(field(finding, "entries") == 128);
}

TEST_CASE("nothing seen, and what could be either") {
  const auto none = outstanding(times({}));
  CHECK(kind(none) == "none seen");
  CHECK(field(none, "requests") > 1500);  // beyond, issuing takes most of a latency, and a full table need not show
  CHECK(says(outstanding(times({.lines = 128}, 0, 1, {1}, 1024, 4)), "would decide"));                 // one curve
  CHECK(says(outstanding(times({.lines = 128}, 0, 1, {1, 32}, 1024, 4)), "one curve alone jumps"));
  CHECK(says(outstanding(times({.lines = 1024, .instructions = 32}, 0, 1, {1}, 1024, 2, 2)), "would decide"));  // 32 lines an instruction everywhere
}

TEST_CASE("jumps that no table explains are not explained") {
  auto table = times({.lines = 128});
  for (auto& point : table.points) {  // two curves jump at 200 threads, which means nothing
    const auto loads = point.at["loads"].get<Number>()->number, merge = point.at["merge"].get<Number>()->number;
    if (merge != 32 || loads < 3) continue;
    if (point.at["threads"].get<Number>()->number > 200 * loads) point.at["y"] = Value(point.at["y"].get<Number>()->number + 400, kCycles);
  }
  CHECK(says(outstanding(table), "neither"));
}

TEST_CASE("the answer stands up to noise, or is not given") {
  int right = 0, wrong = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const bool lines : {true, false}) {
      const auto finding = outstanding(times(lines ? Table{.lines = 128} : Table{.instructions = 45}, 0.02, seed));
      if (undetermined(finding)) continue;
      const bool held = kind(finding) == (lines ? "mshr" : "prt") && std::fabs(field(finding, "entries") - (lines ? 128 : 45)) <= 4;
      (held ? right : wrong) += 1;
    }
  }
  CHECK(wrong == 0);
  CHECK(right >= 30);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto noisy = outstanding(times({}, 0.05, seed));
    CHECK((undetermined(noisy) || kind(noisy) == "none seen"));
    CHECK((undetermined(outstanding(times({.lines = 128}, 0.1, seed)))));
  }
}

TEST_CASE("coarse steps, few points and noise on half of the points make the answer wider or take it away, and never wrong") {
  int wrong = 0, right = 0, all = 0;
  const auto ask = [&](const Table& full, records::Table table) {
    const auto finding = outstanding(table);
    ++all;
    if (undetermined(finding) || finding.confidence < 0.95) return;
    const bool lines = kind(finding) == "mshr", none = kind(finding) == "none seen";
    const double truth = lines ? full.lines : full.instructions;
    const bool held = none ? full.lines >= field(finding, "requests") && full.instructions >= field(finding, "instructions") : field(finding, "entries") <= truth && truth <= field(finding, "most");
    (held ? right : wrong) += 1;
    if (!held) MESSAGE(kind(finding), " ", field(finding, "entries"), " ", field(finding, "most"), " of lines ", full.lines, " instructions ", full.instructions, ": ", finding.why);
  };
  for (const auto& full : {Table{}, Table{.lines = 64}, Table{.lines = 128}, Table{.lines = 200}, Table{.instructions = 24}, Table{.instructions = 45}, Table{.instructions = 64}}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      for (const int step : {16, 32, 96}) {  // threads
        auto table = times(full, 0.01, seed);
        std::erase_if(table.points, [&](const records::Point& point) { return static_cast<int>(point.at.at("threads").get<Number>()->number) % step != 0; });
        ask(full, std::move(table));
      }
      ask(full, times(full, 0.01, seed, {1, 2, 4, 8, 16, 32}, 96));
      auto half = times(full, 0, seed);
      Noise noise(seed);
      for (std::size_t i = 0; i < half.points.size(); i += 2) half.points[i].at["y"] = Value(half.points[i].at["y"].get<Number>()->number * (1 + 0.04 * noise()), kCycles);
      ask(full, std::move(half));
    }
  }
  CHECK(wrong == 0);
  CHECK(right >= all / 3);
  CAPTURE(right);
}

TEST_CASE("noise makes no spikes") {
  int jumps = 0, curves = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto table = times({}, 0.05, seed);
    Noise wild(seed);
    for (auto& point : table.points) {  // and one point in a hundred is an accident
      if (wild() > 2.3) point.at["y"] = Value(3 * point.at["y"].get<Number>()->number, kCycles);
    }
    const auto finding = test::ask_in(kStage, table, "list", "spikes(y over threads by merge)");
    REQUIRE(finding.value.known());
    jumps += static_cast<int>(finding.value.get<List>()->size());
    curves += 24;
  }
  CAPTURE(curves);
  CHECK(jumps == 0);
}

TEST_CASE("a jump where a curve is low is seen although it is small where the curve is high") {
  const auto finding = test::ask_in(kStage, times({.lines = 128}, 0, 1, {1}), "list", "spikes(y over threads where loads == 4)");
  REQUIRE(finding.value.known());
  REQUIRE(!finding.value.get<List>()->empty());
  CHECK(finding.value.get<List>()->front().get<Fields>()->at("before").get<Number>()->number == 32);
}

TEST_CASE("one limit of all curves, and none where a curve passes it without a jump") {
  const auto limit = [](records::Table table) {
    const Source source("t.gexp", "gexp 1\nexperiment t\nmemory A: u32[1MiB] in global\nstage s {\n" + kStage +
                                      "  find jumps: list = spikes(y over threads by merge)\n  find most: count = common_limit(lines over jumps) need 80%\n}\n");
    Diagnostics diagnostics;
    const auto program = compiler::compile(source, {}, diagnostics);
    REQUIRE(program);
    compiler::Names found;
    const auto& finds = program->stages[0].finds;
    found.set("jumps", infer::answer(finds[0], table, program->stages[0], found).value);
    return infer::answer(finds[1], table, program->stages[0], found);
  };
  const auto all = limit(times({.lines = 128}, 0, 1, {1, 2, 4}));
  CAPTURE(all.why);
  REQUIRE(all.value.known());
  CHECK(all.value.get<Number>()->number == 128);
  CHECK(all.confidence > 0.99);
  auto table = times({.lines = 128}, 0, 1, {1, 2});
  for (auto& point : times({}, 0, 1, {4}, 1024, 4).points) table.points.push_back(point);  // up to 1024 lines, and no jump
  CHECK(says(limit(table), "does not jump"));
}

TEST_CASE("a steep slope is no jump, and a jump on it is one") {
  const auto jumps = [](const std::vector<double>& ys) {
    records::Table made;
    made.stage = "s", made.timed = "t", made.timing = records::Table::Timing::Total, made.columns = {"threads"};
    for (std::size_t i = 0; i < ys.size(); ++i) made.points.push_back(test::point_of({{"threads", Value(8.0 * static_cast<double>(i + 1))}, {"y", Value(ys[i], kCycles)}}));
    const auto finding = test::ask_in(kStage, made, "list", "spikes(y over threads)");
    std::vector<double> before;
    REQUIRE(finding.value.known());
    for (const auto& jump : *finding.value.get<List>()) before.push_back(jump.get<Fields>()->at("before").get<Number>()->number);
    return before;
  };
  CHECK(jumps({400, 440, 480, 520, 521, 522, 523, 524, 525, 526, 527, 528}).empty());
  CHECK(jumps({400, 440, 480, 520, 700, 702, 703, 704, 705, 706, 707, 708}) == std::vector<double>{32});
  CHECK(jumps({400, 401, 402, 403, 550, 700, 702, 703, 704, 705, 706, 707}) == std::vector<double>{32});  // in two steps
  CHECK(jumps({400, 401, 402, 800, 402, 403, 404, 405, 406, 407, 408, 409}).empty());                     // an accident
}

namespace {

const std::string kStageOfHits = "  sweep near in 0..1\n" + kStage;

struct Beside {
  Table full;
  double waits = 20;                        ///< cycles that a full table adds where issuing has taken a latency of 60; twice as much behind the second filling
  double faster = 40;                       ///< by which a hit is faster
  double most_loads = 4;                    ///< that a warp may have under way
  std::vector<double> rises{15, 20, 25};    ///< what every eighth warp adds, to hits as to misses: how warps are scheduled
  double noise = 0;                         ///< share of the time
  std::uint64_t seed = 1;
};

/// Launches where issuing and using what came takes as long as a latency, with misses and with hits.
records::Table beside_hits(const Beside& device) {
  records::Table made;
  made.stage = "s", made.timed = "t", made.timing = records::Table::Timing::Total, made.columns = {"loads", "merge", "near", "threads"};
  Noise noise(device.seed);
  for (double loads = 1; loads <= 4; ++loads) {
    for (const double merge : {2.0, 4.0, 8.0, 16.0, 32.0}) {
      for (const double near : {0.0, 1.0}) {
        for (double threads = 2; threads <= 1024; threads += std::min(2 * merge, 16.0)) {
          const double lines = loads * std::ceil(threads / merge), warps = std::ceil(threads / 32), instructions = loads * warps;
          double y = 60 + instructions + lines / 8;
          for (std::size_t i = 0; i < device.rises.size(); ++i) y += warps > 8 * static_cast<double>(i + 1) ? device.rises[i] : 0;
          if (near != 0) {
            y -= device.faster;
          } else {
            const double rounds = std::max(std::ceil(lines / device.full.lines), std::ceil(instructions / device.full.instructions));
            if (rounds > 1) y = std::max(y, 125.0);  // an entry comes free after one latency, and what takes it takes another
            y += device.waits * (std::min(rounds, 3.0) - 1) + (loads > device.most_loads ? 60 : 0);
          }
          y *= 1 + device.noise * noise();
          made.points.push_back(test::point_of({{"loads", Value(loads)}, {"merge", Value(merge)}, {"near", Value(near)}, {"threads", Value(threads)}, {"lines", Value(lines)},
                                                {"instructions", Value(instructions)}, {"asked", Value(loads * threads)}, {"y", Value(y, kCycles)}}));
        }
      }
    }
  }
  return made;
}

infer::Finding told_by_hits(const Beside& device) {
  return test::ask_in(kStageOfHits, beside_hits(device), "structure",
                      "outstanding(y over threads by merge, requests: lines, instructions: instructions, accesses: asked, latency: 60cycles, hits: near)");
}

/// The number is one of those that the finding leaves.
bool within(const infer::Finding& finding, double entries) { return field(finding, "entries") <= entries && entries <= field(finding, "most"); }

}  // namespace

TEST_CASE("hits beside misses tell a full table from warps that delay one another") {
  for (const double entries : {29.0, 45.0, 58.0}) {
    const auto finding = told_by_hits({.full = {.instructions = entries}});
    CHECK(kind(finding) == "prt");
    CHECK(within(finding, entries));
    CHECK(finding.confidence > 0.99);
  }
  for (const double entries : {36.0, 71.0, 130.0}) {  // the next multiple rises as much
    const auto finding = told_by_hits({.full = {.lines = entries}});
    CHECK(kind(finding) == "mshr");
    CHECK(within(finding, entries));
    }
}

TEST_CASE("what hits do as well is no table") {
  const auto none = told_by_hits({});
  CHECK(kind(none) == "none seen");
  CHECK(field(none, "instructions") < 45);  // beyond, issuing takes most of a latency
  CHECK(field(none, "requests") > 16);
}

TEST_CASE("loads that wait for their own warp are no table") {
  CHECK(kind(told_by_hits({.full = {}, .most_loads = 2})) == "none seen");
  const auto finding = told_by_hits({.full = {.instructions = 29}, .most_loads = 2});
  CHECK(kind(finding) == "prt");
  CHECK(within(finding, 29));
}

TEST_CASE("hits that are no faster tell nothing") { CHECK(says(told_by_hits({.full = {.lines = 71}, .faster = 2}), "hits are faster by 3 %")); }

TEST_CASE("beside hits, noise is no table, and hides none or makes it undetermined") {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (const double noise : {0.01, 0.05}) {
      const auto none = told_by_hits({.full = {}, .noise = noise, .seed = seed});
      CHECK((undetermined(none) || kind(none) == "none seen"));
    }
    const auto finding = told_by_hits({.full = {.instructions = 45}, .noise = 0.01, .seed = seed});
    if (undetermined(finding) || kind(finding) == "none seen") continue;
    CHECK(kind(finding) == "prt");
    CHECK(within(finding, 45));
    ++found;
  }
  CHECK(found >= 30);
}
