// SPDX-License-Identifier: Apache-2.0
// Sets and sizes as hypotheses: what they predict of walks, and what becomes of those that predict something else.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "runtime/infer/granularity.h"
#include "runtime/infer/model/set_candidates.h"
#include "runtime/infer/model/set_search.h"
#include "runtime/infer/model/uneven_sets.h"
#include "runtime/infer/reconcile.h"
#include "tests/infer/walks.h"

using namespace gexp;
using infer::model::SetHypothesis;
using infer::LabelledLine;
using infer::model::Walks;
using test::every;
using test::walked;

namespace {

constexpr std::int64_t kFits = 32 * 32;

SetHypothesis by(std::uint32_t sets, const std::function<std::uint32_t(std::int64_t)>& set_of, std::int64_t line = 32) { return {"", line, sets, set_of, 0, nullptr, line}; }
const auto kTrue = by(4, [](std::int64_t line) { return static_cast<std::uint32_t>(line / 4 % 4); });

/// Footprints that grow by some lines at a time.
Walks growing(std::int64_t lines_a_step, std::int64_t last = 20) {
  records::Table table = test::table({});
  for (std::int64_t extra = 0; extra <= last; extra += lines_a_step) table.points.push_back(walked({{"n", Value(static_cast<double>(extra))}}, every(32, kFits + 32 * extra), test::four_sets()));
  Walks walks;
  walks.add(table, *infer::miss_range(table, infer::classify(table)), "sets");
  return walks;
}

}  // namespace

TEST_CASE("the true sets predict the walks better than any others, and their sizes are told line by line") {
  const auto walks = growing(1);
  const auto best = infer::model::score(kTrue, walks);
  CHECK(best.sizes == std::vector<std::size_t>{8, 8, 8, 8});
  CHECK(best.least == best.most);
  CHECK(best.worst < 1e-9);
  CHECK(best.log_posterior > infer::model::log_of_none(walks));
  for (const auto& other : {by(1, [](std::int64_t) { return 0u; }), by(2, [](std::int64_t line) { return static_cast<std::uint32_t>(line / 8 % 2); }),
                            by(4, [](std::int64_t line) { return static_cast<std::uint32_t>(line % 4); }), by(8, [](std::int64_t line) { return static_cast<std::uint32_t>(line / 2 % 8); })}) {
    CHECK(infer::model::score(other, walks).log_posterior < best.log_posterior - 5);
  }
}

TEST_CASE("a size is told no finer than the footprints are") {
  const auto two = infer::model::score(kTrue, growing(4));
  CHECK(two.least == std::vector<std::size_t>{8, 8, 8, 8});
  CHECK(two.most == std::vector<std::size_t>{11, 11, 11, 11});
}

TEST_CASE("index functions are found by what they predict") {
  const auto found = infer::model::likeliest_functions(growing(1), {5, 6, 7, 8, 9, 10}, 32, 32, 3);
  CHECK(found[0].index.mapping == "bits");
  CHECK(found[0].index.functions == std::vector<std::vector<int>>{{7}, {8}});
  CHECK(found[0].score.log_posterior > found[1].score.log_posterior + 5);
}

