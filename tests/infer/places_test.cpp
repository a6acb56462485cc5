// SPDX-License-Identifier: Apache-2.0
// Where lines lie: places told by what several points take to reach a line, and the address bits that decide them.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "tests/infer/table.h"

using namespace gexp;
using test::field;
using test::undetermined;
using test::mix;

namespace {

constexpr std::int64_t kBytesOfLine = 128, kPage = 128 * 1024;  // 1024 lines a page

bool odd(std::int64_t bits) { return std::popcount(static_cast<std::uint64_t>(bits)) % 2 == 1; }

/// Where a line lies, from 0 on.
using Place = std::function<std::uint64_t(std::int64_t line)>;

struct Placed {
  int views = 24;
  std::vector<std::int64_t> lines{};  ///< numbers of lines
  double spread = 20;                 ///< ticks by which places are further away than the nearest
  double noise = 1;
  int laps = 4;
  double wild = 0;                    ///< share of visits that something holds up
  std::function<double(int view, std::uint64_t place)> distance{};
};

records::Table seen(const Placed& made, const Place& place) {
  records::Table table;
  table.stage = "s", table.timed = "lat", table.columns = {"m"};
  test::Noise draw(7);
  std::uint64_t state = 1;
  for (int view = 0; view < made.views; ++view) {
    records::Point point;
    point.at["m"] = Value(static_cast<double>(view));
    Pattern walk;
    walk.steps = static_cast<std::int64_t>(made.lines.size());
    for (const auto line : made.lines) walk.offsets.push_back(line * kBytesOfLine);
    point.walk = std::make_shared<const Pattern>(std::move(walk));
    point.steps = static_cast<std::int64_t>(made.lines.size()) * made.laps;
    records::Run run;
    for (int lap = 0; lap < made.laps; ++lap) {
      for (const auto line : made.lines) {
        const auto where = place(line);
        const double far = made.distance ? made.distance(view, where) : made.spread * static_cast<double>(mix(where << 16 | static_cast<std::uint64_t>(view)) >> 11) * 0x1p-53;
        const bool held_up = static_cast<double>(mix(++state) >> 11) * 0x1p-53 < made.wild;
        run.ticks.push_back(static_cast<std::uint32_t>(std::lround(260 + far + made.noise * draw() + (held_up ? 300 : 0))));
      }
    }
    point.runs.push_back(std::move(run));
    table.points.push_back(std::move(point));
  }
  return table;
}

infer::Finding ask(const records::Table& table, const std::string& call = "places(lat, page: 128KiB)") {
  return test::ask_in("  sweep m in 0..3\n  pattern ring = uniform(stride: 128B, span: 64KiB)\n  launch grid 1 block 1\n  timed lat each { chase A by ring laps 4 }\n", table, "structure", call);
}

/// Lines of some pages, all of them or every so many by chance.
std::vector<std::int64_t> lines_of(int pages, std::uint64_t every = 1) {
  std::vector<std::int64_t> lines;
  for (std::int64_t line = 0; line < pages * 1024; ++line) {
    if (mix(static_cast<std::uint64_t>(line) + 99) % every == 0) lines.push_back(line);
  }
  return lines;
}

/// "5,9 6": lists of lists of bits.
std::string bits(const infer::Finding& finding, const char* name) {
  std::string text;
  const auto* fields = finding.value.get<Fields>();
  const auto* masks = fields && fields->count(name) ? fields->at(name).get<List>() : nullptr;
  if (!masks) return "?";
  for (const auto& mask : *masks) {
    text += text.empty() ? "" : " ";
    bool first = true;
    for (const auto& bit : *mask.get<List>()) text += (first ? "" : ",") + std::to_string(static_cast<int>(bit.get<Number>()->number)), first = false;
  }
  return text;
}

}  // namespace

TEST_CASE("slices that a hash deals lines to: their number, and no exclusive or") {
  for (const std::uint64_t slices : {6u, 20u, 48u, 96u}) {
    CAPTURE(slices);
    const auto finding = ask(seen({.lines = lines_of(2)}, [&](auto line) { return mix(static_cast<std::uint64_t>(line)) % slices; }));
    CHECK_MESSAGE(field(finding, "count") == static_cast<double>(slices), finding.why);
    CHECK(finding.confidence > 0.95);
    CHECK(bits(finding, "bits").empty());
  }
}

TEST_CASE("exclusive ors that choose the slice are found, whatever constant a page adds") {
  // Bits 7 to 16 of an address within a page; eight slices by three exclusive ors, times three by a hash.
  const auto place = [](std::int64_t line) {
    const auto at = line * kBytesOfLine, page = at / kPage;
    const std::uint64_t part = (odd(at & (1 << 8 | 1 << 12)) ? 1u : 0u) | (odd(at & (1 << 9 | 1 << 13 | 1 << 15)) ? 2u : 0u) | (odd(at & 1 << 14) ? 4u : 0u);
    return (part ^ mix(static_cast<std::uint64_t>(page)) % 8) * 3 + mix(static_cast<std::uint64_t>(line)) % 3;
  };
  for (const int pages : {1, 3}) {
    CAPTURE(pages);
    const auto finding = ask(seen({.lines = lines_of(pages)}, place));
    CHECK_MESSAGE(field(finding, "count") == 24, finding.why);
    CHECK(bits(finding, "bits") == "14 8,12 9,13,15");
    CHECK(field(finding, "predicted") == 1);
  }
}

