// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <map>

#include "runtime/infer/reconcile.h"
#include "tests/infer/table.h"

namespace gexp::test {

/// A cache whose sets replace the line used least recently: what it makes of a walk.
class LruCache {
 public:
  LruCache(std::int64_t line, std::size_t ways, std::function<std::uint64_t(std::int64_t line)> set_of) : line_(line), ways_(ways), set_of_(std::move(set_of)) {}
  bool hits(std::int64_t offset) {
    const auto line = offset / line_;
    auto& set = sets_[set_of_(line)];
    const auto at = std::find(set.begin(), set.end(), line);
    const bool there = at != set.end();
    if (there) set.erase(at);
    else if (set.size() == ways_) set.pop_front();
    set.push_back(line);
    return there;
  }

 private:
  std::int64_t line_;
  std::size_t ways_;
  std::function<std::uint64_t(std::int64_t)> set_of_;
  std::map<std::uint64_t, std::deque<std::int64_t>> sets_;
};

constexpr std::uint32_t kHitTicks = 50, kMissTicks = 250;

/// 4 sets by bits 7 and 8, of 8 lines of 32 B.
inline LruCache four_sets() {
  return {32, 8, [](std::int64_t line) { return static_cast<std::uint64_t>(line / 4 % 4); }};
}

/// One point: two laps of a warm-up, then two timed ones, three times over; the cache begins empty.
inline records::Point walked(std::map<std::string, Value> at, std::vector<std::int64_t> offsets, const LruCache& empty) {
  records::Point made;
  made.at = std::move(at);
  Pattern ring;
  ring.steps = static_cast<std::int64_t>(offsets.size());
  ring.offsets = std::move(offsets);
  made.walk = made.warm_walk = std::make_shared<const Pattern>(std::move(ring));
  made.warm_steps = 2 * made.walk->steps;
  made.steps = 2 * made.walk->steps;
  made.overhead = 10;
  for (int run = 0; run < 3; ++run) {
    auto cache = empty;
    for (std::int64_t i = 0; i < made.warm_steps; ++i) cache.hits(made.walk->offsets[static_cast<std::size_t>(i % made.walk->steps)]);
    records::Run one;
    for (std::int64_t i = 0; i < made.steps; ++i) one.ticks.push_back(cache.hits(made.walk->offsets[static_cast<std::size_t>(i % made.walk->steps)]) ? kHitTicks : kMissTicks);
    made.runs.push_back(std::move(one));
  }
  return made;
}

/// A stage that chases through a ring past its warm-up; `sweep` and `finds` are lines of their own.
inline std::string stage(const std::string& name, const std::string& sweep, const std::string& ring, const std::string& finds) {
  return "stage " + name + " {\n" + sweep + "  pattern ring = " + ring + R"(
  launch grid 1 block 1
  warm { chase A by ring laps 2 via nc }
  timed lat each { chase A by ring laps 2 via nc }
)" + finds + "}\n";
}
/// One that sweeps footprints for a size.
inline std::string size_stage(const std::string& name, const std::string& finds) {
  return stage(name, "  sweep n in 32B..64KiB times 2\n", "uniform(stride: 32B, span: n)", finds);
}

/// A file of these stages.
inline compiler::Program program_of(const std::string& stages) {
  const Source source("t.gexp", "gexp 1\nexperiment t\nmemory A: u32[1MiB] in global\n" + stages);
  Diagnostics diagnostics;
  auto program = compiler::compile(source, {}, diagnostics);
  REQUIRE(program);
  return *program;
}

/// The findings, once they are held against what the program's first stages measured.
inline std::vector<infer::Finding> reconciled(const compiler::Program& program, const std::vector<records::Table>& tables, std::vector<infer::Finding> findings) {
  infer::MeasuredStages measured;
  for (std::size_t i = 0; i < tables.size(); ++i) measured.add(program.stages[i], tables[i]);
  infer::reconcile(program, measured, compiler::Names(), findings);
  return findings;
}

/// Every `stride` bytes from 0 up to `span`.
inline std::vector<std::int64_t> every(std::int64_t stride, std::int64_t span) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t offset = 0; offset < span; offset += stride) offsets.push_back(offset);
  return offsets;
}

}  // namespace gexp::test