namespace {

/// Lines that a cache of two sets by turns holds, four and four, and one more of each: at random a line or two of a set with one too many miss
/// in each lap. `wrong`: lines that are given to the other set.
std::vector<LabelledLine> two_sets_with(const std::set<std::int64_t>& wrong) {
  std::vector<LabelledLine> lines;
  for (std::int64_t line = 0; line < 18; ++line) lines.push_back({line, static_cast<std::size_t>((line + (wrong.contains(line) ? 1 : 0)) % 2)});
  return lines;
}

/// Lets the lines of the first `sets` sets, by turns, miss at random.
void let_miss(records::Point& point, std::size_t lap, std::size_t sets, std::mt19937& random) {
  point.runs.resize(30, point.runs.front());
  for (auto& run : point.runs) {
    for (std::size_t begin = 0; begin < run.ticks.size(); begin += lap) {
      std::fill_n(run.ticks.begin() + static_cast<std::ptrdiff_t>(begin), lap, test::kHitTicks);
      for (std::size_t set = 0; set < sets; ++set) {
        for (std::size_t line = set; line < lap; line += 2) run.ticks[begin + line] = random() % 5 == 0 ? test::kMissTicks : test::kHitTicks;
        run.ticks[begin + set + 2 * (random() % ((lap - set + 1) / 2))] = test::kMissTicks;  // whatever is replaced, one line misses
      }
    }
  }
}

/// 16 lines of 32 B fit in two sets by turns; with line 16, the even ones overflow, with line 17, the odd ones, too. One line in five misses.
/// `far`: in as many walks more a line that no other walk visits comes to the first 16, and the even ones overflow; and as many walks visit
/// the first 15 alone.
Walks missing_at_random(int far = 0) {
  records::Table table = test::table({});
  std::mt19937 random(3);
  for (std::int64_t lines = 16; lines <= 18; ++lines) {
    auto point = walked({{"n", Value(static_cast<double>(lines))}}, every(32, 32 * lines), test::four_sets());
    let_miss(point, static_cast<std::size_t>(lines), static_cast<std::size_t>(lines - 16), random);
    table.points.push_back(std::move(point));
  }
  for (int each = 0; each < far; ++each) {
    auto offsets = every(32, 32 * 16);
    offsets.push_back(32 * 64 << each);
    auto point = walked({{"n", Value(19.0 + each)}}, offsets, test::four_sets());
    let_miss(point, offsets.size(), 1, random);
    table.points.push_back(std::move(point));
    auto fewer = walked({{"n", Value(100.0 + each)}}, every(32, 32 * 15), test::four_sets());
    let_miss(fewer, 15, 0, random);
    table.points.push_back(std::move(fewer));
  }
  Walks walks;
  walks.add(table, infer::MissRange{.above = (test::kHitTicks + test::kMissTicks) / 2.0, .outlier = 1000}, "sets");
  return walks;
}

}  // namespace

TEST_CASE("lines that were given to the wrong set go where the walks are predicted best") {
  const auto walks = missing_at_random();
  const auto right = two_sets_with({});
  for (const auto& wrong : {std::set<std::int64_t>{}, {3}, {0, 5, 9}}) {
    const auto by_line = infer::model::by_line(walks, 32, 32);
    const auto found = infer::model::improved(two_sets_with(wrong), 2, by_line, infer::model::Rates::Shared).whole;
    REQUIRE(found.sets == 2);
    std::string seen;
    for (const auto& line : found.lines) seen += static_cast<char>('a' + line.set);
    INFO(seen);
    for (std::size_t i = 0; i < right.size(); ++i) CHECK((found.lines[i].set == found.lines[0].set) == (right[i].set == 0));
    for (const auto& move : infer::model::likeliest_moves(found, by_line)) CHECK(move.gain < -4);
  }
}

TEST_CASE("a set that overflows by a line of which nothing is known keeps its lines and its size") {
  const auto walks = missing_at_random(8);
  const auto right = two_sets_with({});
  for (const auto rates : {infer::model::Rates::Shared, infer::model::Rates::OwnOfEach}) {
    const auto found = infer::model::improved(right, 2, infer::model::by_line(walks, 32, 32), rates).whole;
    REQUIRE(found.sets == 2);
    for (const auto& line : found.lines) CHECK((line.set == found.lines[0].set) == (line.line % 2 == 0));
  }
}

