// SPDX-License-Identifier: Apache-2.0
// What a walk over one set says of the policies that may have replaced its lines: each is a hypothesis with a likelihood.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "runtime/infer/model/evidence.h"
#include "runtime/infer/replacement_candidates.h"
#include "runtime/infer/replacement_chance.h"
#include "tests/infer/table.h"

using namespace gexp;
using namespace gexp::infer::replacing;
using infer::Candidate;
using infer::PolicySet;

namespace {

constexpr std::size_t kRuns = 3, kPoints = 4, kSteps = 1500;

/// Orders with repeated visits, the same ones in each run of a point; `misses(lines, run)` says which accesses miss.
template <class Misses> Walk walked(std::size_t ways, Misses misses) {
  Walk walk;
  walk.lines = ways + 1;
  for (std::size_t point = 0; point < kPoints; ++point) {
    std::mt19937_64 random(point);
    Trace trace;
    trace.point = point, trace.windows = {0};
    while (trace.lines.size() < kSteps) {
      const auto line = static_cast<std::uint32_t>(random() % walk.lines);
      for (std::size_t visit = 0; visit <= point; ++visit) trace.lines.push_back(line);
    }
    trace.unsure.assign(trace.lines.size(), false);
    for (std::size_t run = 0; run < kRuns; ++run) {
      trace.missed = misses(trace.lines, point * kRuns + run);
      walk.traces.push_back(trace);
    }
  }
  return walk;
}

std::vector<bool> misses_of(const Candidate& candidate, std::size_t ways, const std::vector<std::uint32_t>& lines) {
  PolicySet set(candidate, ways, ways + 1, false);
  std::vector<bool> missed;
  for (const auto line : lines) missed.push_back(!set.access(line));
  return missed;
}

Walk followed_by(const Candidate& candidate, std::size_t ways, double struck = 0) {
  return walked(ways, [&](const std::vector<std::uint32_t>& lines, std::size_t run) {
    auto missed = misses_of(candidate, ways, lines);
    std::mt19937_64 random(run + 100);
    for (std::size_t i = 0; i < missed.size(); ++i) {
      if (static_cast<double>(random() >> 11) * 0x1p-53 < struck) missed[i] = true;
    }
    return missed;
  });
}

Walk by_chance(std::size_t ways) {
  return walked(ways, [&](const std::vector<std::uint32_t>& lines, std::size_t run) {
    std::mt19937_64 random(run + 100);
    std::vector<std::size_t> in(ways, ways + 1);
    std::size_t filled = 0;
    std::vector<bool> missed;
    for (const auto line : lines) {
      missed.push_back(std::find(in.begin(), in.end(), line) == in.end());
      if (missed.back()) in[filled < ways ? filled++ : random() % ways] = line;
    }
    return missed;
  });
}

std::vector<Scored> all_of(const Walk& walk) {
  Reference reference(walk);
  reference.offer(fit_chance(walk, false).by_block);
  return scored(walk, [](const Candidate&) { return true; }, reference);
}

const Scored& best_of(const std::vector<Scored>& all) {
  return *std::max_element(all.begin(), all.end(), [](const Scored& a, const Scored& b) {
    return std::pair(a.followed, a.log_likelihood) < std::pair(b.followed, b.log_likelihood);
  });
}

/// Points whose walks visit each of five lines twice in a lap, in turn or shuffled, in a set of four ways that is emptied before.
records::Table table_of(bool shuffled, std::size_t points, std::size_t steps) {
  std::vector<records::Point> made;
  for (std::size_t point = 0; point < points; ++point) {
    Pattern walk;
    for (std::int64_t i = 0; i < 10; ++i) walk.offsets.push_back(i / 2 * 32 + i % 2 * 4);
    std::mt19937_64 random(point);
    if (shuffled) std::shuffle(walk.offsets.begin(), walk.offsets.end(), random);
    walk.steps = 10;
    std::vector<std::uint32_t> lines;
    for (std::size_t i = 0; i < steps; ++i) lines.push_back(static_cast<std::uint32_t>(walk.offsets[i % 10] / 32));
    const auto missed = misses_of({Candidate::Policy::Lru}, 4, lines);
    made.push_back(test::point(static_cast<double>(32 * (point + 1)), 1, 1, 0, {}));
    made.back().walk = std::make_shared<const Pattern>(walk);
    made.back().steps = static_cast<std::int64_t>(steps);
    for (std::size_t run = 0; run < kRuns; ++run) {
      records::Run each;
      for (std::size_t i = 0; i < steps; ++i) each.ticks.push_back(missed[i] ? 250 : 50);
      made.back().runs.push_back(std::move(each));
    }
  }
  return test::table(std::move(made));
}

infer::Finding asked(const records::Table& table, const std::string& more = {}) {
  return test::ask(table, "structure", "replacement(lat, line: 32B, sets: 1, ways: 4" + more + ")");
}

}  // namespace

