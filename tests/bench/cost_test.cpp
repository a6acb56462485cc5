// SPDX-License-Identifier: Apache-2.0
// An answer's time grows with its records, and not with their square. Times are the processor's, compared within one run, so that a busy machine
// does not matter; what takes next to nothing is not compared.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "runtime/infer/infer.h"
#include "tests/bench/records.h"

using namespace gexp;

namespace {

constexpr std::size_t kFew = 250'000, kMany = 1'000'000;
constexpr double kGrowth = 10;    // times as long for four times the records: 4 is linear, 16 the square
constexpr double kNothing = 0.1;  // seconds

double seconds(const bench::Case& each, std::size_t accesses) {
  const auto table = each.records(accesses);
  const compiler::Names nothing;
  double best = INFINITY;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::clock();
    (void)infer::answer(each.program.stages[0].finds[0], table, each.program.stages[0], nothing);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
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
