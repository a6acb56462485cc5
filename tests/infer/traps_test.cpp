// SPDX-License-Identifier: Apache-2.0
// Records that have misled people: each ends in the right answer or in an honest "undetermined".
#include <doctest/doctest.h>

#include "runtime/infer/policies.h"
#include "runtime/infer/set_index.h"
#include "runtime/infer/way_tracking.h"
#include "tests/infer/table.h"

using namespace gexp;
using infer::Finding;
using test::ask;
using test::point;
using test::table;
using test::undetermined;
using test::number;

namespace {

const auto kHit = [](std::size_t, std::size_t) { return 40u; };
const auto kMiss = [](std::size_t, std::size_t a) { return 250u + static_cast<std::uint32_t>(a * 7 % 40); };
const std::string kCapacity = "last_flat(misses(lat) over n)";

}  // namespace

TEST_CASE("a sweep with a plateau and an end gives the capacity") {
  CHECK(number(ask(table({point(512, 16, 4, 3, kHit), point(1024, 32, 4, 3, kHit), point(2048, 64, 4, 3, kMiss)}), "B", kCapacity)) == 1024);
}

TEST_CASE("a sweep that never leaves its plateau decides nothing") {
  CHECK(undetermined(ask(table({point(512, 16, 4, 3, kHit), point(1024, 32, 4, 3, kHit)}), "B", kCapacity)));
  CHECK(undetermined(ask(table({point(512, 16, 4, 3, kMiss), point(1024, 32, 4, 3, kMiss)}), "B", kCapacity)));
}

TEST_CASE("one outlier in a hundred accesses is no miss") {
  const auto struck = [](std::size_t r, std::size_t a) { return a == 37 * (r + 1) ? 4000u : 40u; };
  CHECK(number(ask(table({point(512, 16, 8, 5, kHit), point(1024, 32, 8, 5, struck), point(2048, 64, 8, 5, kMiss)}), "B", kCapacity)) == 1024);
}

TEST_CASE("a few scattered misses in every run are misses where nothing else ever missed, and interference where one run has them") {
  // One line too many of a large cache with random victims: few misses, each time of other lines.
  const auto rare = [](std::size_t r, std::size_t a) { return a % 1500 == 97 * (r + 1) ? 250u : 40u; };
  const auto burst = [](std::size_t r, std::size_t a) { return r == 1 && a % 1500 == 97 ? 250u : 40u; };
  const auto beyond = [](std::size_t, std::size_t a) { return a % 40 == 7 ? 250u : 40u; };
  const auto column = [&](const test::Ticks& at) { return ask(table({point(4096, 8192, 2, 3, kHit), point(8192, 8192, 2, 3, kHit), point(12288, 8192, 2, 3, at), point(16384, 8192, 2, 3, beyond)}), "B", kCapacity); };
  CHECK(number(column(rare)) == 8192);
  CHECK(number(column(burst)) == 12288);
}

TEST_CASE("the last footprint that counts as quiet must not be slow more often than the others") {
  const auto at_random = [](std::size_t of, std::size_t slow) {
    return [=](std::size_t run, std::size_t access) { return std::mt19937_64(1000 * run + access)() % of < slow ? 250u : 50u; };
  };
  const auto last = [&](std::size_t slow) { return test::point(2560, 80, 2, 3, at_random(100, slow)); };
  const auto never = [](std::size_t, std::size_t) { return 50u; };
  const auto beyond = [](std::size_t, std::size_t access) { return access % 4 == 0 ? 250u : 50u; };
  const auto size = [&](const records::Point& quiet, const records::Point& beside) {
    return test::ask(test::table({quiet, beside, test::point(3072, 96, 2, 3, beyond), test::point(4096, 128, 2, 3, beyond)}), "B", "last_flat(misses(lat) over n)");
  };
  const auto rare = size(test::point(2048, 64, 2, 3, never), last(3));
  CHECK(test::undetermined(rare));
  CHECK_MESSAGE(rare.why.find("slow more often than at the others") != std::string::npos, rare.why);
  const auto everywhere = size(test::point(2048, 64, 2, 3, at_random(100, 3)), last(3));
  CHECK_MESSAGE(everywhere.value == Value(2560.0, kBytes), everywhere.why);
}

