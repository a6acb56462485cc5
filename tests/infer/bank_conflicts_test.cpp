// SPDX-License-Identifier: Apache-2.0
// Banks of shared memory: which number and width explains the latencies of strides, whatever the number is.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/infer/table.h"

using namespace gexp;
using test::field;
using test::undetermined;

namespace {

/// Most rows that a bank reads for 32 lanes of 4 B words, `stride` words apart.
double rows(int stride, int banks) {
  std::map<int, std::set<int>> wanted;
  for (int lane = 0; lane < 32; ++lane) wanted[lane * stride % banks].insert(lane * stride);
  std::size_t most = 0;
  for (const auto& [bank, words] : wanted) most = std::max(most, words.size());
  return static_cast<double>(most);
}

/// `times`: words between lanes for each unit of the sweep, where the chase's pattern says it.
infer::Finding asked(int banks, double noise = 0, int last = 64, std::uint64_t seed = 1, int times = 0) {
  records::Table made;
  made.stage = "s", made.timed = "t", made.timing = records::Table::Timing::Total, made.columns = {"stride"};
  test::Noise draw(seed);
  for (int stride = 0; stride <= last; ++stride) {
    const double y = 20 + 10 * rows(stride * std::max(times, 1), banks) + noise * draw();
    made.points.push_back(test::point_of({{"stride", Value(static_cast<double>(stride))}, {"y", Value(y, kCycles)}}));
    if (times == 0) continue;
    Pattern own{.threads = 32, .steps = 1, .offsets = {}, .segments = {}};
    for (int lane = 0; lane < 32; ++lane) own.offsets.push_back(4 * lane * stride * times);
    made.points.back().walk = std::make_shared<const Pattern>(std::move(own));
  }
  return test::ask_in("  sweep stride in [1]\n  sweep y in [1cycles]\n  launch grid 1 block 1\n  timed t total { load A at 0B }\n", made, "structure", "bank_conflicts(y over stride, word: 4B)");
}

}  // namespace

TEST_CASE("any number of banks is found, powers of two and others") {
  for (const int banks : {8, 12, 16, 24, 31, 32, 33, 40, 48, 64}) {
    const auto finding = asked(banks);
    CHECK_MESSAGE(field(finding, "banks") == banks, finding.why);
    CHECK(field(finding, "width") == 4);
    CHECK(finding.confidence > 0.95);
  }
}

TEST_CASE("the addresses decide, and not what the sweep calls a stride") {
  const auto once = asked(32, 0, 64, 1, 1);
  CHECK_MESSAGE(field(once, "banks") == 32, once.why);
  // Multiples of 3 words: 96 banks serve them as 32 do. Even ones: 16 banks of 8 B do. So the number is left out.
  for (const int times : {2, 3}) {
    const auto finding = asked(32, 0, 64, 1, times);
    CHECK_MESSAGE(std::isnan(field(finding, "banks")), finding.why);
    CHECK(finding.why.find("32 banks of 4 B") != std::string::npos);
  }
}

TEST_CASE("scatter within the noise of a clock leaves the answer, or none") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto finding = asked(32, 0.5, 64, seed);
    if (!undetermined(finding)) CHECK(field(finding, "banks") == 32);
  }
}

TEST_CASE("few strides tell not all, and strides without a conflict nothing") {
  const auto few = asked(32, 0, 4);
  CHECK((undetermined(few) || std::isnan(field(few, "banks"))));
  records::Table flat;
  flat.stage = "s", flat.timed = "t", flat.timing = records::Table::Timing::Total, flat.columns = {"stride"};
  for (int stride = 1; stride <= 9; stride += 2) flat.points.push_back(test::point_of({{"stride", Value(static_cast<double>(stride))}, {"y", Value(30.0, kCycles)}}));
  const auto none = test::ask_in("  sweep stride in [1]\n  sweep y in [1cycles]\n  launch grid 1 block 1\n  timed t total { load A at 0B }\n", flat, "structure", "bank_conflicts(y over stride, word: 4B)");
  CHECK(undetermined(none));
  CHECK(none.why.find("no conflict was met") != std::string::npos);
}
