// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "tests/sim/support.h"

using namespace gexp::sim;

namespace {

/// The plainest cache that can be written: one vector a set, most recent first (LRU) or newest first (FIFO).
class Oracle {
 public:
  Oracle(std::vector<std::uint32_t> ways, bool fifo) : ways_(std::move(ways)), sets_(ways_.size()), fifo_(fifo) {}
  bool access(std::size_t set, std::uint64_t line) {
    auto& list = sets_[set];
    const auto found = std::find(list.begin(), list.end(), line);
    const bool hit = found != list.end();
    if (hit && fifo_) return true;
    if (hit) list.erase(found);
    else if (list.size() == ways_[set]) list.pop_back();
    list.insert(list.begin(), line);
    return hit;
  }

 private:
  std::vector<std::uint32_t> ways_;
  std::vector<std::vector<std::uint64_t>> sets_;
  bool fifo_;
};

CacheModel model(std::vector<std::uint32_t> ways, std::uint64_t line, IndexModel index = {}, Policy policy = Policy::Lru) {
  CacheModel m;
  m.line = m.sector = line;
  m.ways = std::move(ways);
  m.index = std::move(index);
  m.policy = policy;
  return m;
}

IndexModel named(IndexModel::Kind kind, std::uint64_t block = 0) {
  IndexModel i;
  i.kind = kind;
  i.block = block;
  return i;
}

IndexModel by_bits(IndexModel::Kind kind, std::vector<std::vector<int>> bits) {
  IndexModel i;
  i.kind = kind;
  i.bits = std::move(bits);
  return i;
}

/// Misses of one lap over lines that are in the cache after a lap.
int misses(Cache& cache, const std::vector<std::uint64_t>& addresses) {
  for (int lap = 0; lap < 3; ++lap) {
    for (const std::uint64_t a : addresses) cache.access(a);
  }
  return static_cast<int>(std::count_if(addresses.begin(), addresses.end(), [&](std::uint64_t a) { return !cache.access(a).hit; }));
}

std::vector<std::uint64_t> run(std::uint64_t from, std::uint64_t count, std::uint64_t line) {
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t i = 0; i < count; ++i) addresses.push_back(from + i * line);
  return addresses;
}

}  // namespace

TEST_CASE("LRU and FIFO agree with a plain list, equal and unequal sets, every index") {
  struct Case {
    CacheModel model;
    std::function<std::size_t(std::uint64_t)> set;
  };
  const std::vector<std::uint32_t> unequal = {5, 2, 3};
  const std::vector<std::size_t> dealt = {0, 1, 2, 0, 1, 2, 0, 2, 0, 0};
  const Case cases[] = {
      {model({6}, 64), [](std::uint64_t) { return 0u; }},
      {model({3, 3, 3, 3}, 32, by_bits(IndexModel::Kind::Bits, {{7}, {8}})), [](std::uint64_t a) { return a >> 7 & 3; }},
      {model({2, 2, 2, 2}, 64, by_bits(IndexModel::Kind::Xor, {{7, 11}, {8, 12}})), [](std::uint64_t a) { return (a >> 7 ^ a >> 11) & 3; }},
      {model({2, 2, 2}, 32, named(IndexModel::Kind::Modulo)), [](std::uint64_t a) { return a / 32 % 3; }},
      {model(unequal, 128, named(IndexModel::Kind::Dealt)), [&](std::uint64_t a) { return dealt[a / 128 % 10]; }},
      {model({24, 24}, 64, by_bits(IndexModel::Kind::Bits, {{8}})), [](std::uint64_t a) { return a >> 8 & 1; }},
      {model({25}, 64), [](std::uint64_t) { return 0u; }},  // the most that marks tell apart
      {model({26}, 64), [](std::uint64_t) { return 0u; }},
  };
  for (const Case& c : cases) {
    for (const Policy policy : {Policy::Lru, Policy::Fifo}) {
      CacheModel m = c.model;
      m.policy = policy;
      Cache cache(m, 1);
      Oracle oracle(m.ways, policy == Policy::Fifo);
      Random random(7);
      int wrong = 0, hits = 0;
      for (int i = 0; i < 20000; ++i) {
        const std::uint64_t address = random.below(40) * m.line + random.below(4) * 8 + (i % 3 == 0 ? 1ull << 40 : 0);
        const bool hit = cache.access(address).hit;
        wrong += hit != oracle.access(c.set(address), address / m.line);
        hits += hit;
      }
      CHECK(wrong == 0);
      CHECK(hits > 1000);
    }
  }
}

