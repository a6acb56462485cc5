// SPDX-License-Identifier: Apache-2.0
// Ranges against every thread's own value: never too small, and exact for the sums of products that offsets are made of.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "compiler/formula/each_thread.h"
#include "compiler/formula/thread_range.h"
#include "compiler/lower/lower.h"
#include "tests/compiler/compile.h"

using namespace gexp;
using namespace gexp::compiler;

namespace {

FormulaPtr formula(const std::string& text) {
  const auto compiled = test::compile("gexp 1\nexperiment t\nmemory A: u8[1GiB] in global\nstage s {\nlet it = " + text + "\ntimed t total { barrier }\n}\n");
  REQUIRE_MESSAGE(compiled.program, compiled.text());
  return compiled.program->stages[0].bindings[0].formula;
}

bool holds(const Range& range, double value) {
  return value >= range.low && value <= range.high && (range.grid == 0 ? value == range.low : std::fmod(value - range.low, static_cast<double>(range.grid)) == 0);
}

/// The range of an expression over a launch, after comparing it with each thread's value.
Range checked(const std::string& text, std::uint32_t grid = 3, std::uint32_t block = 96) {
  CAPTURE(text);
  const auto it = formula(text);
  const Names scope;
  const ThreadLets lets;
  const auto range = range_of(*it, scope, lets, thread_ranges(grid, block));
  REQUIRE(range.ok());
  ThreadNames thread(scope, lets, {it.get()});
  for (std::uint32_t cta = 0; cta < grid; ++cta) {
    for (std::uint32_t tid = 0; tid < block; ++tid) {
      REQUIRE(thread.bind(cta, tid, block).ok());
      const auto value = evaluate(*it, thread.names());
      REQUIRE(value.ok());
      CHECK(holds(*range, value->get<Number>()->number));
    }
  }
  return *range;
}

}  // namespace

TEST_CASE("ranges of offsets are exact") {
  for (const auto& [text, low, high, grid] : std::vector<std::tuple<const char*, double, double, std::uint64_t>>{
           {"tid * 4", 0, 380, 4},
           {"gtid * 16 + 64", 64, 64 + 287 * 16, 16},
           {"lane * 128 + warp * 4096", 0, 31 * 128 + 2 * 4096, 128},
           {"(tid div 4) * 128", 0, 23 * 128, 128},
           {"(tid * 8) mod 64", 0, 56, 8},
           {"400 - tid * 4", 20, 400, 4},
           {"max(tid, 10) * 2", 20, 190, 2},
           {"merger(2, of: threads) * 128", 0, 47 * 128, 128},
           {"merger(2, of: warps) * 128", 0, (31 + 32) * 128, 128},
           {"(tid * 8) and 63", 0, 56, 8},
           {"tid * 4 xor 64", 0, 444, 4},
           {"gtid shl 4", 0, 287 * 16, 16},
           {"tid shr 3", 0, 11, 1},
           {"(tid * 128) and 4095 - 127", 0, 3968, 128},
           {"7", 7, 7, 0}}) {
    const auto range = checked(text);
    CHECK(range.low == low);
    CHECK(range.high == high);
    CHECK(range.grid == grid);
  }
}

TEST_CASE("ranges of anything are never too small") {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto make = [&](auto&& self, int depth) -> std::string {
    if (depth == 0 || pick(4) == 0) {
      static const char* const kLeaves[] = {"tid", "lane", "warp", "gtid", "cta", "3", "8", "17", "0", "128"};
      return kLeaves[pick(10)];
    }
    const auto a = self(self, depth - 1), b = self(self, depth - 1);
    switch (pick(12)) {
      case 0: return "(" + a + " + " + b + ")";
      case 1: return "(" + a + " - " + b + ")";
      case 2: return "(" + a + " * " + b + ")";
      case 3: return "(" + a + " div " + std::to_string(1 + pick(9)) + ")";
      case 4: return "(" + a + " mod " + std::to_string(1 + pick(40)) + ")";
      case 5: return "min(" + a + ", " + b + ")";
      case 6: return "(" + a + " and " + b + ")";
      case 7: return "(" + a + " or " + b + ")";
      case 8: return "(" + a + " xor " + b + ")";
      case 9: return "(" + a + " shl " + std::to_string(pick(4)) + ")";
      case 10: return "(" + a + " shr (" + b + " and 3))";
      default: return "max(" + a + ", " + b + ")";
    }
  };
  for (int i = 0; i < 400; ++i) checked(make(make, 4), 2, 70);
}

TEST_CASE("listed ranges and counted threads") {
  const Names scope;
  const ThreadLets lets;
  const Threads threads{scope, lets, 2, 64};
  const auto it = formula("(tid * tid) mod 100");
  const auto range = listed_range(*it, threads, {});
  REQUIRE(range);
  CHECK(range->low == 0);
  CHECK(range->high == 96);
  const auto odd = formula("tid mod 2 == 1");
  CHECK(threads_where({odd.get()}, threads, {}) == 64);
  CHECK(threads_where({}, threads, {}) == 128);
  CHECK_FALSE(listed_range(*it, {scope, lets, 1u << 20, 1024}, {}));
}
