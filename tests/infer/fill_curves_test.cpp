// SPDX-License-Identifier: Apache-2.0
// How much misses of a growing footprint: in sets that fill evenly, and in sets that a hash fills.
#include <doctest/doctest.h>

#include <random>

#include "runtime/infer/fill_curves.h"
#include "runtime/infer/model/evidence.h"
#include "tests/infer/walks.h"

using namespace gexp;
namespace model = infer::model;

namespace {

constexpr std::int64_t kLine = 64, kSize = 64 << 10;

/// What misses of quarters of a cache of 64 KiB and of finer footprints beside `from`, up to five quarters: as a file records them that
/// looks for a size.
std::vector<infer::MissingShare> shares_of(const test::LruCache& cache, std::int64_t from) {
  std::vector<infer::MissingShare> shares;
  for (const std::int64_t bytes : {kSize / 4, kSize / 2, 3 * kSize / 4, from, from + kSize / 32, from + kSize / 8, kSize, 5 * kSize / 4}) {
    auto offsets = test::every(kLine, bytes);
    std::shuffle(offsets.begin(), offsets.end(), std::mt19937_64(1));
    const auto units = static_cast<double>(offsets.size());
    const auto point = test::walked({}, std::move(offsets), cache);
    double misses = 0, visits = 0;
    for (const auto& run : point.runs) {
      for (const auto ticks : run.ticks) ++visits, misses += ticks == test::kMissTicks ? 1 : 0;
    }
    shares.push_back({static_cast<double>(bytes), misses / visits, units});
  }
  return shares;
}

std::uint64_t hashed(std::int64_t line) { return std::mt19937_64(static_cast<std::uint64_t>(line))() >> 20; }

}  // namespace

TEST_CASE("sets to which a hash deals lines overflow one after the other: even sets do not predict that") {
  const std::uint64_t ways = 16, sets = kSize / kLine / ways;
  const test::LruCache cache(kLine, ways, [=](std::int64_t line) { return hashed(line) % sets; });
  std::int64_t fits = 0;
  for (std::int64_t bytes = kSize / 2; bytes <= kSize; bytes += kSize / 32) {
    const auto shares = shares_of(cache, bytes);
    if (shares[3].share <= 1.0 / 64) fits = bytes;
  }
  REQUIRE(fits > 0);
  REQUIRE(fits < kSize);
  const auto end = static_cast<double>(fits + kSize / 32);
  CHECK(infer::better_by_uneven_sets(shares_of(cache, fits), {static_cast<double>(fits), end}) > model::kDecisive);
}

TEST_CASE("even sets of any ways are predicted by even sets") {
  for (const std::uint64_t ways : {1, 2, 3, 4, 8, 16, 64}) {
    const auto sets = static_cast<std::uint64_t>(kSize / kLine) / ways;
    const test::LruCache cache(kLine, ways, [=](std::int64_t line) { return static_cast<std::uint64_t>(line) % sets; });
    const auto fits = static_cast<std::int64_t>(sets * ways) * kLine;
    CAPTURE(ways);
    CHECK(infer::better_by_uneven_sets(shares_of(cache, fits), {static_cast<double>(fits), static_cast<double>(fits + kSize / 32)}) <= model::kDecisive);
  }
}

TEST_CASE("footprints that fit by either hypothesis say nothing of which one predicts what misses") {
  std::vector<infer::MissingShare> shares;
  for (const double kib : {384, 576, 768, 960, 1152}) shares.push_back({kib * 1024, 0, 3584});
  const std::vector<infer::MissingShare> telling = {{1344 << 10, 0, 3584}, {1392 << 10, 0, 3584}, {1440 << 10, 0.0737, 3584},
                                                    {1536 << 10, 0.2508, 3584}, {1728 << 10, 0.7949, 3584}, {1920 << 10, 1, 3584}};
  shares.insert(shares.end(), telling.begin(), telling.end());
  const infer::Fits fits{1392 << 10, (1440 << 10) - 1};
  CHECK(infer::better_by_uneven_sets(shares, fits) == doctest::Approx(infer::better_by_uneven_sets({telling.begin() + 1, telling.end()}, fits)).epsilon(0.05));
  CHECK(infer::better_by_uneven_sets(shares, fits) <= model::kDecisive);
}

TEST_CASE("victims at random in even sets are predicted by even sets, and one point tells nothing") {
  std::vector<infer::MissingShare> shares;
  for (const double ratio : {0.5, 0.75, 1.0, 1.1, 1.25, 1.5}) shares.push_back({ratio * kSize, infer::missing_at_random(ratio), 1024});
  CHECK(infer::better_by_uneven_sets(shares, {kSize, kSize}) <= model::kDecisive);
  CHECK(infer::better_by_uneven_sets({{1.25 * kSize, 0.3, 1024}}, {kSize, kSize}) <= model::kDecisive);
  CHECK(infer::better_by_uneven_sets({}, {kSize, kSize}) == 0);
}