TEST_CASE("two sets that were taken for one are told apart by a walk in which one of them overflows") {
  const auto walks = missing_at_random();
  auto one = two_sets_with({});
  for (auto& line : one) line.set = 0;
  const auto by_line = infer::model::by_line(walks, 32, 32);
  CHECK(infer::model::improved(one, 1, by_line, infer::model::Rates::Shared).whole.sets == 1);
  const auto better = infer::model::improved(one, 1, by_line, infer::model::Rates::Shared);
  REQUIRE(better.split.has_value());
  const auto& found = *better.split;
  REQUIRE(found.sets == 2);
  for (const auto& line : found.lines) CHECK((line.set == found.lines[0].set) == (line.line % 2 == 0));
}

TEST_CASE("a bit that a function lacks is found by a walk in which one of two sets overflows") {
  const auto walks = growing(1);
  const std::vector<int> bits{5, 6, 7, 8, 9, 10};
  const infer::SetIndex by_7{"bits", {{7}}, 0};
  auto hypothesis = infer::model::indexed(by_7, 2, 32, 6);
  hypothesis.fill_bytes = 32;
  const infer::model::SetCandidate coarse{hypothesis, by_7, infer::model::score(hypothesis, walks)};
  const auto finer = infer::model::with_another_bit(coarse, walks, bits, 3);
  REQUIRE(finer);
  CHECK(finer->index.functions == std::vector<std::vector<int>>{{7}, {8}});
  CHECK(finer->score.log_posterior > coarse.score.log_posterior + 5);
  const auto too_fine = infer::model::with_another_bit(*finer, walks, bits, 3);
  REQUIRE(too_fine);
  CHECK(too_fine->score.log_posterior < finer->score.log_posterior);
}

TEST_CASE("an XOR of functions that are there tells nothing more apart") {
  const infer::SetIndex index{"xor", {{5, 9}, {6}}, 0};
  CHECK_FALSE(infer::with_function(index, {5, 6, 9}));
  CHECK_FALSE(infer::with_function(index, {6}));
  REQUIRE(infer::with_function(index, {5}));
  CHECK(infer::with_function(index, {5})->functions == std::vector<std::vector<int>>{{5}, {6}, {9}});
}

TEST_CASE("lines that a policy keeps are likelier in one order than in several") {
  infer::model::Footprint circle;
  circle.orders = 1;
  infer::model::Conduct did;  // 40 lines, 38 of which miss in each of 30 visits
  did.in_orders = 40, did.misses = 38 * 30, did.visits = 40 * 30, did.kept = 2, did.kept_visits = 2 * 30;
  did.own = 40 * infer::model::log_of_own_rate(30, 30);
  const double one_rate = infer::model::log_of_likeliest_rate(did.misses, did.visits);
  CHECK(did.some_stay(circle) > std::max(did.own, one_rate) + 20);
  circle.orders = 2;
  CHECK(did.some_stay(circle) < one_rate);
  did.kept = 20, did.kept_visits = 20 * 30, did.misses = 20 * 30;  // which half stays takes long to say
  circle.orders = 1;
  CHECK(did.some_stay(circle) < -20);
}

TEST_CASE("laps in which none of its lines misses speak against a set that is said to overflow, and laps with a miss for none") {
  infer::model::Laps quiet;
  quiet.silent = 20, quiet.by_rates = -1;  // by rates of misses that are nearly zero
  CHECK(quiet.lack(std::log(0.1)) < -40);
  CHECK(quiet.lack_at_own_rate({}) < -10);
  infer::model::Laps loud;
  loud.loud = 1000;
  CHECK(loud.lack_at_own_rate({}) == 0);
  auto both = loud;  // each of the silent ones by rates by which one lap in ten is
  both.silent = 20, both.by_rates = 20 * std::log(0.1);
  CHECK(both.lack_at_own_rate({}) < -20);
}

TEST_CASE("silent laps are an error of the measurement where no faster level may hold the line that is absent") {
  infer::model::Laps laps;
  laps.silent = 100, laps.loud = 300, laps.by_rates = -20;
  CHECK(laps.lack_at_own_rate({}) == doctest::Approx(100 * std::log(0.25) + 20).epsilon(0.01));
  CHECK(laps.lack_at_own_rate({.most = infer::model::kAccident}) == doctest::Approx(100 * std::log(0.01) + 20));
}

