// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <set>

#include "runtime/sim/hierarchy.h"
#include "tests/sim/model_support.h"

using namespace sim_test;

namespace {

constexpr std::int64_t MiB = 1 << 20;

struct Row {
  const char* model;
  const char* load;
  int overhead;  // clock and one add
  std::vector<int> p;  // P1 … P6; 0: not measured
};

// Mei17 Figure 14.
const Row kRows[] = {
    {"gtx980", "ld.global.ca.u64", 7, {82, 0, 0, 385, 2439, 2740}},   {"gtx980", "ld.global.u64", 7, {214, 225, 289, 383, 2461, 2750}},
    {"gtx980", "ld.global.cg.u64", 7, {214, 225, 289, 383, 2461, 2750}}, {"gtx780", "ld.global.u64", 17, {198, 204, 257, 339, 702, 968}},
    {"gtx780", "ld.global.ca.u64", 17, {198, 204, 257, 339, 702, 968}}, {"gtx560ti", "ld.global.u64", 15, {96, 384, 468, 635, 1239, 0}},
    {"gtx560ti", "ld.global.ca.u64", 15, {96, 384, 468, 635, 1239, 0}}, {"gtx560ti", "ld.global.cg.u64", 15, {351, 378, 462, 619, 1225, 0}},
};

}  // namespace

TEST_CASE("latency spectrum P1 to P6 comes out as Mei17 Figure 14 has it") {
  for (const Row& row : kRows) {
    CAPTURE(row.model);
    CAPTURE(row.load);
    Device device(row.model);
    Walker walker(device, 900 * MiB, row.load);
    const auto walk = [&](const std::vector<std::int64_t>& offsets, std::uint32_t lead, std::uint32_t steps) {
      return walker.latencies(offsets, lead, steps, row.overhead);
    };
    // One line a page; the line's place moves on so that no cache set overflows.
    const auto pages = [](std::int64_t from, std::int64_t count) {
      std::vector<std::int64_t> offsets;
      for (std::int64_t i = 0; i < count; ++i) offsets.push_back((from + i) * 2 * MiB + i * 128);
      return offsets;
    };
    // P5: first touches of pages inside one 512 MB window; P6: pages of the two windows in turn.
    const auto cold = walk(pages(0, 100), 1, 99);
    CHECK(std::count(cold.begin(), cold.end(), row.p[4]) == 99);
    if (row.p[5]) {
      std::vector<std::int64_t> zigzag;
      for (std::int64_t i = 0; i < 90; ++i) zigzag.push_back((110 + i / 2 + i % 2 * 256) * 2 * MiB + i * 128);
      const auto switched = walk(zigzag, 1, 89);
      CHECK(std::count(switched.begin(), switched.end(), row.p[5]) == 89);
    }
    // P4: new lines of a page that the TLB knows, backwards: what follows a miss is fetched with it.
    auto down = ring(MiB, 256);
    std::reverse(down.begin(), down.end());
    const auto lines = walk(down, 1, 1000);
    CHECK(std::count(lines.begin() + 1, lines.end(), row.p[3]) >= 990);
    // P1: one line again and again.
    const auto same = walk({64 * MiB, 64 * MiB + 8}, 4, 20);
    CHECK(std::count(same.begin(), same.end(), row.p[0]) == 20);
    if (row.p[1]) {
      // P2: more pages than the L1 TLB holds; P3: more than the L2 TLB holds. On Fermi the lines share L1 sets and come from L2.
      const auto second = walk(ring(60 * MiB, 2 * MiB), 60, 60);
      CHECK(std::count(second.begin(), second.end(), row.p[1]) == 60);
      const auto third = walk(pages(0, 130), 260, 130);
      CHECK(std::count(third.begin(), third.end(), row.p[2]) >= 125);
    }
  }
}

TEST_CASE("Maxwell's L1 hits without a translation") {
  Device device("gtx980");
  Walker walker(device, 256 * MiB, "ld.global.ca.u64");
  std::vector<std::int64_t> pages;
  for (std::int64_t i = 0; i < 100; ++i) pages.push_back(i * 2 * MiB + i * 128);
  const auto hits = walker.latencies(pages, 200, 100, 7);
  CHECK(std::count(hits.begin(), hits.end(), 82) == 100);
}

TEST_CASE("an SM's data caches are empty when a kernel starts, L2 and TLBs are not") {
  Device device("gtx780");
  Walker walker(device, MiB, "ld.global.nc.u64");
  const auto offsets = ring(4096, 32);
  walker.latencies(offsets, 128, 128, 17);
  const auto again = walker.latencies(offsets, 0, 128, 17);
  CHECK(again[0] == 110 + 110);
  CHECK(std::count(again.begin(), again.end(), 220) == 128);
}

TEST_CASE("read-only cache through a kernel: capacity, sets and LRU of the GTX 780") {
  Device device("gtx780");
  Walker walker(device, MiB, "ld.global.nc.u64");
  const auto missed = [&](std::int64_t bytes) {
    const auto offsets = ring(bytes, 32);
    const auto n = static_cast<std::uint32_t>(offsets.size());
    const auto latencies = walker.latencies(offsets, 2 * n, n, 17);
    return n - static_cast<std::uint32_t>(std::count(latencies.begin(), latencies.end(), 110));
  };
  CHECK(missed(12288) == 0);
  CHECK(missed(12288 + 32) == 97);
  CHECK(missed(12288 + 128) == 100);
  CHECK(missed(12288 + 512) == 400);
}

