// SPDX-License-Identifier: Apache-2.0
// What no device of the papers has: policies, set functions, levels and tables that a model file can ask for.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/sim/cache.h"
#include "tests/sim/model_support.h"
#include "tests/sim/support.h"

using namespace gexp::sim;
using namespace sim_test;

namespace {

CacheModel one_set(std::uint32_t ways, Policy policy) {
  CacheModel model;
  model.line = model.sector = 64;
  model.ways = {ways};
  model.policy = policy;
  return model;
}

/// The letters of the lines that hit, '.' for misses.
std::string hits(Cache& cache, const std::string& lines) {
  std::string seen;
  for (const char line : lines) seen += cache.access(static_cast<std::uint64_t>(line) * 64).hit ? line : '.';
  return seen;
}

std::string hits(const CacheModel& model, const std::string& lines) {
  Cache cache(model, 1);
  return hits(cache, lines);
}

/// The most lines, each so far from the one before, of which none misses in a second lap.
std::size_t fitting(const CacheModel& model, std::uint64_t stride) {
  Cache cache(model, 1);
  for (std::size_t lines = 1;; ++lines) {
    cache.clear();
    for (int lap = 0; lap < 2; ++lap) {
      bool all = true;
      for (std::size_t i = 0; i < lines; ++i) all = cache.access(i * stride).hit && all;
      if (lap == 1 && !all) return lines - 1;
    }
  }
}

}  // namespace

TEST_CASE("under LIP what comes in goes next, unless it is hit") {
  CHECK(hits(one_set(3, Policy::Bip), "abcdabcabd") == "....ab.ab.");  // d takes c's way, c takes d's
  CHECK(hits(one_set(3, Policy::Bip), "abcddeabcd") == "....d.a..d");  // d was hit, so e takes b's way, and b and c take that one
}

TEST_CASE("under BIP what comes in sometimes stays as under LRU") {
  auto model = one_set(4, Policy::Bip);
  std::string lap = "abcde", laps;
  for (int i = 0; i < 200; ++i) laps += lap;
  const auto missed = [&](double promoted) {
    model.promoted = promoted;
    const auto seen = hits(model, laps);
    return std::count(seen.begin(), seen.end(), '.');
  };
  CHECK(missed(1) == 1000);  // LRU: every access of a lap over one line too many
  CHECK(missed(0) < 500);
  CHECK(missed(1.0 / 32) > missed(0));
  CHECK(missed(1.0 / 32) < missed(0.5));
}

TEST_CASE("RRIP of four ages is a QLRU, and of eight ages it is not") {
  auto rrip = one_set(8, Policy::Rrip), qlru = one_set(8, Policy::Qlru);
  rrip.insert = 2;
  qlru.qlru = *gexp::qlru_named("qlru_h00_m2_r0_u0_umo");
  std::string walk;
  for (unsigned i = 1; i < 4000; ++i) walk += static_cast<char>('a' + mix(i) % (i % 3 == 0 ? 11 : 9));
  CHECK(hits(rrip, walk) == hits(qlru, walk));
  rrip.ages = 8, rrip.insert = 6;
  CHECK(hits(rrip, walk) != hits(qlru, walk));
  rrip.ages = 2, rrip.insert = 0;
  CHECK(hits(rrip, "abcdefghia") == "..........");  // all are of one age: the first way goes
}

TEST_CASE("not recently filled: marks come with lines, and hits set none") {
  CHECK(hits(one_set(3, Policy::Nrf), "abcabcdbcabcd") == "...abc.bc..c.");
  auto nru = one_set(3, Policy::Nru);
  CHECK(hits(nru, "abcabcdbcabcd") != hits(one_set(3, Policy::Nrf), "abcabcdbcabcd"));
}

namespace {

/// One set with four groups: d h l, e i m, f j, g k. The two lowest bits of a line's number are its group's.
CacheModel four_groups(std::uint32_t ways) {
  auto model = one_set(ways, Policy::Turns);
  model.groups = {{6}, {7}};
  return model;
}

}  // namespace

TEST_CASE("groups lose their least recently used line in turn") {
  CHECK(hits(four_groups(8), "defghijklde") == "...........");  // l evicts d, d evicts e
  CHECK(hits(four_groups(8), "defghijkldfghijkl") == "..........fghijkl");
  CHECK(hits(four_groups(8), "defghijdkldefgh") == ".......d..defg.");  // h was used less recently than d
  CHECK(hits(four_groups(4), "dfhjldfldhj") == ".......ld..");  // a group without a line is passed over
}

