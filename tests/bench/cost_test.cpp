// SPDX-License-Identifier: Apache-2.0
// An answer's time grows with its records, and not with their square. Times are compared within one run; what is noise at most doubles one.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "runtime/infer/infer.h"
#include "tests/bench/records.h"

using namespace gexp;

namespace {

constexpr std::size_t kFew = 100'000, kMany = 800'000;
constexpr double kGrowth = 20;      // times as long for eight times the records: 8 is linear, 64 the square
constexpr double kNothing = 0.02;   // seconds: too short to compare

double seconds(const bench::Case& each, std::size_t accesses) {
  const auto table = each.records(accesses);
  const compiler::Names nothing;
  double best = INFINITY;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    (void)infer::answer(each.program.stages[0].finds[0], table, each.program.stages[0], nothing);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

TEST_CASE("every analysis takes time in proportion to its records") {
  for (const auto& each : bench::cases()) {
    const double few = seconds(each, kFew), many = seconds(each, kMany);
    CHECK_MESSAGE((many < kNothing || many < kGrowth * few), each.name << ": " << few << " s, then " << many << " s");
  }
}