TEST_CASE("several of the largest footprints that count as quiet must not be slow more often than the smaller ones") {
  // A set of 22 lines of 128 B, victims at random, walked by 32 B: a part of a line too many, then a whole line.
  const auto rare = [](std::size_t run, std::size_t access) { return std::mt19937_64(1000 * run + access)() % 1000 < 22 ? 115u : 75u; };
  const auto never = [](std::size_t, std::size_t) { return 75u; };
  const auto beyond = [](std::size_t run, std::size_t access) { return std::mt19937_64(1000 * run + access)() % 100 < 15 ? 115u : 75u; };
  const auto size = [&](const test::Ticks& smaller) {
    std::vector<records::Point> points;
    for (const std::size_t n : {2048, 2560, 2816}) points.push_back(test::point(static_cast<double>(n), n / 32, 3, 3, smaller));
    for (const std::size_t n : {2848, 2880, 2944, 3072}) points.push_back(test::point(static_cast<double>(n), n / 32, 3, 3, rare));
    for (const std::size_t n : {4096, 6144}) points.push_back(test::point(static_cast<double>(n), n / 32, 3, 3, beyond));
    return test::ask(test::table(std::move(points)), "B", kCapacity);
  };
  CHECK_MESSAGE(size(rare).value == Value(3072.0, kBytes), size(rare).why);
  CHECK_MESSAGE((test::undetermined(size(never)) || size(never).value == Value(2816.0, kBytes)), show(size(never).value));
}

TEST_CASE("misses as rare and scattered at every point are interference only where no other stage walks what fits") {
  // Seven walks of a line too many, victims at random: a miss now and then, of any line.
  const auto rare = [](std::size_t r, std::size_t a) { return (a * 7919 + r * 104729) % 37 == 5 ? 250u : 40u; };
  std::vector<records::Point> points;
  for (int i = 1; i <= 7; ++i) points.push_back(point(1024.0 * i, 63, 4, 5, rare));
  const auto records = table(points);
  REQUIRE(infer::classify(records).list.size() == 2);
  CHECK(infer::classify(records).interference[0].share > 0.01);
  const auto fits = table({point(512, 62, 4, 5, kHit)}), slower = table({point(512, 62, 4, 5, [](std::size_t, std::size_t) { return 25u; })});
  CHECK(infer::classify(records, {&fits}).interference[0].share == 0);
  CHECK(infer::classify(records, {&slower}).interference[0].share > 0.01);  // of a level above this one: nothing was at stake there
}

TEST_CASE("points of which each is hardly worse than the one before show no interference that would have struck elsewhere, too") {
  std::vector<records::Point> points;
  for (const std::size_t slow : {4, 6, 8, 9, 11, 11, 12, 12, 15, 15, 17, 17, 22}) {
    points.push_back(point(1024.0 * static_cast<double>(points.size() + 1), 35, 4, 5, [=](std::size_t r, std::size_t a) { return (r * 140 + a) * 7919 % 700 < slow ? 250u : 40u; }));
  }
  const auto records = table(points), fits = table({point(512, 35, 8, 5, kHit)});
  CHECK(infer::classify(records).interference[0].share > 0.01);
  CHECK(infer::classify(records, {&fits}).interference[0].share == 0);
}

