// SPDX-License-Identifier: Apache-2.0
// Multiprocessors that slow each other: pairs told by times of rounds in which each is active by chance.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/infer/table.h"

using namespace gexp;
using test::field;
using test::undetermined;

namespace {

struct Ports {
  std::vector<int> port{};  ///< by multiprocessor; those of one port slow each other
  double shared = 0.12;     ///< logarithm by which another active one of the port slows
  std::vector<int> part{};  ///< the same of a larger part of the chip; empty: none
  double part_shared = 0;
  double crowd = 0;         ///< the same of each other active one, wherever it is
  double noise = 0.1;       ///< of the logarithm
  double drift = 0;         ///< of all, from the first round to the last
  int rounds = 200;
  std::uint64_t seed = 1;
  int idle = -1;            ///< a multiprocessor that never runs
  bool always = false;      ///< all are active in all rounds
};

records::Table contended(const Ports& chip) {
  records::Table table;
  table.stage = "s", table.timed = "t", table.columns = {"round"};
  test::Noise draw(chip.seed);
  std::mt19937_64 coin(chip.seed + 77);
  const auto count = chip.port.size();
  for (int round = 0; round < chip.rounds; ++round) {
    records::Point point;
    point.at["round"] = Value(static_cast<double>(round));
    std::vector<bool> active(count);
    for (std::size_t sm = 0; sm < count; ++sm) active[sm] = (chip.always || (coin() >> 40) % 2 == 0) && static_cast<int>(sm) != chip.idle;
    records::Run run;
    for (std::size_t sm = 0; sm < count; ++sm) {
      double slower = 0.003 * static_cast<double>(sm % 7) + chip.drift * round / chip.rounds;
      for (std::size_t other = 0; other < count; ++other) {
        if (other == sm || !active[other]) continue;
        slower += chip.crowd + (chip.port[other] == chip.port[sm] ? chip.shared : 0);
        slower += !chip.part.empty() && chip.part[other] == chip.part[sm] ? chip.part_shared : 0;
      }
      run.ticks.push_back(active[sm] ? static_cast<std::uint32_t>(std::lround(30000 * std::exp(slower + chip.noise * draw()))) : 0);
    }
    point.steps = static_cast<std::int64_t>(count);
    point.runs.push_back(std::move(run));
    table.points.push_back(std::move(point));
  }
  return table;
}

infer::Finding ask_ports(const records::Table& table, const std::string& call = "contention(t)", const std::string& type = "structure") {
  return test::ask_in("  sweep round in 0..3\n  pattern ring = uniform(stride: 128B, span: 64KiB)\n  launch grid 1 block 1\n"
                      "  timed t each { chase A by ring laps 4 }\n",
                      table, type, call);
}

/// So many ports, each of two multiprocessors that nothing in their numbers tells.
std::vector<int> anywhere(std::size_t count, std::uint64_t seed, int of_a_port = 2) {
  std::vector<int> port(count);
  for (std::size_t i = 0; i < count; ++i) port[i] = static_cast<int>(i) / of_a_port;
  std::mt19937_64 engine(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(port[i - 1], port[engine() % i]);
  return port;
}

std::vector<int> in_parts(std::size_t count, int parts) {
  std::vector<int> part(count);
  for (std::size_t i = 0; i < count; ++i) part[i] = static_cast<int>(i) % parts;
  return part;
}

/// Told pairs, and those of them whose multiprocessors are of two ports.
std::pair<std::size_t, std::size_t> told(const infer::Finding& finding, const std::vector<int>& port) {
  const auto* fields = finding.value.get<Fields>();
  if (!fields) return {0, 0};
  const auto& of = *fields->at("of").get<List>();
  std::size_t pairs = 0, wrong = 0;
  for (std::size_t a = 0; a < of.size(); ++a) {
    for (std::size_t b = a + 1; b < of.size(); ++b) {
      if (of[a].get<Number>()->number < 0 || of[a] != of[b]) continue;
      pairs += 1, wrong += port[a] != port[b] ? 1 : 0;
    }
  }
  return {pairs, wrong};
}

}  // namespace

TEST_CASE("partners are found wherever they lie, and what they cost") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Ports chip;
    chip.port = anywhere(40, seed), chip.seed = seed;
    const auto finding = ask_ports(contended(chip));
    INFO(finding.why);
    CHECK(told(finding, chip.port) == std::pair<std::size_t, std::size_t>(20, 0));
    CHECK(field(finding, "count") == 20);
    CHECK(finding.confidence >= 0.9);
    CHECK(field(finding, "predicted") > 0.1);
    CHECK(field(finding, "slower") == doctest::Approx(std::expm1(0.12)).epsilon(0.15));
  }
}

