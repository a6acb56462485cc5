// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/records.h"

#include <fmt/format.h>

#include <cstdlib>
#include <random>

#include "compiler/pipeline.h"

namespace gexp::bench {
namespace {

using records::Point;
using records::Run;
using records::Table;

constexpr std::int64_t kLine = 32;

/// Latencies with a little jitter, and one access in two hundred delayed as by a DRAM refresh.
class Clock {
 public:
  explicit Clock(unsigned seed) : random_(seed) {}
  std::uint32_t hit() { return tick(120); }
  std::uint32_t miss() { return tick(250); }
  std::uint32_t far() { return tick(420); }
  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  std::uint32_t tick(std::uint32_t base) {
    const auto chance = random_();
    return base + chance % 3 + (chance / 16 % 200 == 0 ? 300 : 0);
  }
  std::minstd_rand random_;
};

std::shared_ptr<const Pattern> ring(std::size_t steps, std::int64_t stride) {
  Pattern made;
  made.steps = static_cast<std::int64_t>(steps);
  for (std::size_t i = 0; i < steps; ++i) made.offsets.push_back(static_cast<std::int64_t>(i) * stride);
  return std::make_shared<const Pattern>(std::move(made));
}

/// The same in another order, which a generator of full period gives.
std::shared_ptr<const Pattern> shuffled(std::size_t steps, std::int64_t stride, unsigned seed) {
  Pattern made = *ring(steps, stride);
  std::minstd_rand random(seed);
  for (std::size_t i = steps; i > 1; --i) std::swap(made.offsets[i - 1], made.offsets[random() % i]);
  return std::make_shared<const Pattern>(std::move(made));
}

Point point(std::map<std::string, Value> at, std::shared_ptr<const Pattern> walk, std::int64_t laps) {
  Point made;
  made.at = std::move(at);
  made.steps = walk->steps * laps;
  made.walk = std::move(walk);
  made.overhead = 17;
  return made;
}

Table table(std::vector<std::string> columns) {
  Table made;
  made.stage = "s";
  made.timed = "lat";
  made.columns = std::move(columns);
  return made;
}

/// Footprints n of 32 B lines, five runs of two laps: the upper half of them misses.
Table footprints(std::size_t accesses) {
  auto made = table({"n"});
  constexpr std::size_t kPoints = 16, kRuns = 5, kLaps = 2;
  const std::size_t most = accesses * 2 / (kPoints + 1) / kRuns / kLaps;
  Clock clock(1);
  for (std::size_t p = 1; p <= kPoints; ++p) {
    const std::size_t steps = most * p / kPoints;
    made.points.push_back(point({{"n", Value(static_cast<double>(steps * kLine), kBytes)}}, ring(steps, kLine), kLaps));
    for (std::size_t r = 0; r < kRuns; ++r) {
      Run run;
      for (std::size_t i = 0; i < steps * kLaps; ++i) run.ticks.push_back(2 * p <= kPoints ? clock.hit() : i % 7 == 0 ? clock.far() : clock.miss());
      made.points.back().runs.push_back(std::move(run));
    }
  }
  return made;
}

/// The same, from large to small: where it fits again.
Table holes(std::size_t accesses) {
  auto made = footprints(accesses);
  for (std::size_t i = 0; i < made.points.size(); ++i) made.points[i].at["n"] = Value(static_cast<double>((made.points.size() - i) * 1024), kBytes);
  std::reverse(made.points.begin(), made.points.end());
  return made;
}

/// A cold walk over elements of 4 B, of which each eighth misses.
Table cold(std::size_t accesses) {
  auto made = table({"n"});
  const std::size_t steps = accesses / 5;
  made.points.push_back(point({{"n", Value(4096.0, kBytes)}}, ring(steps, 4), 1));
  Clock clock(2);
  for (int r = 0; r < 5; ++r) {
    Run run;
    for (std::size_t i = 0; i < steps; ++i) run.ticks.push_back(i % 8 == 0 ? clock.miss() : clock.hit());
    made.points.back().runs.push_back(std::move(run));
  }
  return made;
}

/// Lines added one by one, in three orders, to a cache of 16 sets that fitted: each overflows a set more.
Table sets(std::size_t accesses) {
  auto made = table({"n", "order"});
  constexpr std::size_t kSets = 16, kOrders = 3, kRuns = 4, kLaps = 8;
  const std::size_t fitted = accesses / (kSets + 1) / kOrders / kRuns / kLaps / kSets * kSets;
  Clock clock(3);
  for (std::size_t extra = 0; extra <= kSets; ++extra) {
    for (std::size_t order = 0; order < kOrders; ++order) {
      auto walk = shuffled(fitted + extra, kLine, static_cast<unsigned>(order + 1));
      made.points.push_back(point({{"n", Value(static_cast<double>(extra))}, {"order", Value(static_cast<double>(order))}}, walk, kLaps));
      for (std::size_t r = 0; r < kRuns; ++r) {
        Run run;
        for (std::size_t i = 0; i < (fitted + extra) * kLaps; ++i) {
          const auto line = static_cast<std::size_t>(walk->offsets[i % (fitted + extra)] / kLine);
          run.ticks.push_back(line % kSets < extra ? clock.miss() : clock.hit());
        }
        made.points.back().runs.push_back(std::move(run));
      }
    }
  }
  return made;
}

/// One set of `ways` that is walked over with a line more, victims drawn by chance; 3584 accesses a launch, in windows of it.
Table one_set(std::size_t accesses, std::size_t ways, std::size_t windows, bool chance) {
  auto made = table({"n"});
  constexpr std::size_t kLaunch = 3584;
  const std::size_t words = 8;
  auto walk = shuffled((ways + 1) * words, kLine / static_cast<std::int64_t>(words), 5);
  made.points.push_back(point({{"n", Value(1.0)}}, walk, 1));
  made.points[0].steps = static_cast<std::int64_t>(kLaunch * windows);
  Clock clock(4);
  for (std::size_t done = 0; done < accesses; done += kLaunch * windows) {
    Run run;
    std::vector<std::size_t> in(ways, ways + 1);
    std::size_t filled = 0, next = 0;
    for (std::size_t i = 0; i < kLaunch * windows; ++i) {
      if (i > 0 && i % kLaunch == 0) run.windows.push_back(static_cast<std::uint32_t>(i));
      const auto line = static_cast<std::size_t>(walk->offsets[i % walk->offsets.size()] / kLine);
      const bool held = std::find(in.begin(), in.end(), line) != in.end();
      run.ticks.push_back(held ? clock.hit() : clock.miss());
      if (!held) in[filled < ways ? filled++ : chance ? clock.below(ways) : next++ % ways] = line;
    }
    made.points[0].runs.push_back(std::move(run));
  }
  return made;
}
Table random_set(std::size_t accesses) { return one_set(accesses, 96, 1, true); }
Table small_random_set(std::size_t accesses) { return one_set(accesses, 4, 1, true); }
Table fifo_set(std::size_t accesses) { return one_set(accesses, 192, 1, false); }
Table windowed_set(std::size_t accesses) { return one_set(accesses, 96, accesses / 3584 / 2, false); }

/// Eight parts of a walk with latencies of their own.
Table parts(std::size_t accesses) {
  auto made = table({"n"});
  constexpr std::size_t kParts = 8, kRuns = 5;
  Pattern walk = *ring(accesses / kRuns, kLine);
  for (std::size_t p = 0; p < kParts; ++p) walk.segments.push_back({fmt::format("part{}", p), static_cast<std::int64_t>(p * accesses / kRuns / kParts)});
  made.points.push_back(point({{"n", Value(1.0)}}, std::make_shared<const Pattern>(walk), 1));
  Clock clock(5);
  for (std::size_t r = 0; r < kRuns; ++r) {
    Run run;
    for (std::size_t i = 0; i < accesses / kRuns; ++i) run.ticks.push_back(clock.hit() + static_cast<std::uint32_t>(i / (accesses / kRuns / kParts) * 60));
    made.points.back().runs.push_back(std::move(run));
  }
  return made;
}

/// Times of a million warps, hardly two of them alike.
Table totals(std::size_t accesses) {
  auto made = table({"n"});
  made.timing = Table::Timing::Total;
  constexpr std::size_t kPoints = 64, kRuns = 4;
  std::minstd_rand random(6);
  for (std::size_t p = 1; p <= kPoints; ++p) {
    Point here;
    here.at["n"] = Value(static_cast<double>(p));
    here.overhead = 17;
    for (std::size_t r = 0; r < kRuns; ++r) {
      Run run;
      for (std::size_t i = 0; i < accesses / kPoints / kRuns; ++i) run.ticks.push_back(static_cast<std::uint32_t>(20000 * std::min<std::size_t>(p, 40) + random() % 200000));
      here.runs.push_back(std::move(run));
    }
    made.points.push_back(std::move(here));
  }
  return made;
}

/// As many points as possible, of one value each.
Table many_points(std::size_t accesses) {
  auto made = table({"n"});
  made.timing = Table::Timing::Total;
  std::minstd_rand random(7);
  for (std::size_t p = 1; p <= accesses; ++p) {
    Point here;
    here.at["n"] = Value(static_cast<double>(p));
    here.runs.push_back({{static_cast<std::uint32_t>(1000 + std::min(p, accesses / 2) / 8 + random() % 16)}, {0}, 0});
    made.points.push_back(std::move(here));
  }
  return made;
}

/// 32 lanes at strides of words, many runs.
Table strides(std::size_t accesses) {
  auto made = table({"n"});
  made.timing = Table::Timing::Total;
  for (const std::size_t stride : {1, 2, 3, 4, 6, 8, 16, 24, 32}) {
    Point here;
    here.at["n"] = Value(static_cast<double>(stride));
    std::size_t ways = 1;
    while (stride % (2 * ways) == 0 && ways < 32) ways *= 2;
    for (std::size_t r = 0; r < 100; ++r) here.runs.push_back({std::vector<std::uint32_t>(accesses / 900, static_cast<std::uint32_t>(30 + 8 * ways)), {0}, 0});
    made.points.push_back(std::move(here));
  }
  return made;
}

Case made(const std::string& name, const std::string& sweeps, const std::string& timed, const std::string& find, Table (*records)(std::size_t)) {
  const bool each = timed.find("each") != std::string::npos;
  const Source source("bench.gexp", fmt::format("gexp 1\nexperiment t\nmemory A: u32[1MiB] in global\nstage s {{\n  {}\n{}  launch grid 1 block 1\n  timed {} {{ {} }}\n  find f: {}\n}}\n",
                                                sweeps, each ? "  pattern ring = uniform(stride: 32B, span: 1KiB)\n" : "", timed, each ? "chase A by ring laps 1" : "load A at 0B", find));
  Diagnostics diagnostics;
  auto program = compiler::compile(source, {}, diagnostics);
  if (!program) {
    for (const auto& diagnostic : diagnostics.sorted()) fmt::print(stderr, "{}", render(diagnostic, &source));
    std::exit(1);
  }
  return {name, std::move(*program), records};
}

}  // namespace

std::vector<Case> cases() {
  const std::string bytes = "sweep n in 32B..64KiB times 2", count = "sweep n in 0..8", each = "lat each", total = "lat total";
  std::vector<Case> all;
  all.push_back(made("last_flat", bytes, each, "B = last_flat(misses(lat) over n)", footprints));
  all.push_back(made("last_flat, above", bytes, each, "B = last_flat(misses(lat, above: 233cycles) over n)", footprints));
  all.push_back(made("first_flat", bytes, each, "B = first_flat(missed(lat) over n)", holes));
  all.push_back(made("first_miss", bytes, each, "B = first_miss(lat over n)", footprints));
  all.push_back(made("miss_spacing", bytes, each, "B = miss_spacing(lat)", cold));
  all.push_back(made("fastest", bytes, each, "cycles = fastest(lat)", footprints));
  all.push_back(made("latency_classes", bytes, each, "list = latency_classes(lat)", footprints));
  all.push_back(made("latency_classes, total", count, total, "list = latency_classes(lat)", totals));
  all.push_back(made("cache_sets", count + "\n  sweep order in 0..2", each, "structure = cache_sets(lat over n, line: 32B)", sets));
  all.push_back(made("replacement, 192 ways, FIFO", count, each, "structure = replacement(lat, line: 32B, sets: 1, ways: 192)", fifo_set));
  all.push_back(made("replacement, 96 ways, in windows", count, each, "structure = replacement(lat, line: 32B, sets: 1, ways: 96)", windowed_set));
  all.push_back(made("replacement, 96 ways, random", count, each, "structure = replacement(lat, line: 32B, sets: 1, ways: 96)", random_set));
  all.push_back(made("replacement, 4 ways, random", count, each, "structure = replacement(lat, line: 32B, sets: 1, ways: 4)", small_random_set));
  all.push_back(made("clusters by seg", count, each, "list = clusters(lat by seg)", parts));
  all.push_back(made("clusters", bytes, each, "list = clusters(mean(lat) over n)", footprints));
  all.push_back(made("step_width", bytes, each, "B = step_width(misses(lat) over n)", footprints));
  all.push_back(made("value", bytes, each, "count = value(misses(lat), n: 32B)", footprints));
  all.push_back(made("linear", count, total, "line = linear(median(lat) over n)", totals));
  all.push_back(made("plateau", count, total, "cycles = plateau(max(lat) over n)", totals));
  all.push_back(made("knee", count, total, "count = knee(mean(lat) over n)", totals));
  all.push_back(made("knee, one value a point", count, total, "count = knee(lat over n)", many_points));
  all.push_back(made("period", count, total, "count = period(median(lat) over n)", totals));
  all.push_back(made("spikes", count, total, "list = spikes(median(lat) over n)", totals));
  all.push_back(made("bank_conflicts", count, total, "structure = bank_conflicts(median(lat) over n, word: 4B)", strides));
  return all;
}

}  // namespace gexp::bench