TEST_CASE("whose turn it is outlives a launch") {
  const auto model = four_groups(8);
  Cache cache(model, 1);
  CHECK(hits(cache, "defghijkld") == "..........");  // l evicts d, d evicts e
  cache.clear();
  CHECK(hits(cache, "defghijkldef") == ".........de.");  // l evicts f
}

TEST_CASE("a late eviction comes after the next access, and several do where a second miss comes meanwhile") {
  auto late = four_groups(8);
  late.late = true;
  CHECK(hits(late, "defghijkldddh") == ".........ddd.");  // d was to leave for l, but is used: then h leaves
  // m misses while d is due: d leaves, and after f, which is used, e, j, g and h. So there is room for h and j.
  CHECK(hits(late, "defghijklmfhijklmgde") == "..........f.i.klm...");
  // A set of two ways loses no more than it holds.
  CHECK(hits([&] { auto two = late; two.ways = {2}; return two; }(), "defghdefgh").size() == 10);
}

TEST_CASE("a residue of blocks keeps neighbours in one set") {
  auto model = one_set(4, Policy::Lru);
  model.ways.assign(3, 4);
  model.index.kind = IndexModel::Kind::Modulo;
  model.index.block = 256;  // 4 lines
  CHECK(fitting(model, 64) == 12);
  Cache cache(model, 1);
  for (std::uint64_t line = 0; line < 4; ++line) cache.access(line * 64);
  for (std::uint64_t line = 4; line < 12; ++line) cache.access(line * 64);
  for (std::uint64_t line = 0; line < 12; ++line) CHECK(cache.access(line * 64).hit);
  cache.access(12 * 64);  // of the first block's set
  CHECK(!cache.access(0).hit);
  CHECK(cache.access(5 * 64).hit);
}

TEST_CASE("hashed sets fill unevenly, scattered ones do not") {
  auto model = one_set(8, Policy::Lru);
  model.ways.assign(16, 8);
  model.index.kind = IndexModel::Kind::Scattered;
  model.index.block = 64;
  CHECK(fitting(model, 64) == 128);
  model.index.kind = IndexModel::Kind::Hashed;
  CHECK(fitting(model, 64) < 120);
  CHECK(fitting(model, 64) > 32);
}

TEST_CASE("a line that is taken out leaves its way to the next one") {
  for (const Policy policy : {Policy::Lru, Policy::Fifo, Policy::Random}) {
    Cache cache(one_set(4, policy), 1);
    hits(cache, "abcd");
    CHECK(cache.take('b' * 64));
    CHECK(!cache.take('b' * 64));
    CHECK(hits(cache, "eacd") == ".acd");
    CHECK(cache.take('e' * 64));
    CHECK(cache.take('a' * 64));
    CHECK(hits(cache, "cdfgcdfg") == "cd..cdfg");
  }
  Cache lru(one_set(3, Policy::Lru), 1);
  hits(lru, "abc");
  lru.take('a' * 64);
  CHECK(hits(lru, "dbe") == ".b.");  // c was the oldest
  CHECK(hits(lru, "dbec") == "dbe.");
}

namespace {

/// What a lap over so many lines of 32 B of the GTX 780's read-only cache (12 KiB) takes, each line, where it is followed by a cache of its victims.
std::map<std::int64_t, int> lap_with_victims(int victims, int lines) {
  auto text = edited("gtx780", "[caches.l2]", fmt::format("[caches.v]\ncapacity = {}\nline = 32\nsets = 1\nways = {}\nreplacement = \"lru\"\nholds = \"victims\"\nscope = \"sm\"\nassumed = \"a test\"\n\n[caches.l2]",
                                                         32 * victims, victims)).text();
  const auto replace = [&](const std::string& from, const std::string& to) {
    const auto at = text.find(from, text.find("[paths.nc]"));
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  };
  replace("caches = [\"readonly\", \"l2\"]", "caches = [\"readonly\", \"v\", \"l2\"]");
  replace("virtual = [\"readonly\"]", "virtual = [\"readonly\", \"v\"]");
  replace("latency.readonly = 110", "latency.readonly = 110\nlatency.v = 130");
  Device device(gexp::Source("victims.toml", text));
  Walker walker(device, 1 << 20, "ld.global.nc.u64");
  std::map<std::int64_t, int> counts;
  for (const auto latency : walker.latencies(ring(32 * lines, 32), 4 * static_cast<std::uint32_t>(lines), static_cast<std::uint32_t>(lines), 17)) ++counts[latency];
  return counts;
}

}  // namespace