TEST_CASE("GTX 980: one memory serves ca and nc, each by its own mapping") {
  Device device("gtx980");
  for (const char* load : {"ld.global.ca.u64", "ld.global.nc.u64"}) {
    Walker walker(device, MiB, load);
    const auto fits = walker.latencies(ring(24576, 32), 1536, 768, 7);
    CHECK(std::count(fits.begin(), fits.end(), 82) == 768);
    const auto over = walker.latencies(ring(24576 + 32, 32), 1538, 769, 7);
    CHECK(std::count(over.begin(), over.end(), 82) == 769 - 193);
  }
}

TEST_CASE("L1 TLB: 16 pages; LRU misses all 17, random replacement only some") {
  for (const char* name : {"gtx560ti", "gtx560ti-l1tlb-random"}) {
    Device device(name);
    Walker walker(device, 64 * MiB, "ld.global.cg.u64");
    const auto fits = walker.latencies(ring(32 * MiB, 2 * MiB), 64, 64, 15);
    CHECK(std::count(fits.begin(), fits.end(), 351) == 64);
    const auto over = walker.latencies(ring(34 * MiB, 2 * MiB), 64, 170, 15);
    const auto missed = std::count(over.begin(), over.end(), 378);
    CHECK(missed + std::count(over.begin(), over.end(), 351) == 170);
    if (std::string(name) == "gtx560ti") CHECK(missed == 170);
    else CHECK((missed > 10 && missed < 140));
  }
}

TEST_CASE("noise: off by default; when on it is seeded") {
  const auto noisy = edited("gtx780", "[shared]", "[noise]\njitter = 2.0\ntail_probability = 0.05\ntail = 100\nassumed = \"a test\"\n\n[shared]");
  const auto measure = [&](const gexp::Source& source, std::uint64_t seed) {
    Device device(source, seed);
    Walker walker(device, MiB, "ld.global.nc.u64");
    return walker.latencies(ring(4096, 32), 128, 512, 17);
  };
  const auto quiet = measure(*gexp::sim::read_model("gtx780"), 0);
  CHECK(std::set<int>(quiet.begin(), quiet.end()).size() == 1);
  const auto first = measure(noisy, 0);
  CHECK(std::set<int>(first.begin(), first.end()).size() > 5);
  CHECK(std::count_if(first.begin(), first.end(), [](int l) { return l > 180; }) > 5);
  CHECK(first == measure(noisy, 0));
  CHECK(first != measure(noisy, 1));
  double mean = 0;
  int count = 0;
  for (const int l : first) {
    if (l < 180) mean += l, ++count;
  }
  CHECK(mean / count == doctest::Approx(110).epsilon(0.005));
}

TEST_CASE("stores leave the L1 alone") {
  Device device("gtx560ti");
  const auto v = device.run(R"(
    .reg .b64 %rd<20>;
    ld.param.u64 %rd9, [out];
    ld.global.ca.u64 %rd1, [%rd9];
    add.s64 %rd1, %rd1, 1;
    st.global.u64 [%rd9+1024], %rd1;
    mov.u64 %rd2, %clock64;
    ld.global.ca.u64 %rd3, [%rd9];
    add.s64 %rd3, %rd3, 1;
    mov.u64 %rd4, %clock64;
    ld.global.ca.u64 %rd5, [%rd9+1024];
    add.s64 %rd5, %rd5, 1;
    mov.u64 %rd6, %clock64;
    sub.s64 %rd7, %rd4, %rd2;
    sub.s64 %rd8, %rd6, %rd4;
    st.global.v2.u64 [%rd9], {%rd7, %rd8};
    ret;)", 256);
  CHECK(v[0] == 15 + 96);
  CHECK(v[1] == 15 + 357);
}

TEST_CASE("an L2 whose parts keep copies: a line from the other part is far once, and a store takes its copies out") {
  gexp::Diagnostics diagnostics;
  const auto model = gexp::sim::read_device_model(edited("gtx780", "prefetch = \"1 MiB\"", "slices = 6\npartitions = 2\nfar = 50\ncopies = \"reads\""), diagnostics);
  REQUIRE(model);
  gexp::sim::Hierarchy hierarchy(*model, 1, 1);
  using gexp::sim::LoadPath;
  double time = 0;
  const auto read = [&](std::uint32_t sm, std::int64_t line) { return hierarchy.far(LoadPath::Cg, sm, hierarchy.piece(LoadPath::Cg, static_cast<std::uint64_t>(line) * 128), 0, time += 10'000); };
  const std::uint32_t here = 0, there = static_cast<std::uint32_t>(model->sms) - 1;
  int homes_here = 0;
  constexpr int kLines = 200;
  for (int line = 0; line < kLines; ++line) {
    const double cold = read(here, line), again = read(here, line), other = read(there, line), other_again = read(there, line);
    CHECK(cold > again + 50);
    CHECK(other_again == again);
    const bool home_here = other > again;  // the other part had to ask for it
    CHECK((other == again || other == again + 50));
    homes_here += home_here;
    hierarchy.store(there, hierarchy.piece(LoadPath::Cg, static_cast<std::uint64_t>(line) * 128), time += 10'000);
    CHECK(read(here, line) == (home_here ? again : again + 50));  // a copy is not what was written
  }
  CHECK(homes_here > kLines / 4);
  CHECK(homes_here < kLines * 3 / 4);
}