TEST_CASE("what a warm-up did not bring in misses once in the first lap, also where one run alone shows it: that is no interference") {
  const auto cold = [](std::size_t r, std::size_t a) { return r == 0 && a < 63 ? 250u : 40u; };
  auto records = table({point(1024, 63, 4, 5, cold), point(2048, 63, 4, 5, cold), point(3072, 63, 4, 5, cold), point(4096, 63, 4, 5, kMiss)});
  CHECK(infer::classify(records).interference[0].share > 0.01);
  for (auto& each : records.points) {
    auto moved = *each.walk;
    for (auto& offset : moved.offsets) offset += 1 << 20;
    each.warm_steps = moved.steps, each.warm_walk = std::make_shared<const Pattern>(std::move(moved));
  }
  CHECK(infer::classify(records).interference[0].share == 0);
}

TEST_CASE("a column that returns to its floor has no single size") {
  CHECK(undetermined(ask(table({point(512, 16, 4, 3, kHit), point(1024, 32, 4, 3, kMiss), point(2048, 64, 4, 3, kHit)}), "B", kCapacity)));
}

TEST_CASE("misses that go in two steps are of two structures where they take different times, of one where its replacement thins them out") {
  const auto column = [](std::uint32_t first, std::uint32_t last) {
    const auto many = [=](std::size_t, std::size_t a) { return a % 3 == 0 ? first : 40u; };
    const auto few = [=](std::size_t, std::size_t a) { return a % 24 == 0 ? last : 40u; };
    return ask(table({point(32, 48, 4, 3, many), point(64, 48, 4, 3, many), point(96, 48, 4, 3, few), point(128, 48, 4, 3, kHit), point(160, 48, 4, 3, kHit)}), "B", "first_flat(misses(lat) over n)");
  };
  CHECK(number(column(250, 250)) == 128);
  for (const std::uint32_t other : {200u, 300u}) {
    const auto finding = column(250, other);
    CHECK(undetermined(finding));
    CHECK(finding.why.find("two structures") != std::string::npos);
  }
}

TEST_CASE("a length is told no finer than its sweep: where a shorter power of two lies between two holes, it may be that") {
  const auto flat_from = [](double last, double first) {
    const auto finding = ask(table({point(last, 48, 4, 3, kMiss), point(first, 48, 4, 3, kHit), point(2 * first, 48, 4, 3, kHit), point(3 * first, 48, 4, 3, kHit)}), "B", "first_flat(misses(lat) over n)");
    REQUIRE_MESSAGE(number(finding) == first, finding.why);
    return finding;
  };
  CHECK(flat_from(32, 64).exact);
  CHECK(flat_from(64, 96).exact);   // no power of two is between them
  CHECK(flat_from(96, 128).exact);
  const auto coarse = flat_from(16, 64);
  CHECK_FALSE(coarse.exact);
  CHECK_MESSAGE(coarse.why.find("it may be 32 B, too") != std::string::npos, coarse.why);
  CHECK_FALSE(flat_from(96, 160).exact);
}

TEST_CASE("too few repetitions stay below the confidence that is needed") {
  const auto finding = ask(table({point(512, 16, 4, 1, kHit), point(1024, 32, 4, 1, kMiss)}), "B", kCapacity + " need 95%");
  CHECK(undetermined(finding));
}

TEST_CASE("the fetch unit is the spacing of cold misses, or nothing") {
  const auto each_eighth = [](std::size_t, std::size_t a) { return a % 8 == 0 ? 260u : 40u; };
  CHECK(number(ask(table({point(4096, 128, 1, 3, each_eighth)}), "B", "miss_spacing(lat)")) == 256);
  CHECK(undetermined(ask(table({point(4096, 128, 1, 3, kMiss)}), "B", "miss_spacing(lat)")));
  const auto uneven = [](std::size_t, std::size_t a) { return a * a % 11 == 1 ? 260u : 40u; };
  CHECK(undetermined(ask(table({point(4096, 128, 1, 3, uneven)}), "B", "miss_spacing(lat)")));
}

