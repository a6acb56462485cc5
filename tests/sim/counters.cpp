// SPDX-License-Identifier: Apache-2.0
// Counters by hand, and what holds of them on every model.
#include <algorithm>

#include "runtime/sim/model_reader.h"
#include "runtime/sim/observed.h"
#include "tests/sim/support.h"

using namespace sim_test;
using gexp::sim::LevelCount;
using Counts = gexp::sim::Counters;

namespace {

constexpr const char* kHead = ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; ld.param.u64 %rd1, [out];";

/// What one launch is counted by; its argument is an array of zeros.
Counts counted(Device& device, const std::string& body, const LaunchShape& shape = {}, const std::string& variables = {}) {
  const std::uint64_t bytes = 1 << 20, out = device.allocate(bytes);
  device.write(out, std::vector<std::uint64_t>(bytes / 8));
  gexp::sim::observe(device.backend(), 0);
  const Outcome outcome = device.launch(device.load(module_of(".param .u64 out", kHead + body, variables)), {{out, 8}}, shape);
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  return gexp::sim::counted(device.backend());
}

const LevelCount& level(const Counts& counts, const std::string& name) {
  const auto found =
      std::find_if(counts.levels.begin(), counts.levels.end(), [&](const auto& each) { return each.name == name; });
  REQUIRE_MESSAGE(found != counts.levels.end(), name);
  return *found;
}
std::uint64_t misses(const LevelCount& level) { return level.lookups - level.hits; }

std::uint64_t stalled(const Counts& counts, gexp::sim::Stall why) { return counts.stalled[static_cast<std::size_t>(why)]; }

/// Warps' time is filled, to the cycle, by issues and stalls.
void check_time(const Counts& counts) {
  std::uint64_t filled = counts.issue_cycles;
  for (const auto cycles : counts.stalled) filled += cycles;
  CHECK(filled == counts.warp_cycles);
}

/// A walk of one thread: each address is known when the load before is back.
std::string walk(const std::string& load, const std::vector<int>& offsets) {
  std::string text = " mov.u64 %rd2, %rd1;";
  for (const int offset : offsets)
    text += fmt::format(" {} %r1, [%rd2+{}]; cvt.u64.u32 %rd3, %r1; add.s64 %rd2, %rd1, %rd3;", load, offset);
  return text + " ret;";
}

}  // namespace

TEST_CASE("a chase of known hits and misses") {
  Device device("gtx780");  // read-only cache of 32 B lines before an L2 of 32 B lines
  const Counts counts = counted(device, walk("ld.global.nc.u32", {0, 32, 4, 64, 36, 0}));
  CHECK(counts.loads == 6);
  CHECK(counts.requests == 6);
  CHECK(counts.sectors == 6);
  CHECK(counts.merged == 0);
  const auto& readonly = level(counts, "readonly");
  CHECK(readonly.lookups == 6);
  CHECK(readonly.hits == 3);
  const auto& l2 = level(counts, "l2");
  CHECK(l2.lookups == 3);
  CHECK(l2.hits == 0);
  CHECK(level(counts, "l1").lookups == 0);
  // It is translated where the read-only cache misses: one page, which the first lookup of each TLB lacks.
  CHECK(level(counts, "l1_tlb").lookups == 3);
  CHECK(level(counts, "l1_tlb").hits == 2);
  CHECK(level(counts, "l2_tlb").lookups == 1);
  CHECK(level(counts, "l2_tlb").hits == 0);
  CHECK(counts.dram.read == 3 * 32);
  CHECK(counts.dram.written == 0);
  // The path of the L2 alone finds there what the other has brought.
  const Counts again = counted(device, walk("ld.global.cg.u32", {0, 0, 0}));
  CHECK(level(again, "readonly").lookups == 0);
  CHECK(level(again, "l2").lookups == 3);
  CHECK(level(again, "l2").hits == 2);
  CHECK(again.dram.read == 32);
}