TEST_CASE("without shared ports no group is told") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    Ports chip;
    chip.port = anywhere(40, seed), chip.seed = seed, chip.shared = 0, chip.crowd = 0.002 * static_cast<double>(seed % 3);
    const auto finding = ask_ports(contended(chip));
    INFO(finding.why);
    CHECK(undetermined(finding));
  }
}

TEST_CASE("groups are as large as they are") {
  for (const int of_a_port : {3, 4, 10}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      Ports chip;
      chip.port = anywhere(60, seed, of_a_port), chip.seed = seed, chip.shared = 0.08;
      const auto finding = ask_ports(contended(chip));
      INFO(of_a_port, ": ", finding.why);
      const auto pairs = static_cast<std::size_t>(30 * (of_a_port - 1));
      CHECK(told(finding, chip.port) == std::pair<std::size_t, std::size_t>(pairs, 0));
      CHECK(field(finding, "count") == 60 / of_a_port);
    }
  }
}

TEST_CASE("groups of unlike sizes") {
  Ports chip;
  chip.port = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3}, chip.rounds = 300;
  for (int alone = 4; chip.port.size() < 50; ++alone) chip.port.push_back(alone);
  const auto finding = ask_ports(contended(chip));
  INFO(finding.why);
  CHECK(told(finding, chip.port) == std::pair<std::size_t, std::size_t>(15 + 6 + 3 + 1, 0));
  CHECK(finding.value.get<Fields>()->at("of").get<List>()->back() == Value(-1.0));
}

TEST_CASE("partners stand out of a known larger part that shares something, too") {
  Ports chip;
  chip.port = in_parts(48, 24), chip.shared = 0.15, chip.part = in_parts(48, 6), chip.part_shared = 0.06, chip.seed = 5, chip.rounds = 300;
  const auto finding = ask_ports(contended(chip), "contention(t, parts: [i mod 6 for i in 0..47])");
  INFO(finding.why);
  CHECK(told(finding, chip.port) == std::pair<std::size_t, std::size_t>(24, 0));
  Ports alone = chip;
  alone.shared = 0;
  CHECK(undetermined(ask_ports(contended(alone), "contention(t, parts: [i mod 6 for i in 0..47])")));
  CHECK(told(ask_ports(contended(alone)), alone.part) == std::pair<std::size_t, std::size_t>(6 * 28, 0));
  Ports crowded;
  crowded.port = std::vector<int>(1000, 0), crowded.rounds = 40;
  CHECK(ask_ports(contended(crowded)).why.find("too many to compare") != std::string::npos);
  CHECK(ask_ports(contended(chip), "contention(t, parts: [0, 1])").why.find("48 numbers") != std::string::npos);
}

TEST_CASE("times without noise, as of a simulated device") {
  Ports chip;
  chip.port = anywhere(40, 9), chip.noise = 0, chip.rounds = 32;
  const auto [pairs, wrong] = told(ask_ports(contended(chip)), chip.port);
  CHECK(pairs == 20);
  CHECK(wrong == 0);
  chip.shared = 0;
  CHECK(undetermined(ask_ports(contended(chip))));
}

TEST_CASE("few rounds tell few pairs, and none that is wrong") {
  std::size_t some = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    Ports chip;
    chip.port = anywhere(40, seed), chip.seed = seed, chip.rounds = 60;
    const auto [pairs, wrong] = told(ask_ports(contended(chip)), chip.port);
    CHECK(wrong == 0);
    CHECK(pairs < 20);
    some += pairs;
    Ports more = chip;
    more.rounds = 150;
    const auto of_all = told(ask_ports(contended(more)), chip.port);
    CHECK(of_all.second == 0);
    CHECK(of_all.first > pairs);
  }
  CHECK(some > 0);
}

TEST_CASE("a drift and an idle multiprocessor do no harm") {
  Ports chip;
  chip.port = anywhere(24, 9), chip.noise = 0.05, chip.drift = 0.3, chip.idle = 7, chip.rounds = 128;
  const auto finding = ask_ports(contended(chip));
  INFO(finding.why);
  CHECK(told(finding, chip.port) == std::pair<std::size_t, std::size_t>(11, 0));
  CHECK(finding.value.get<Fields>()->at("of").get<List>()->at(7) == Value(-1.0));
}

TEST_CASE("what tells nothing is said to") {
  Ports chip;
  chip.port = anywhere(24, 1);
  chip.always = true;
  CHECK(undetermined(ask_ports(contended(chip))));
  chip.always = false, chip.rounds = 10;
  CHECK(ask_ports(contended(chip)).why.find("10 rounds are too few") != std::string::npos);
  chip.rounds = 40;
  auto uneven = contended(chip);
  uneven.points[3].runs[0].ticks.pop_back();
  CHECK(ask_ports(uneven).why.find("four multiprocessors or more") != std::string::npos);
  auto one = contended(chip);
  one.timing = records::Table::Timing::Total;
  CHECK(undetermined(ask_ports(one)));
}