TEST_CASE("a cache of victims has what the one before it evicts, and gives it back") {
  CHECK(lap_with_victims(8, 384) == std::map<std::int64_t, int>{{110, 384}});
  // Eight lines too many are two blocks of 128 B, so four too many in each of two sets, all of whose lines go round.
  const auto some = lap_with_victims(16, 392);
  CHECK(some.at(110) + some.at(130) == 392);
  CHECK(some.at(130) > 0);
  // An exclusive level: both hold as many lines together as they have.
  const auto exclusive = lap_with_victims(384, 760);
  CHECK(exclusive.at(130) > 700);
  CHECK(exclusive.size() <= 2);
  const auto beyond = lap_with_victims(384, 800);
  CHECK(beyond.rbegin()->first > 130);
}

TEST_CASE("frames dealt by chance: what is contiguous overflows sets of a physically indexed cache before it is full") {
  // The L2 of 512 KiB has ways of 32 KiB: eight frames of 4 KiB, of which chance puts some on top of each other.
  const auto misses = [](const gexp::Source& model, std::int64_t bytes) {
    Device device(model);
    Walker walker(device, 1 << 22, "ld.global.cg.u64");
    const auto lines = static_cast<std::uint32_t>(bytes / 128);
    const auto lap = walker.latencies(ring(bytes, 128), 4 * lines, lines, 15);
    return std::count_if(lap.begin(), lap.end(), [](auto latency) { return latency > 500; });
  };
  const auto plain = edited("gtx560ti", "index = \"scattered\"\nblock = 32\nreplacement = \"random\"", "index = \"modulo\"\nblock = 32\nreplacement = \"lru\"");
  const auto text = plain.text();
  const auto at = text.find("default_path");
  const gexp::Source placed("frames.toml", text.substr(0, at) + "frames = \"4 KiB\"\n" + text.substr(at));
  CHECK(misses(plain, 496 << 10) == 0);
  CHECK(misses(placed, 496 << 10) > 100);
  CHECK(misses(placed, 64 << 10) == 0);
}

TEST_CASE("frames dealt by chance: a function of the address is one within a frame, if all of it lies there") {
  const auto word = [](const std::string& index, const char* frames, const char* where) {
    const auto text = edited("gtx560ti", "index = \"scattered\"\nblock = 32\nreplacement = \"random\"", index + "\nreplacement = \"lru\"").text();
    const auto at = text.find("default_path");
    const auto structure = *gexp::sim::structure(gexp::Source("frames.toml", text.substr(0, at) + frames + text.substr(at)));
    const auto field = [](const gexp::Value& value, const char* name) { return value.get<gexp::Fields>()->at(name); };
    const auto cache = field(structure, "cg");
    return *field(*where != 0 ? field(cache, where) : cache, "mapping").get<std::string>();
  };
  // Of the L2 one way is 32 KiB.
  const std::string modulo = "index = \"modulo\"\nblock = 32";
  CHECK(word(modulo, "", "") == "bits");
  CHECK(word(modulo, "", "in_frame") == "bits");
  CHECK(word(modulo, "frames = \"64 KiB\"\n", "in_frame") == "bits");
  CHECK(word(modulo, "frames = \"4 KiB\"\n", "") == "not bit-defined");
  CHECK(word(modulo, "frames = \"4 KiB\"\n", "in_frame") == "not bit-defined");
  // What is scattered has none, in a frame or beyond.
  CHECK(word("index = \"scattered\"\nblock = 32", "frames = \"64 KiB\"\n", "in_frame") == "not bit-defined");
}