TEST_CASE("loads of a line that is under way join its request") {
  Device device("gtx780");
  const Counts counts =
      counted(device, " ld.global.nc.u32 %r1, [%rd1]; ld.global.nc.u32 %r2, [%rd1+4]; ld.global.nc.u32 %r3, [%rd1+8]; ret;");
  CHECK(counts.sectors == 3);
  CHECK(counts.merged == 2);
  CHECK(level(counts, "readonly").lookups == 1);
}

TEST_CASE("lanes that part execute for themselves") {
  Device device("gtx780");
  const Counts counts = counted(
      device, " mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 8; @%p1 bra END; add.u32 %r2, %r1, 1; END: ret;", {.block = 32});
  CHECK(counts.issued == 6);  // the parameter is loaded first
  CHECK(counts.executed == 32 + 32 + 32 + 8 + 24 + 32);
  CHECK(counts.diverged == 1);
  check_time(counts);
}

TEST_CASE("instructions that wait for each other are stalled for the rest of a latency") {
  Device device("gtx780");  // results after 9 cycles, an issue a cycle; a parameter after 16
  const Counts counts = counted(device, " mov.u32 %r1, 5; add.u32 %r2, %r1, %r1; add.u32 %r3, %r2, %r2; ret;");
  CHECK(counts.issued == 5);
  CHECK(stalled(counts, gexp::sim::Stall::Arithmetic) == 8 + 8);
  CHECK(counts.warp_cycles == 5 + 8 + 8);
  CHECK(counts.cycles == 5 + 8 + 8);
}

TEST_CASE("warps at a barrier are stalled until it opens") {
  Device device("gtx780");  // a barrier takes 21 cycles
  const Counts counts = counted(device, " bar.sync 0; ret;", {.block = 64});
  CHECK(counts.warps == 2);
  CHECK(stalled(counts, gexp::sim::Stall::Barrier) == 2 * 20);
  CHECK(counts.warp_cycles == 2 * (3 + 20));
}

TEST_CASE("a copy that is waited for stalls for memory, a fence for what was stored") {
  Device device("h200");
  const Counts copy = counted(device, "mov.u64 %rd2, tile; cvta.to.shared.u64 %rd2, %rd2; cvt.u32.u64 %r1, %rd2;"
                                      " cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.wait_all; ret;", {}, ".shared .align 16 .b8 tile[64];");
  CHECK(stalled(copy, gexp::sim::Stall::Memory) > 400);
  CHECK(stalled(copy, gexp::sim::Stall::Arithmetic) < 100);
  CHECK(copy.loads == 1);
  CHECK(copy.requests == 1);
  CHECK(copy.shared == 0);  // the copy is no access of the warp to shared memory
  check_time(copy);
  const Counts eight = counted(device, "mov.u64 %rd2, tile; cvta.to.shared.u64 %rd2, %rd2; cvt.u32.u64 %r1, %rd2; mov.u32 %r2, 0;"
                                       " again: cp.async.ca.shared.global [%r1], [%rd1], 4; add.u64 %rd1, %rd1, 128; add.u32 %r2, %r2, 1;"
                                       " setp.lt.u32 %p1, %r2, 8; @%p1 bra again; cp.async.wait_all; ret;", {}, ".shared .align 16 .b8 tile[64];");
  CHECK(eight.loads == 8);
  CHECK(eight.warp_cycles < copy.warp_cycles + copy.warp_cycles / 2);  // all of one loop are under way at once
  const Counts fence = counted(device, "mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; fence.sc.gpu; ret;");
  CHECK(stalled(fence, gexp::sim::Stall::Requests) > 100);
  CHECK(stalled(fence, gexp::sim::Stall::Issue) < 20);
  check_time(fence);
}

TEST_CASE("a busy unit and a busy scheduler are told apart") {
  Device device("gtx780");  // 4 schedulers; a division keeps its unit 4.8 cycles
  const std::string adds = " mov.u32 %r1, %tid.x; mov.u32 %r2, 3; mov.u32 %r3, 3; mov.u32 %r4, 3; mov.u32 %r5, 3; ret;";
  const Counts alone = counted(device, adds, {.block = 32});
  CHECK(stalled(alone, gexp::sim::Stall::Issue) == 0);
  const Counts sharing = counted(device, adds, {.block = 32 * 8});
  CHECK(stalled(sharing, gexp::sim::Stall::Issue) > 0);
  const Counts dividing =
      counted(device, " mov.u32 %r1, %tid.x; div.u32 %r2, 7, 3; div.u32 %r3, 8, 3; div.u32 %r4, 9, 3; ret;", {.block = 32});
  CHECK(stalled(dividing, gexp::sim::Stall::Unit) >= 2 * 3);
  for (const auto& counts : {alone, sharing, dividing}) check_time(counts);
}