TEST_CASE("as many laps may be silent as scatter makes misses as fast as hits") {
  infer::model::Laps laps;
  laps.silent = 75, laps.loud = 29000, laps.by_rates = -200;
  CHECK(laps.lack_at_own_rate({}) == doctest::Approx(75 * std::log(75.5 / 29076) + 200));
  CHECK(laps.lack_at_own_rate({.least = 0.03}) == doctest::Approx(75 * std::log(0.03) + 200));
  CHECK(laps.lack_at_own_rate({.least = 0.03, .most = infer::model::kAccident}) == laps.lack_at_own_rate({.least = 0.03}));
}

TEST_CASE("an address that fits may miss less often than interference makes others miss") {
  records::Table table = test::table({walked({{"n", Value(1.0)}}, every(32, 32 * 8), test::four_sets())});
  table.points[0].runs.resize(1000, table.points[0].runs.front());
  Walks walks;
  infer::MissRange range{.above = 100, .outlier = 1000};
  range.interference.share = 0.002;
  walks.add(table, range, "sets");
  CHECK(walks.footprints[0].fits[0] > walks.footprints[0].overflows[0]);
}

TEST_CASE("where nothing tells two sets apart, a line is as likely in the one as in the other") {
  records::Table table = test::table({walked({{"n", Value(1.0)}}, every(32, 32 * 8), test::four_sets())});  // all fit
  Walks always;
  always.add(table, infer::MissRange{.above = 100, .outlier = 1000}, "sets");
  const std::vector<LabelledLine> lines{{0, 0}, {1, 0}, {4, 1}, {5, 1}};
  const auto by_line = infer::model::by_line(always, 32, 32);
  const auto moves = infer::model::likeliest_moves(infer::model::improved(lines, 2, by_line, infer::model::Rates::OwnOfEach).whole, by_line);
  REQUIRE(moves.size() == 4 + 2);  // and all lines of a set are a block
  for (const auto& move : moves) CHECK(std::abs(move.gain) < 1e-9);
}

TEST_CASE("an index function is found from labels of which some are wrong") {
  std::vector<LabelledLine> lines;
  for (std::int64_t line = 0; line < 256; ++line) lines.push_back({line, static_cast<std::size_t>((line ^ line / 16) % 2 + 2 * (line / 2 % 2))});
  const auto exact = infer::find_set_index(lines, 4, 32);
  for (const std::size_t wrong : {17u, 90u, 91u, 200u}) lines[wrong].set = (lines[wrong].set + 1) % 4;
  CHECK(infer::find_set_index(lines, 4, 32).mapping == "not bit-defined");
  const auto nearest = infer::nearest_linear_index(lines, 4, 32);
  REQUIRE(nearest);
  CHECK(infer::is_same_index(*nearest, exact));
}

TEST_CASE("a walk tells how large a unit is only where it visits a unit twice in a row") {
  const auto of = [](std::vector<std::int64_t> offsets) {
    const test::LruCache pages(1024, 4, [](std::int64_t) { return std::uint64_t{0}; });
    const auto table = test::table({walked({{"n", Value(1.0)}}, std::move(offsets), pages), walked({{"n", Value(2.0)}}, every(1024, 2048), pages)});
    return *infer::granularity_of({&table.points[0]}, *infer::miss_range(table, infer::classify(table)));
  };
  CHECK(of(every(256, 8192)).is_finer_than_the_unit());
  CHECK(of(every(512, 16384)).is_finer_than_the_unit());
  CHECK_FALSE(of(every(1024, 8192)).is_finer_than_the_unit());
  CHECK_FALSE(of(every(2048, 16384)).is_finer_than_the_unit());
  CHECK_FALSE(of({0, 4, 1024, 1028, 2048, 2052, 3072, 3076, 4096, 4100}).is_finer_than_the_unit());  // two words a unit
}