TEST_CASE("of two TLBs whose hits take as long, what the larger one behind reaches is all that shows") {
  const auto reach = [](const char* l2, const char* memory, const char* tlb) {
    const auto text = edited("gtx560ti", "latency.l2 = { l1_tlb = 351, l2_tlb = 378, walk = 462 }", l2).text();
    const std::string from = "latency.memory = { l1_tlb = 619, l2_tlb = 646, walk = 1225 }";
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    const auto structure = *gexp::sim::structure(gexp::Source("tlbs.toml", text.substr(0, at) + memory + text.substr(at + from.size())));
    const auto& fields = *structure.get<gexp::Fields>();
    return fields.contains(tlb) ? fields.at(tlb).get<gexp::Fields>()->at("reach").get<gexp::Number>()->number : 0;
  };
  const auto usual = "latency.l2 = { l1_tlb = 351, l2_tlb = 378, walk = 462 }", memory = "latency.memory = { l1_tlb = 619, l2_tlb = 646, walk = 1225 }";
  const double first = reach(usual, memory, "tlb1"), second = reach(usual, memory, "tlb2");
  REQUIRE(first < second);
  const auto one_cost = "latency.l2 = { l1_tlb = 351, l2_tlb = 351, walk = 462 }", one_cost_of_memory = "latency.memory = { l1_tlb = 619, l2_tlb = 619, walk = 1225 }";
  CHECK(reach(one_cost, one_cost_of_memory, "tlb1") == second);
  CHECK(reach(one_cost, one_cost_of_memory, "tlb2") == 0);
  CHECK(reach(one_cost, memory, "tlb1") == first);  // where memory answers, they differ
  CHECK(reach("latency.l2 = { l1_tlb = 351, l2_tlb = 340, walk = 462 }", memory, "tlb1") == first);  // a cheaper one is another one, too
}