TEST_CASE("replays are told by their cause") {
  Device device("gtx980");  // 32 banks of 4 B
  for (const int ways : {1, 2, 4, 8, 16, 32}) {
    const auto body = fmt::format(
        " mov.u32 %r1, %tid.x; mov.u32 %r2, memory; mad.lo.u32 %r3, %r1, {}, %r2; st.shared.u32 [%r3], %r1; ret;", 4 * ways);
    const Counts counts =
        counted(device, body, LaunchShape{.block = 32, .shared_bytes = 8192}, ".extern .shared .align 16 .b8 memory[];");
    CHECK(counts.shared == 1);
    CHECK(counts.replays.bank == static_cast<std::uint64_t>(ways - 1));
    CHECK(counts.replays.coalescing == 0);
  }
  const auto apart = [&](int stride) {
    return fmt::format(" mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, {}; add.s64 %rd2, %rd1, %rd2;", stride);
  };
  CHECK(counted(device, apart(4) + " ld.global.u32 %r2, [%rd2]; ret;", {.block = 32}).replays.coalescing == 0);
  CHECK(counted(device, apart(8) + " ld.global.u32 %r2, [%rd2]; ret;", {.block = 32}).replays.coalescing == 1);
  CHECK(counted(device, apart(256) + " st.global.u32 [%rd2], %r1; ret;", {.block = 32}).replays.coalescing == 31);
  Device h200("h200");
  const std::string words =
      " mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 3; mul.wide.u32 %rd2, %r2, 4; mov.u64 %rd3, table; add.s64 %rd2, %rd2, %rd3; "
      "ld.const.u32 %r3, [%rd2]; ret;";
  const Counts constant = counted(h200, words, {.block = 32}, ".const .align 4 .b32 table[4] = {1, 2, 3, 4};");
  CHECK(constant.replays.constant == 3);
  CHECK(constant.replays.coalescing == 0);
  CHECK(level(constant, "c1").lookups + constant.merged == 4);
}

TEST_CASE("lanes that update one address take turns") {
  Device device(edited("gtx780", "[shared]\n", "[atomics]\nshared = 10\nglobal = 20\nassumed = \"a test\"\n\n[shared]\n"));
  const auto updates = [&](int lanes) {
    return counted(device,
                   fmt::format(" mov.u32 %r1, %tid.x; and.b32 %r2, %r1, {}; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd1, "
                               "%rd2; red.global.add.u32 [%rd2], 1; ret;",
                               lanes - 1),
                   {.block = 32});
  };
  CHECK(updates(32).replays.atomic == 0);
  CHECK(updates(8).replays.atomic == 3);
  CHECK(updates(1).replays.atomic == 31);
  CHECK(updates(1).atomics == 1);
}

TEST_CASE("launches add up until the device is observed anew") {
  Device device("gtx780");
  gexp::sim::observe(device.backend(), 0);
  const auto kernel = device.load(module_of(".param .u32 a", "ret;"));
  for (int k = 0; k < 3; ++k) REQUIRE(device.launch(kernel, {{1, 4}}).done());
  const auto& counts = gexp::sim::counted(device.backend());
  CHECK(counts.launches == 3);
  CHECK(counts.issued == 3);
  const auto another = device.backend().another(1);
  CHECK(gexp::sim::counted(*another).launches == 0);
  gexp::sim::observe(device.backend(), 0);
  CHECK(gexp::sim::counted(device.backend()).launches == 0);
}