TEST_CASE("tree PLRU of four ways follows its three bits") {
  Cache cache(model({4}, 32, {}, Policy::Plru), 1);
  std::array<std::uint64_t, 4> ways{};
  std::array<bool, 4> valid{};
  bool root = false, left = false, right = false;  // false: the victim is on the left
  Random random(3);
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t line = random.below(7);
    std::size_t way = 4;
    for (std::size_t w = 0; w < 4; ++w) {
      if (valid[w] && ways[w] == line) way = w;
    }
    const bool hit = way < 4;
    if (!hit) {
      for (std::size_t w = 4; w-- > 0;) {
        if (!valid[w]) way = w;
      }
      if (way == 4) way = root ? 2 + right : 0 + left;
      ways[way] = line, valid[way] = true;
    }
    root = way < 2;
    if (way < 2) left = way == 0; else right = way == 2;
    REQUIRE(cache.access(line * 32).hit == hit);
  }
}

TEST_CASE("NRU never evicts the line used last") {
  Cache cache(model({4}, 32, {}, Policy::Nru), 1);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    cache.access(i % 9 * 32);
    CHECK(cache.access(i % 9 * 32).hit);
  }
}

TEST_CASE("QLRU: the ages of four ways, by hand") {
  CacheModel m = model({4}, 32, {}, Policy::Qlru);
  // What the accesses a b … of one set do: h where they hit.
  const auto hits = [&](const char* name, const std::string& walk) {
    m.qlru = *gexp::qlru_named(name);
    Cache cache(m, 1);
    std::string seen;
    for (const char line : walk) seen += cache.access(static_cast<std::uint64_t>(line) * 32).hit ? 'h' : '.';
    return seen;
  };
  // Filled, all have age 1, then 3. A hit makes a 1 (0 with h00), b is the first of age 3.
  CHECK(hits("qlru_h11_m1_r0_u0", "abcdaeb") == "....h..");
  CHECK(hits("qlru_h11_m1_r0_u0", "abcdaea") == "....h.h");
  CHECK(hits("qlru_h11_m1_r2_u0", "abcdaed") == "....h..");   // filled from the last way on: d is in the first
  CHECK(hits("qlru_h00_m3_r0_u0", "abcdefef") == "........");  // what comes in goes next
  CHECK(hits("qlru_h00_m0_r0_u1", "abcdeabcd") == "........h");  // NRU: of the full set only d is marked, and stays when e, a and b take the others' ways
  CHECK(hits("qlru_h00_m0_r0_u1", "abcdede") == ".....hh");
}

TEST_CASE("weighted replacement hits each way as often as its weight says") {
  CacheModel m = model({4}, 32, {}, Policy::Weighted);
  m.weights = {1 / 6.0, 0.5, 1 / 6.0, 1 / 6.0};
  Cache cache(m, 5);
  std::vector<std::uint64_t> in;
  for (std::uint64_t i = 0; i < 4; ++i) cache.access(i * 32), in.push_back(i);
  std::array<int, 4> replaced{};
  // Which of the four is gone is seen without disturbing: weighted replacement keeps no history.
  std::uint64_t next = 4;
  for (int i = 0; i < 6000; ++i) {
    Cache before = cache;
    cache.access(next * 32);
    for (std::size_t w = 0; w < 4; ++w) {
      Cache probe = cache;
      if (!probe.access(in[w] * 32).hit) ++replaced[w], in[w] = next;
    }
    ++next;
  }
  CHECK(replaced[1] == doctest::Approx(3000).epsilon(0.05));
  for (const std::size_t w : {0u, 2u, 3u}) CHECK(replaced[w] == doctest::Approx(1000).epsilon(0.12));
}

TEST_CASE("random replacement spreads over the ways, and repeats with its seed") {
  const CacheModel m = model({8}, 32, {}, Policy::Random);
  Cache a(m, 9), b(m, 9), c(m, 10);
  int same_b = 0, same_c = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const std::uint64_t address = i * 7 % 11 * 32;
    const bool hit = a.access(address).hit;
    same_b += hit == b.access(address).hit;
    same_c += hit == c.access(address).hit;
  }
  CHECK(same_b == 4000);
  CHECK(same_c < 4000);
}