TEST_CASE("two lines that put each other out show no unit, however often they do it") {
  constexpr std::int64_t kStride = 256 << 10;
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < 7; ++i) offsets.push_back(i * kStride), offsets.push_back(i * kStride + 4);
  const test::LruCache lines(64, 1, [](std::int64_t line) { return static_cast<std::uint64_t>(line == 6 * kStride / 64 ? 4 * kStride / 64 : line); });
  auto point = walked({{"n", Value(1.0)}}, std::move(offsets), lines);
  point.runs.resize(40, point.runs.front());
  const auto table = test::table({std::move(point)});
  const auto found = *infer::granularity_of({&table.points[0]}, *infer::miss_range(table, infer::classify(table)));
  CHECK_FALSE(found.is_finer_than_the_unit());
  CHECK(found.apart > infer::kLeastLine);
}

TEST_CASE("lines that miss half of the time, and one that never does, are no set") {
  constexpr std::size_t kLines = 14;
  Walks walks;
  infer::model::Footprint footprint;
  for (std::uint32_t line = 0; line < kLines; ++line) {
    walks.offsets.push_back(32 * line);
    footprint.addresses.push_back(line), footprint.before.push_back(infer::model::kSeveral);
    footprint.visits.push_back(6000), footprint.misses.push_back(line == 9 ? 0 : 3300 + line);
    footprint.fits.push_back(footprint.misses.back() * std::log(1e-4)), footprint.overflows.push_back(infer::model::log_of_own_rate(footprint.misses.back(), 6000));
    footprint.missed.push_back(line != 9);
  }
  footprint.orders = 6, footprint.laps = 6000;
  walks.footprints.push_back(footprint);
  infer::model::SetHypothesis one{"one set", 32, 1, [](std::int64_t) { return 0U; }, 0};
  infer::model::SetScore score;
  score.sizes = {kLines - 1};
  const auto several = infer::model::uneven_set(one, score, walks);
  REQUIRE(several);
  CHECK(several->lines == kLines);
  walks.footprints[0].misses[9] = 3300, walks.footprints[0].fits[9] = walks.footprints[0].fits[8], walks.footprints[0].overflows[9] = walks.footprints[0].overflows[8];
  CHECK_FALSE(infer::model::uneven_set(one, score, walks));
}

TEST_CASE("lines that no order ever makes miss are of another set, if each order makes others of the rest miss") {
  constexpr std::uint32_t kLines = 13, kOfOne = 7;
  const auto several = [](std::uint32_t chosen_among) {
    std::mt19937_64 engine(7);
    Walks walks;
    infer::model::Footprint footprint;
    footprint.visits.assign(kLines, 0), footprint.misses.assign(kLines, 0);
    for (std::size_t order = 0; order < 11; ++order) {
      std::vector<std::uint32_t> lines(chosen_among);
      std::iota(lines.begin(), lines.end(), 0U);
      std::shuffle(lines.begin(), lines.end(), engine);
      infer::model::Footprint::OfOrder own{std::vector<std::uint32_t>(kLines, 100), std::vector<std::uint32_t>(kLines, 0)};
      for (std::size_t i = 0; i < 4; ++i) own.misses[lines[i]] = i < 2 ? 90 : 7;  // at two rates
      for (std::uint32_t line = 0; line < kLines; ++line) footprint.visits[line] += 100, footprint.misses[line] += own.misses[line];
      footprint.by_order.push_back(std::move(own));
    }
    for (std::uint32_t line = 0; line < kLines; ++line) {
      walks.offsets.push_back(32 * line);
      footprint.addresses.push_back(line), footprint.before.push_back(infer::model::kSeveral), footprint.missed.push_back(footprint.misses[line] > 0);
      footprint.fits.push_back(footprint.misses[line] * std::log(1e-4)), footprint.overflows.push_back(infer::model::log_of_own_rate(footprint.misses[line], 1100));
    }
    footprint.orders = 11, footprint.laps = 1100;
    walks.footprints.push_back(std::move(footprint));
    infer::model::SetScore score;
    score.sizes = {kLines - 1};
    return infer::model::uneven_set({"one set", 32, 1, [](std::int64_t) { return 0U; }, 0}, score, walks).has_value();
  };
  CHECK(several(kOfOne));
  CHECK_FALSE(several(kLines));
}