TEST_CASE("neighbouring lines can share an entry of the table of outstanding requests") {
  // Four loads of one thread, of lines `apart` bytes from each other, one after the other without waiting.
  const auto cycles = [](const char* entries, int apart) {
    Device device(edited("gtx560ti", "entries = 128\nmerges = 8", entries));
    const auto array = device.allocate(1 << 16);
    const auto out = device.allocate(8);
    const auto kernel = device.load(module_of(".param .u64 base, .param .u64 out", fmt::format(R"(
      .reg .b32 %r<9>; .reg .b64 %rd<9>;
      ld.param.u64 %rd1, [base]; ld.param.u64 %rd2, [out];
      mov.u32 %r1, %clock;
      ld.global.cg.u32 %r3, [%rd1]; ld.global.cg.u32 %r4, [%rd1+{}]; ld.global.cg.u32 %r5, [%rd1+{}]; ld.global.cg.u32 %r6, [%rd1+{}];
      add.u32 %r3, %r3, %r4; add.u32 %r5, %r5, %r6; add.u32 %r3, %r3, %r5;
      mov.u32 %r2, %clock;
      sub.u32 %r2, %r2, %r1;
      add.u32 %r2, %r2, %r3;
      st.global.u32 [%rd2], %r2;
      ret;)", apart, 2 * apart, 3 * apart)));
    REQUIRE(device.launch(kernel, {{array, 8}, {out, 8}}).done());
    return static_cast<int>(device.read<std::uint32_t>(out, 1)[0]);
  };
  const int together = cycles("entries = 128\nmerges = 8", 128), in_turn = cycles("entries = 1\nmerges = 8", 128);
  CHECK(in_turn > together + 500);
  CHECK(cycles("entries = 1\nmerges = 8\nlines = 4", 128) == together);
  CHECK(cycles("entries = 1\nmerges = 8\nlines = 4", 512) == cycles("entries = 1\nmerges = 8", 512));
  CHECK(cycles("entries = 2\nmerges = 8\nlines = 2", 128) == together);
}

TEST_CASE("an entry may note fewer threads than ask for its line, and a load unit takes its time for each of them") {
  // A load of one warp, so many of whose neighbouring threads want one line.
  const auto cycles = [](const char* entries, const char* unit, int together) {
    std::string text = edited("gtx560ti", "entries = 128\nmerges = 8", entries).text();
    text.replace(text.find("load_units = 3"), 14, unit);
    Device device(gexp::Source("noted.toml", text));
    const auto array = device.allocate(1 << 16);
    const auto out = device.allocate(4 * 32);
    const auto kernel = device.load(module_of(".param .u64 base, .param .u64 out", fmt::format(R"(
      .reg .b32 %r<9>; .reg .b64 %rd<9>;
      ld.param.u64 %rd1, [base]; ld.param.u64 %rd2, [out];
      mov.u32 %r4, %tid.x; div.u32 %r5, %r4, {};
      mul.wide.u32 %rd3, %r5, 128; add.u64 %rd1, %rd1, %rd3;
      mul.wide.u32 %rd4, %r4, 4; add.u64 %rd2, %rd2, %rd4;
      mov.u32 %r1, %clock;
      ld.global.cg.u32 %r3, [%rd1];
      add.u32 %r3, %r3, 0;
      mov.u32 %r2, %clock;
      sub.u32 %r2, %r2, %r1;
      add.u32 %r2, %r2, %r3;
      st.global.u32 [%rd2], %r2;
      ret;)", together)));
    REQUIRE(device.launch(kernel, {{array, 8}, {out, 8}}, {.block = 32}).done());
    return static_cast<int>(device.read<std::uint32_t>(out, 1)[0]);
  };
  const char* const plain = "load_units = 3";
  const int at_once = cycles("entries = 128\nmerges = 8", plain, 16), in_turn = cycles("entries = 1\nmerges = 8", plain, 16);
  CHECK(in_turn > at_once + 100);
  CHECK(cycles("entries = 2\nmerges = 8\nthreads = 16", plain, 16) == at_once);
  CHECK(cycles("entries = 2\nmerges = 8\nthreads = 8", plain, 16) == in_turn);
  CHECK(cycles("entries = 4\nmerges = 8\nthreads = 8", plain, 16) == at_once);
  CHECK(cycles("entries = 1\nmerges = 8\nthreads = 8", plain, 32) == cycles("entries = 1\nmerges = 8", plain, 32));  // what needs more than there are takes all
  CHECK(cycles("entries = 128\nmerges = 8", "load_units = 3\nthread = 1.5", 1) == cycles("entries = 128\nmerges = 8", plain, 1));
  const int slow = cycles("entries = 128\nmerges = 8", "load_units = 3\nthread = 60", 1);
  CHECK(cycles("entries = 128\nmerges = 8", "load_units = 3\nthread = 62", 1) == slow + 62);  // the last of 32 lines leaves 31 times 2 later
}

TEST_CASE("parts that do not fit together are refused") {
  const std::string victims = "[caches.v]\ncapacity = 512\nline = 32\nsets = 1\nways = 16\nreplacement = \"lru\"\nholds = \"victims\"\nscope = \"sm\"\nassumed = \"a test\"\n\n[caches.l2]";
  const auto with = [&](const std::string& from, const std::string& to) {
    auto text = victims;
    return first("gtx780", "[caches.l2]", text.replace(text.find(from), from.size(), to));
  };
  CHECK(with("lru", "lru") == "accepted");
  CHECK(with("lru", "nru").substr(0, 5) == "E0606");
  CHECK(with("\"sm\"", "\"device\"").substr(0, 5) == "E0606");
  CHECK(first("gtx780", "default_path", "frames = 1000\ndefault_path").substr(0, 5) == "E0606");
  CHECK(first("gtx780", "default_path", "frames = \"64 KiB\"\ndefault_path") == "accepted");
  CHECK(first("gtx560ti", "merges = ", "lines = 3\nmerges = ").substr(0, 5) == "E0606");
  CHECK(first("gtx560ti", "merges = ", "lines = 4\nmerges = ") == "accepted");
  CHECK(first("gtx560ti", "merges = ", "lines = 4\nthreads = 8\nmerges = ").substr(0, 5) == "E0606");
  CHECK(first("gtx560ti", "merges = ", "threads = 8\nmerges = ") == "accepted");
  CHECK(first("gtx280", "[caches.ci_l2]\n", "[caches.ci_l2]\ninterval = 4\n").substr(0, 5) == "E0606");
  CHECK(first("gtx780", "replacement = \"lru\"", "replacement = \"bip\"").substr(0, 5) == "E0603");
  CHECK(first("gtx780", "replacement = \"lru\"", "replacement = \"bip\"\npromoted = \"1/32\"") == "accepted");
  CHECK(first("gtx780", "replacement = \"lru\"", "replacement = \"rrip\"\nages = 8\ninsert = 8").substr(0, 5) == "E0605");
  CHECK(first("gtx780", "replacement = \"lru\"", "replacement = \"lip\"") == "accepted");
  CHECK(first("gtx780", "replacement = \"lru\"", "replacement = \"turns\"").substr(0, 5) == "E0603");
  CHECK(first("gtx780", "replacement = \"lru\"", "replacement = \"turns\"\ngroups = [[9], [10, 12]]\nevicts = \"late\"") == "accepted");
  CHECK(first("gtx780", "replacement = \"lru\"", "replacement = \"turns\"\ngroups = [[9], [10], [11], [12], [13], [14], [15]]").substr(0, 5) == "E0606");
  CHECK(first("gtx780", "replacement = \"lru\"", "replacement = \"nrf\"") == "accepted");
}