TEST_CASE("classes six cycles apart are told apart when they are sharp, and latencies lose the region's cost") {
  const auto two = [](std::size_t, std::size_t a) { return a % 5 == 0 ? 214u : 208u; };
  const auto records = table({point(4096, 128, 4, 3, two)});
  CHECK(infer::classify(records).list.size() == 2);
  CHECK(number(ask(records, "cycles", "fastest(lat)")) == 198);
  CHECK(number(ask(records, "cycles", "slowest(lat)")) == 204);
}

TEST_CASE("what memory answers is a class however widely it scatters, once every run has it at the same accesses; interference strikes anywhere") {
  std::mt19937_64 engine(11);
  const auto broad = [&] { return 300u + static_cast<std::uint32_t>(engine() % 400); };
  const auto first_lap = [&](std::size_t, std::size_t a) { return a < 512 ? broad() : 206u; };
  const auto classes = infer::classify(table({point(512, 512, 2, 3, first_lap)}));
  REQUIRE(classes.list.size() == 2);
  CHECK(classes.list[0].centre == 206);
  CHECK(classes.list[1].support == 3 * 512);
  const auto anywhere = [&](std::size_t, std::size_t) { return engine() % 2 == 0 ? broad() : 206u; };
  CHECK(infer::classify(table({point(512, 512, 2, 3, anywhere)})).list.size() == 1);
}

TEST_CASE("policies differ where they should, and two ways of LRU are tree-PLRU") {
  using infer::PolicySet;
  const auto hits = [](PolicySet::Policy policy, const std::vector<std::size_t>& walk) {
    PolicySet set(policy, 4, 5, false);
    std::string seen;
    for (const auto line : walk) seen += set.access(line) ? 'h' : '.';
    return seen;
  };
  const std::vector<std::size_t> walk = {0, 1, 2, 3, 0, 4, 0, 1, 2};
  CHECK(hits(PolicySet::Policy::Lru, walk) == "....h.h..");
  CHECK(hits(PolicySet::Policy::Fifo, walk) == "....h....");
  CHECK(infer::candidate_policies(2).size() == 2 + qlru_variants().size());
  CHECK(infer::candidate_policies(96).size() == 3 + qlru_variants().size());
}

TEST_CASE("victims are followed from a cold set on") {
  // Four ways, five lines; the victim is always way 2.
  std::vector<std::uint32_t> lines;
  std::vector<bool> missed;
  std::vector<std::size_t> way = {0, 1, 2, 3, 9};
  const auto access = [&](std::uint32_t line) {
    lines.push_back(line);
    missed.push_back(way[line] == 9);
    if (way[line] != 9) return;
    for (auto& other : way) {
      if (other == 2) other = 9;
    }
    way[line] = 2;
  };
  for (const std::uint32_t line : {0, 1, 2, 3}) {
    lines.push_back(line);
    missed.push_back(true);
  }
  for (int lap = 0; lap < 50; ++lap) {
    for (const std::uint32_t line : {4, 2, 0, 1, 3}) access(line);
  }
  const auto seen = infer::follow_evictions({{lines, &missed, 0, true}}, 5);
  CHECK(seen.labelled);
  CHECK(seen.misses > 90);
  CHECK(seen.by_way[2] == seen.misses);
}

TEST_CASE("a set index is solved: bits, XORs, residues, or none") {
  const auto labelled = [](auto set_of) {
    std::vector<infer::LabelledLine> lines;
    for (std::int64_t line = 0; line < 256; ++line) lines.push_back({line, static_cast<std::size_t>(set_of(line))});
    return lines;
  };
  const auto bits = infer::find_set_index(labelled([](auto line) { return line / 4 % 4; }), 4, 32);
  CHECK(bits.mapping == "bits");
  CHECK(bits.functions == std::vector<std::vector<int>>{{7}, {8}});
  const auto mixed = infer::find_set_index(labelled([](auto line) { return (line ^ line / 16) % 2 + 2 * (line / 2 % 2); }), 4, 32);
  CHECK(mixed.mapping == "xor");
  const auto residue = infer::find_set_index(labelled([](auto line) { return line % 7; }), 7, 32);
  CHECK(residue.mapping == "modulo");
  CHECK(residue.block == 32);
  const auto none = infer::find_set_index(labelled([](auto line) { return (line * 2654435761u >> 7) % 4; }), 4, 32);
  CHECK(none.mapping == "not bit-defined");
}