TEST_CASE("which sets those lines are of that a hypothesis leaves out is told beside its posterior, each of them once") {
  const auto walks = growing(1);
  auto some = kTrue;
  some.set_of = [all = kTrue.set_of](std::int64_t line) { return line < 32 ? all(line) : infer::model::kNoSet; };
  CHECK(infer::model::score(kTrue, walks).unsaid == 0);
  CHECK(infer::model::score(some, walks).unsaid == doctest::Approx(20 * std::log(4.0)));
}

namespace {

/// 16 sets of 4 lines of 32 B, in three orders, with lines added from `least` to `most`: of a set that overflows the two lines that were
/// walked last put each other out.
Walks of_a_policy_that_keeps(int least, int most) {
  records::Table table = test::table({});
  constexpr std::int64_t kBytes = 32, kSets = 16, kWays = 4;
  std::mt19937_64 engine(3);
  for (int extra = least; extra <= most; ++extra) {
    for (int order = 0; order < 3; ++order) {
      auto offsets = every(kBytes, kBytes * (kSets * kWays + extra));
      std::shuffle(offsets.begin(), offsets.end(), engine);
      auto point = walked({{"n", Value(static_cast<double>(extra))}, {"order", Value(static_cast<double>(order))}}, offsets, test::four_sets());
      std::map<std::int64_t, std::vector<std::size_t>> steps;  // by set, in the order of the walk
      for (std::size_t i = 0; i < offsets.size(); ++i) steps[offsets[i] / kBytes % kSets].push_back(i);
      for (auto& run : point.runs) {
        std::fill(run.ticks.begin(), run.ticks.end(), test::kHitTicks);
        for (const auto& [set, own] : steps) {
          if (own.size() <= kWays) continue;
          for (std::size_t lap = 0; lap < 2; ++lap) {
            for (const auto step : {own[own.size() - 2], own.back()}) run.ticks[lap * offsets.size() + step] = test::kMissTicks;
          }
        }
      }
      table.points.push_back(std::move(point));
    }
  }
  Walks walks;
  walks.add(table, *infer::miss_range(table, infer::classify(table)), "sets");
  return walks;
}

}  // namespace

TEST_CASE("a function of many sets is proposed though each of them lets two lines miss and keeps all others") {
  constexpr std::size_t kSets = 16, kWays = 4;
  const auto walks = of_a_policy_that_keeps(0, 20);
  const auto found = infer::model::likeliest_functions(walks, {5, 6, 7, 8, 9, 10, 11}, 32, 32, 6);
  REQUIRE(!found.empty());
  CHECK(found.front().index.functions == std::vector<std::vector<int>>{{5}, {6}, {7}, {8}});
  CHECK(found.front().score.sizes == std::vector<std::size_t>(kSets, kWays));
}

TEST_CASE("that a policy keeps other lines in each order predicts more than a rate of its own for each line does") {
  const auto walks = of_a_policy_that_keeps(15, 16);  // every set overflows by one line, but one of them in half of the walks
  const infer::model::SetHypothesis sets{"16 sets", 32, 16, [](std::int64_t line) { return static_cast<std::uint32_t>(line % 16); }, 0};
  CHECK(infer::model::score(sets, walks).log_posterior > infer::model::log_of_none(walks) + 20);
}