TEST_CASE("an exclusive or that says nothing about another page is none") {
  // Within a page one bit decides, and each page deals its parts to slices in an order of its own.
  const auto finding = ask(seen({.lines = lines_of(4)}, [](std::int64_t line) {
    const auto at = line * kBytesOfLine, page = at / kPage;
    const std::uint64_t part = (odd(at & (1 << 8 | 1 << 12)) ? 12u : 0u) + mix(static_cast<std::uint64_t>(line)) % 12;
    return part * 5 % 24 * (page % 2 == 0) + part * 7 % 24 * (page % 2 == 1);
  }));
  CHECK_MESSAGE(field(finding, "count") == 24, finding.why);
  CHECK_MESSAGE(bits(finding, "bits").empty(), finding.why);
  CHECK_MESSAGE(finding.why.find("holds for") != std::string::npos, finding.why);
}

TEST_CASE("flips that never leave a slice join its parts") {
  // A slice by what is left of a division by five, of an address without bits 7 and 8,11; and one of its four parts by a hash.
  const auto place = [](std::int64_t line) {
    const auto at = static_cast<std::uint64_t>(line * kBytesOfLine);
    const std::uint64_t without = (at >> 9) ^ (at >> 8 & 1) << 2;
    return (without % 5) * 4 + mix(static_cast<std::uint64_t>(line)) % 4;
  };
  const auto finding = ask(seen({.lines = lines_of(2)}, place));
  CHECK_MESSAGE(field(finding, "count") == 20, finding.why);
  CHECK_MESSAGE(field(finding, "groups") == 5, finding.why);
  CHECK(bits(finding, "flips") == "7 8,11");
}

TEST_CASE("what holds up single visits changes nothing") {
  const auto finding = ask(seen({.lines = lines_of(2), .wild = 0.02}, [](auto line) { return mix(static_cast<std::uint64_t>(line)) % 16; }));
  CHECK_MESSAGE(field(finding, "count") == 16, finding.why);
}

TEST_CASE("no number where places cannot be told apart, or lines are too few") {
  const auto place = [](auto line) { return mix(static_cast<std::uint64_t>(line)) % 64; };
  // Never a wrong number: places within the noise, few points, few lines.
  for (const double spread : {0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 10.0}) {
    for (const int views : {2, 4, 8, 24}) {
      const auto finding = ask(seen({.views = views, .lines = lines_of(1), .spread = spread}, place));
      CAPTURE(spread);
      CAPTURE(views);
      if (!undetermined(finding)) CHECK_MESSAGE(field(finding, "count") == 64, finding.why);
    }
  }
  CHECK_MESSAGE(undetermined(ask(seen({.lines = lines_of(1, 8)}, place))), "two lines a place");
  CHECK(undetermined(ask(seen({.lines = lines_of(1)}, [](auto line) { return static_cast<std::uint64_t>(line); }))));  // each line for itself
  CHECK(undetermined(ask(seen({.lines = lines_of(1)}, [](auto) { return std::uint64_t{0}; }))));  // one place, or several that are alike
  CHECK(undetermined(ask(seen({.lines = lines_of(1), .laps = 1}, place))));
  CHECK(undetermined(ask(seen({.views = 1, .lines = lines_of(1)}, place))));
}

TEST_CASE("two sides by the level that answers, with misses among them") {
  const auto sides = [](int, std::uint64_t place) { return place == 2 ? 400.0 : place == 1 ? 180.0 : 0.0; };  // 2: memory
  const auto place = [](std::int64_t line) -> std::uint64_t {
    const auto at = line * kBytesOfLine, page = at / kPage;
    return mix(static_cast<std::uint64_t>(line) + 5) % 30 == 0 ? 2 : odd(at & (1 << 8 | 1 << 11 | 1 << 14)) != odd(page * 7) ? 1 : 0;
  };
  const auto finding = ask(seen({.views = 1, .lines = lines_of(12, 4), .noise = 3, .laps = 1, .distance = sides}, place), "places(lat, above: 260cycles, page: 128KiB)");
  CHECK_MESSAGE(bits(finding, "bits") == "8,11,14", finding.why);
  CHECK(field(finding, "predicted") == 1);
  CHECK(finding.confidence > 0.98);
  SUBCASE("an exclusive or that holds for most lines only is none") {
    const auto rough = [&](std::int64_t line) -> std::uint64_t { return mix(static_cast<std::uint64_t>(line) + 11) % 8 == 0 ? 1 - place(line) % 2 : place(line) % 2; };
    CHECK(bits(ask(seen({.views = 1, .lines = lines_of(12, 4), .noise = 3, .laps = 1, .distance = sides}, rough), "places(lat, above: 260cycles, page: 128KiB)"), "bits").empty());
  }
  SUBCASE("bits that vary together are not told apart") {
    auto lines = lines_of(12, 2);
    std::erase_if(lines, [](auto line) { return (line >> 1 & 1) != (line >> 4 & 1); });
    CHECK(bits(ask(seen({.views = 1, .lines = lines, .noise = 3, .laps = 1, .distance = sides}, place), "places(lat, above: 260cycles, page: 128KiB)"), "bits") == "?");
  }
  SUBCASE("all on one side") {
    CHECK(undetermined(ask(seen({.views = 1, .lines = lines_of(12, 4), .laps = 1, .distance = sides}, [](auto) { return std::uint64_t{0}; }), "places(lat, above: 260cycles, page: 128KiB)")));
  }
}