TEST_CASE("a policy predicts its own walk best, though interference strikes one access in fifty") {
  using Policy = Candidate::Policy;
  for (const auto& truth : {Candidate(Policy::Lru), Candidate(Policy::Fifo), Candidate(Policy::Plru), Candidate(Policy::Nru),
                            Candidate(Policy::Qlru, *qlru_named("qlru_h00_m2_r0_u0_umo"))}) {
    for (const double struck : {0.0, 0.02}) {
      CAPTURE(truth.name());
      CAPTURE(struck);
      const auto all = all_of(followed_by(truth, 8, struck));
      const auto& best = best_of(all);
      CHECK(best.candidate.name() == truth.name());
      CHECK(best.followed);
      CHECK(best.outcomes.fast == 0);
      CHECK(best.outcomes.slow_rate() == doctest::Approx(struck).epsilon(0.2).scale(0.02));
    }
  }
}

TEST_CASE("where victims are drawn by chance no policy is followed to the end, and chance predicts each by one of the ways") {
  for (const std::size_t ways : {2, 4, 16}) {
    CAPTURE(ways);
    const auto walk = by_chance(ways);
    const auto chance = fit_chance(walk, false);
    const auto seen = evictions_of(walk, chance);
    const double each = std::log(static_cast<double>(ways)) / infer::model::kTemper;
    CHECK(chance.log_likelihood == doctest::Approx(-each * seen.misses).epsilon(0.05));
    CHECK(seen.uneven < 0);
    CHECK(seen.older.nats < 0);
    CHECK(seen.repeats.nats < 0);
    CHECK(chance.log_likelihood > log_of_own_rates(walk) + 20);
    for (const auto& scored : all_of(walk)) CHECK_FALSE(scored.followed);
  }
}

TEST_CASE("where other lines, nobody knows which, take all ways before a run, a set is followed from each state that they may leave") {
  constexpr std::size_t kWays = 4;
  for (const Candidate& candidate : {Candidate(Candidate::Policy::Nru), *Candidate::named("qlru_h11_m1_r0_u0"), *Candidate::named("qlru_h00_m2_r0_u0_umo")}) {
    auto walk = walked(kWays, [&](const std::vector<std::uint32_t>& lines, std::size_t run) {
      PolicySet set(candidate, kWays, kWays + 1, true);
      std::mt19937_64 random(run);
      for (int visit = 0; visit < 50; ++visit) set.access(random() % (kWays + 1));
      for (int other = 0; other < 40; ++other) set.flood();
      std::vector<bool> missed;
      for (const auto line : lines) missed.push_back(!set.access(line));
      return missed;
    });
    for (auto& trace : walk.traces) trace.flood = std::make_shared<const Flood>();
    const auto all = all_of(walk);
    CAPTURE(candidate.name());
    const auto own = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.candidate.name() == candidate.name(); });
    REQUIRE(own != all.end());
    CHECK(own->followed);
    CHECK(own->outcomes.wrong() < 1e-3);  // not each state is found
    CHECK(all.front().outcomes.wrong() > 0.02);  // LRU
  }
}

TEST_CASE("errors at the same accesses of each run are no interference") {
  const Candidate lru(Candidate::Policy::Lru);
  const auto recurring = [&](const Walk& walk) {
    std::vector<infer::replacing::Bits> hits;
    for (const auto& trace : walk.traces) {
      auto each = misses_of(lru, walk.lines - 1, trace.lines);
      each.flip();
      hits.push_back(infer::replacing::packed(each));
    }
    return recurring_errors(walk, hits);
  };
  CHECK(recurring(followed_by(lru, 8)) == 0);
  CHECK(recurring(followed_by(lru, 8, 0.02)) < 1);
  auto wrong = followed_by(lru, 8);
  for (auto& trace : wrong.traces) {
    for (std::size_t i = 100; i < trace.missed.size(); i += 100) trace.missed[i] = true;
  }
  CHECK(recurring(wrong) > 20);
}

TEST_CASE("the rates of errors are integrated out: more accesses never make a likelihood larger, and few fast misses cost more than slow hits") {
  Outcomes outcomes;
  double before = log_likelihood(outcomes);
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    outcomes.add(random() % 2, random() % 2, 1);
    CHECK(log_likelihood(outcomes) <= before + 1e-9);
    before = log_likelihood(outcomes);
  }
  CHECK(log_likelihood({1000, 5, 1000, 0}) > log_likelihood({1000, 0, 1000, 5}) + 1);
}

TEST_CASE("a confidence is the posterior of all names of one policy; where two policies predict alike, the walk that parts them is named") {
  const auto known = asked(table_of(true, 12, 400));
  REQUIRE_MESSAGE(known.value.known(), known.why);
  CHECK(known.value.get<Fields>()->at("name") == Value(std::string("lru")));
  CHECK(known.confidence > 0.99);
  CHECK(known.confidence <= 0.999);
  const auto alike = asked(table_of(false, 2, 400));
  CHECK(test::undetermined(alike));
  CHECK_MESSAGE(alike.why.find("then fifo (") != std::string::npos, alike.why);
  CHECK_MESSAGE(alike.why.find("shuffled laps that visit each line") != std::string::npos, alike.why);
  const auto few = asked(table_of(true, 1, 20));
  CHECK_MESSAGE(few.confidence < known.confidence - 0.01, few.confidence);
}