TEST_CASE("`where` chooses the points that a question is about") {
  const auto records = table({point(512, 16, 4, 6, kHit), point(1024, 32, 4, 6, kMiss)});
  const auto latency = [&](const std::string& analysis) { return number(ask(records, "cycles", analysis)); };
  CHECK(latency("fastest(lat)") == 30);
  CHECK(latency("slowest(lat where n == 512B)") == 30);
  CHECK(latency("fastest(lat where n > 512B)") > 200);
  CHECK(ask(records, "list", "latency_classes(lat where n == 512B)").value.get<List>()->size() == 1);
  // What a miss is, all points of the stage tell.
  CHECK(number(ask(records, "count", "value(misses(lat) where n == 1KiB, n: 1KiB)")) == 128);
}

TEST_CASE("a `where` that keeps nothing is answered by nothing") {
  const auto records = table({point(512, 16, 4, 6, kHit), point(1024, 32, 4, 6, kMiss)});
  for (const auto& [type, analysis] : {std::pair{"cycles", "fastest(lat"}, {"cycles", "slowest(lat"}, {"list", "latency_classes(lat"}, {"B", "miss_spacing(lat"},
                                       {"B", "first_miss(lat over n"}, {"B", "last_flat(misses(lat) over n"}, {"count", "highest(misses(lat)"}}) {
    const auto finding = ask(records, type, std::string(analysis) + " where n > 64KiB)");
    CHECK(undetermined(finding));
    CHECK_MESSAGE(finding.why.find("`where` keeps none of the 2 points") == 0, finding.why);
  }
}

TEST_CASE("where all latencies are of one class nobody knows whether they are hits or misses") {
  for (const auto& ticks : {test::Ticks(kHit), test::Ticks(kMiss)}) {
    const auto records = table({point(512, 16, 4, 6, ticks), point(1024, 32, 4, 6, ticks)});
    for (const auto& [type, analysis] : {std::pair{"count", "value(misses(lat), n: 512B)"}, {"count", "highest(misses(lat))"}, {"B", "last_flat(misses(lat) over n)"}}) {
      const auto finding = ask(records, type, analysis);
      CHECK(undetermined(finding));
      CHECK_MESSAGE(finding.why.find("all latencies are of one class") == 0, finding.why);
    }
  }
}

TEST_CASE("a size between two footprints that are further apart than a unit is an interval, and no value within it") {
  const auto of = [](std::vector<records::Point> points) { return ask(table(std::move(points)), "B", kCapacity); };
  const auto exact = of({point(512, 16, 4, 3, kHit), point(544, 17, 4, 3, kMiss)}), coarse = of({point(512, 16, 4, 3, kHit), point(1024, 32, 4, 3, kMiss)});
  CHECK(number(exact) == 512);
  CHECK(exact.exact);
  CHECK(number(coarse) == 512);
  CHECK_FALSE(coarse.exact);
  CHECK(coarse.interval->first == 512);
  CHECK(coarse.interval->second == 1023);
}

TEST_CASE("a size told by a column that counts no misses is as coarse as its sweep") {
  const auto of = [](std::vector<records::Point> points) { return ask(table(std::move(points)), "B", "last_flat(mean(lat) > 100cycles over n)"); };
  const auto coarse = of({point(512, 16, 4, 3, kHit), point(1024, 32, 4, 3, kMiss)});
  CHECK(number(coarse) == 512);
  CHECK_FALSE(coarse.exact);
  CHECK(coarse.interval->second == 1023);
}