TEST_CASE("a sector is fetched alone, its line is evicted whole") {
  CacheModel m = model({2}, 128);
  m.sector = 32;
  Cache cache(m, 1);
  CHECK(!cache.access(0).hit);
  CHECK(cache.access(28).hit);
  CHECK(!cache.access(32).hit);
  CHECK(cache.access(0).hit);
  CHECK(!cache.access(128).hit);
  CHECK(!cache.access(256).hit);  // evicts line 0
  CHECK(!cache.access(32).hit);
  CHECK(!cache.access(0).hit);
}

TEST_CASE("L2 TLB: 65 pages fit, the 66th costs 18 of the big set, then 9 a page") {
  constexpr std::uint64_t page = 2 << 20;
  for (const std::uint64_t base : {std::uint64_t{0}, 65 * page, 650 * page}) {
    Cache cache(model({17, 8, 8, 8, 8, 8, 8}, page, named(IndexModel::Kind::Dealt)), 1);
    CHECK(misses(cache, run(base, 65, page)) == 0);
    for (std::uint64_t extra = 1; extra <= 7; ++extra) {
      Cache fresh(model({17, 8, 8, 8, 8, 8, 8}, page, named(IndexModel::Kind::Dealt)), 1);
      CHECK(misses(fresh, run(base, 65 + extra, page)) == static_cast<int>(18 + 9 * (extra - 1)));
    }
  }
}

TEST_CASE("scattered blocks: an aligned run of the capacity fits, the mapping is no function of a few bits") {
  for (const std::uint32_t sets : {4u, 6u, 3072u}) {
    const std::uint32_t ways = 8;
    const CacheModel m = model(std::vector<std::uint32_t>(sets, ways), 32, named(IndexModel::Kind::Scattered, 128));
    Cache cache(m, 77);
    const std::uint64_t group = 128ull * sets;
    CHECK(misses(cache, run(group * 10, std::uint64_t{sets} * ways, 32)) == 0);
    const SetIndex index(m, 77);
    std::map<std::uint32_t, int> by_position;  // of block 0 of each group
    for (std::uint64_t g = 0; g < 64; ++g) {
      std::set<std::uint32_t> seen;
      for (std::uint64_t b = 0; b < sets; ++b) {
        const std::uint32_t set = index(g * group + b * 128);
        CHECK(set == index(g * group + b * 128 + 127));
        seen.insert(set);
      }
      CHECK(seen.size() == sets);
      ++by_position[index(g * group)];
    }
    CHECK(by_position.size() >= 4);
  }
}

TEST_CASE("Fermi L1: one line too many misses in one set only, and not always") {
  CacheModel m = model(std::vector<std::uint32_t>(32, 4), 128, by_bits(IndexModel::Kind::Bits, {{7}, {8}, {9}, {10}, {11}}), Policy::Weighted);
  m.weights = {1 / 6.0, 0.5, 1 / 6.0, 1 / 6.0};
  Cache cache(m, 1);
  const auto ring = run(0, 129, 128);
  std::set<std::uint64_t> missed;
  int count = 0, laps = 300;
  for (int lap = 0; lap < laps; ++lap) {
    for (const std::uint64_t a : ring) {
      if (!cache.access(a).hit && lap > 0) missed.insert(a / 128), ++count;
    }
  }
  CHECK(missed == std::set<std::uint64_t>{0, 32, 64, 96, 128});
  CHECK(count < laps * 5 * 7 / 10);  // under LRU it would be every access
}

TEST_CASE("GTX 780 read-only cache: one line too many makes its set of 97 miss under LRU") {
  Cache cache(model({96, 96, 96, 96}, 32, by_bits(IndexModel::Kind::Bits, {{7}, {8}})), 1);
  CHECK(misses(cache, run(0, 384, 32)) == 0);
  Cache over(model({96, 96, 96, 96}, 32, by_bits(IndexModel::Kind::Bits, {{7}, {8}})), 1);
  CHECK(misses(over, run(0, 385, 32)) == 97);
}