namespace {

struct Load {
  gexp::sim::LoadPath path;
  const char* text;
};

/// What holds of a launch whose loads all took one path: what a level lacks arrives at the next.
void check_levels(const gexp::sim::DeviceModel& model, gexp::sim::LoadPath which, const Counts& counts) {
  const auto& path = model.paths[static_cast<std::size_t>(which)];
  const auto count_of = [&](int cache) -> const LevelCount& {
    const auto& m = model.caches[static_cast<std::size_t>(cache)];
    return level(counts, m.storage_of < 0 ? m.name : model.caches[static_cast<std::size_t>(m.storage_of)].name);
  };
  const auto loads_of = [&](int cache) { return count_of(cache).lookups - count_of(cache).stores; };
  CHECK(loads_of(path.caches.front()) + counts.merged == counts.sectors);
  for (std::size_t k = 0; k + 1 < path.caches.size(); ++k) {
    const auto above = count_of(path.caches[k]).sector *
                       (loads_of(path.caches[k]) - (count_of(path.caches[k]).hits - count_of(path.caches[k]).store_hits));
    CHECK_MESSAGE(count_of(path.caches[k + 1]).sector * loads_of(path.caches[k + 1]) == above, model.name);
  }
  for (std::size_t k = 0; k + 1 < path.tlbs.size(); ++k) {
    CHECK(level(counts, model.tlbs[static_cast<std::size_t>(path.tlbs[k + 1])].name).lookups ==
          misses(level(counts, model.tlbs[static_cast<std::size_t>(path.tlbs[k])].name)));
  }
  const LevelCount& last = count_of(path.caches.back());
  const auto& fetches = model.paths[static_cast<std::size_t>(gexp::sim::LoadPath::Instruction)];
  const auto fetched = fetches.present ? count_of(fetches.caches.back()).sector * misses(count_of(fetches.caches.back())) : 0;
  CHECK_MESSAGE(counts.dram.read == fetched + last.sector * (misses(last) - (last.stores - last.store_hits)), model.name);
}

}  // namespace

TEST_CASE("what a level lacks arrives at the next, on every model and path") {
  using gexp::sim::LoadPath;
  std::uint64_t merged = 0;
  for (const auto& name : gexp::sim::names()) {
    gexp::Diagnostics diagnostics;
    const auto model = gexp::sim::read_device_model(*gexp::sim::read_model(name), diagnostics);
    REQUIRE(model);
    for (const auto& [path, text] : {Load{LoadPath::Default, "ld.global.u32"},
                                     {LoadPath::Ca, "ld.global.ca.u32"},
                                     {LoadPath::Cg, "ld.global.cg.u32"},
                                     {LoadPath::Nc, "ld.global.nc.u32"}}) {
      if (!model->paths[static_cast<std::size_t>(path)].present || model->paths[static_cast<std::size_t>(path)].caches.empty())
        continue;
      Device device(name);
      // Lanes 12 B apart, then rows of 8 KiB; each row twice, and a store in between.
      const auto body = fmt::format(
          " mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mul.lo.u32 %r3, %r1, 12; mad.lo.u32 %r3, %r2, 4096, %r3; mov.u32 %r4, "
          "0;"
          " L: mad.lo.u32 %r5, %r4, 8192, %r3; and.b32 %r5, %r5, 524284; cvt.u64.u32 %rd2, %r5; add.s64 %rd2, %rd1, %rd2;"
          " {0} %r6, [%rd2]; {0} %r7, [%rd2+4]; add.u32 %r8, %r6, %r7; st.global.u32 [%rd2+524288], %r8; {0} %r9, [%rd2]; "
          "add.u32 %r8, %r8, %r9;"
          " add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 12; @%p1 bra L; ret;",
          text);
      const Counts counts = counted(device, body, {.grid = 5, .block = 96});
      INFO(name, " ", text);
      merged += counts.merged;
      check_levels(*model, path, counts);
      check_time(counts);
      CHECK(counts.issued == counts.warps * (6 + 12 * 13 + 1));
      CHECK(counts.executed == (counts.issued - counts.warps) * 32);  // of the last branch no lane's guard holds
      CHECK(counts.loads == counts.warps * 36);
      CHECK(counts.requests == counts.replays.coalescing + counts.loads + counts.stores);
    }
  }
  CHECK(merged > 0);
}
