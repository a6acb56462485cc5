// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "runtime/sim/observed.h"
#include "tests/sim/support.h"

using namespace sim_test;
using gexp::device::Extent;
using gexp::sim::Observed;
using gexp::sim::Stall;
using Kind = gexp::sim::TimelineSpan::Kind;

namespace {

constexpr const char* kAddress = R"(
    .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<8>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;)";

/// What one launch does.
Observed watched(Device& device, const std::string& body, LaunchShape shape, std::size_t spans = 0, const std::string& variables = {}) {
  gexp::sim::observe(device.backend(), spans);
  const std::uint64_t out = device.allocate(1 << 20);
  const Outcome outcome = device.launch(device.load(module_of(".param .u64 out", body, variables)), {{out, 8}}, shape);
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  return gexp::sim::observed(device.backend()).back();
}

std::uint64_t stalled(const Observed& observed, Stall why) { return observed.counters.stalled[static_cast<std::size_t>(why)]; }

std::string load_of_stride(int bytes) {
  return fmt::format("{} mul.wide.u32 %rd2, %r1, {}; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3]; add.u32 %r3, %r2, 1; st.global.u32 [%rd3], %r3; ret;", kAddress, bytes);
}

}  // namespace

TEST_CASE("a launch has as many threads along y and z as it was given") {
  Device device("gtx980");
  const std::string body = R"(
    .reg .b32 %r<20>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;
    mov.u32 %r7, %ntid.x; mov.u32 %r8, %ntid.y; mov.u32 %r9, %nctaid.x; mov.u32 %r10, %nctaid.y; mov.u32 %r17, %ntid.z;
    mad.lo.u32 %r11, %r3, %r8, %r2; mad.lo.u32 %r11, %r11, %r7, %r1;
    mad.lo.u32 %r12, %r6, %r10, %r5; mad.lo.u32 %r12, %r12, %r9, %r4;
    mul.lo.u32 %r13, %r7, %r8; mul.lo.u32 %r13, %r13, %r17; mad.lo.u32 %r13, %r12, %r13, %r11;
    mul.wide.u32 %rd2, %r13, 8; add.s64 %rd3, %rd1, %rd2;
    mad.lo.u32 %r14, %r6, 10, %r5; mad.lo.u32 %r14, %r14, 10, %r4; mad.lo.u32 %r14, %r14, 10, %r3; mad.lo.u32 %r14, %r14, 10, %r2; mad.lo.u32 %r14, %r14, 10, %r1;
    cvt.u64.u32 %rd4, %r14;
    st.global.u64 [%rd3], %rd4;
    ret;)";
  const auto values = device.run(body, 2 * 3 * 2 * 4 * 3 * 2, LaunchShape{.grid = Extent(2, 3, 2), .block = Extent(4, 3, 2)});
  std::size_t at = 0;
  for (int cz = 0; cz < 2; ++cz) for (int cy = 0; cy < 3; ++cy) for (int cx = 0; cx < 2; ++cx)
    for (int z = 0; z < 2; ++z) for (int y = 0; y < 3; ++y) for (int x = 0; x < 4; ++x)
      CHECK(values[at++] == static_cast<std::uint64_t>(((((cz * 10 + cy) * 10 + cx) * 10 + z) * 10 + y) * 10 + x));
  const auto kernel = device.load(module_of(".param .u32 a", "ret;"));
  CHECK(device.launch(kernel, {{1, 4}}, LaunchShape{.block = Extent(8, 8, 16)}).done());
  CHECK(!device.launch(kernel, {{1, 4}}, LaunchShape{.block = Extent(1, 1, 65)}).done());
  CHECK(!device.launch(kernel, {{1, 4}}, LaunchShape{.block = Extent(32, 33)}).done());
  CHECK(!device.launch(kernel, {{1, 4}}, LaunchShape{.grid = Extent(1, 0)}).done());
}

TEST_CASE("what is executed and requested is counted") {
  Device device("gtx980");
  const Observed dense = watched(device, load_of_stride(4), {.grid = 2, .block = 64});
  CHECK(dense.counters.blocks == 2);
  CHECK(dense.counters.warps == 4);
  CHECK(dense.counters.issued == 4 * 8);
  CHECK(dense.counters.executed == 4 * 8 * 32);
  CHECK(dense.counters.loads == 4);
  CHECK(dense.counters.stores == 4);
  CHECK(dense.counters.requests == 8);
  const Observed sparse = watched(device, load_of_stride(128), {.grid = 2, .block = 64});
  CHECK(sparse.counters.requests == 8 * 32);
  CHECK(sparse.counters.executed == dense.counters.executed);
  CHECK(sparse.counters.cycles > dense.counters.cycles);
}

TEST_CASE("lookups and hits of each level add up") {
  Device device("gtx980");
  const Observed first = watched(device, load_of_stride(4), {.block = 32});
  const Observed again = watched(device, load_of_stride(4), {.block = 32});  // other addresses: cold, too
  for (const Observed* o : {&first, &again}) {
    REQUIRE(!o->counters.levels.empty());
    for (const auto& level : o->counters.levels) {
      CHECK_MESSAGE(level.hits <= level.lookups, level.name);
    }
    CHECK(o->counters.dram.read >= 128);
  }
}

TEST_CASE("lanes that part, and replays of bank conflicts, are counted") {
  Device device("gtx980");
  const std::string parts = fmt::format("{} and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN; add.u32 %r3, %r1, 1; EVEN: ret;", kAddress);
  CHECK(watched(device, parts, {.block = 64}).counters.diverged == 2);
  const auto conflict = [&](int stride) {
    const std::string body = fmt::format("{} mov.u32 %r4, memory; mul.lo.u32 %r5, %r1, {}; add.u32 %r6, %r4, %r5; st.shared.u32 [%r6], %r1; ret;", kAddress, stride);
    return watched(device, body, LaunchShape{.block = 32, .shared_bytes = 8192}, 0, ".extern .shared .align 16 .b8 memory[];").counters;
  };
  CHECK(conflict(4).shared == 1);
  CHECK(conflict(4).replays.bank == 0);
  CHECK(conflict(8).replays.bank == 1);
  CHECK(conflict(128).replays.bank == 31);
}

TEST_CASE("a wait is put to what it was for") {
  Device device("gtx980");
  const Observed memory = watched(device, load_of_stride(4), {.block = 32});
  CHECK(stalled(memory, Stall::Memory) > 100);
  CHECK(stalled(memory, Stall::Memory) > stalled(memory, Stall::Arithmetic));
  std::string chain = kAddress;
  for (int k = 0; k < 100; ++k) chain += " add.u32 %r1, %r1, %r1;";
  const Observed arithmetic = watched(device, chain + " ret;", {.block = 32});
  CHECK(stalled(arithmetic, Stall::Arithmetic) > 100);
  CHECK(stalled(arithmetic, Stall::Memory) < stalled(arithmetic, Stall::Arithmetic));
  // One warp comes late to the barrier; the other waits for it.
  std::string late = fmt::format("{} setp.lt.u32 %p1, %r1, 32; @%p1 bra MEET;", kAddress);
  for (int k = 0; k < 100; ++k) late += " add.u32 %r1, %r1, %r1;";
  const Observed barrier = watched(device, late + " MEET: bar.sync 0; mov.u32 %r9, 1; ret;", {.block = 64});
  CHECK(stalled(barrier, Stall::Barrier) > 300);
  const Observed many = watched(device, chain + " ret;", {.block = 1024});
  CHECK(stalled(many, Stall::Issue) > 1000);
}

TEST_CASE("waits and issues fill a warp's time, and a timeline has no two at once") {
  Device device("gtx780");
  const Observed o = watched(device, load_of_stride(128), {.grid = 3, .block = 96}, 100000);
  const auto& c = o.counters;
  const auto all_stalled = std::accumulate(c.stalled.begin(), c.stalled.end(), std::uint64_t{0});
  CHECK(c.warp_cycles == all_stalled + c.issue_cycles);
  std::uint64_t waits = 0;
  auto spans = o.timeline;
  std::erase_if(spans, [](const auto& span) { return span.kind == Kind::Loads; });  // these overlap
  std::stable_sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.warp != b.warp ? a.warp < b.warp : a.begin < b.begin; });
  for (std::size_t k = 0; k < spans.size(); ++k) {
    CHECK(spans[k].begin < spans[k].end);
    if (spans[k].kind == Kind::Waits) waits += spans[k].end - spans[k].begin;
    if (k > 0 && spans[k].warp == spans[k - 1].warp) CHECK(spans[k].begin >= spans[k - 1].end);
  }
  CHECK(waits == all_stalled);
  CHECK(!o.timeline_cut);
  const Observed cut = watched(device, load_of_stride(128), {.grid = 3, .block = 96}, 5);
  CHECK(cut.timeline.size() == 5);
  CHECK(cut.timeline_cut);
}

TEST_CASE("a load's span says how long it took and which level answered") {
  Device device("gtx780");
  const std::string chase =
      kAddress + std::string(R"( ld.global.nc.u32 %r2, [%rd1]; cvt.u64.u32 %rd2, %r2; add.s64 %rd3, %rd1, %rd2;
    ld.global.nc.u32 %r2, [%rd3+32]; cvt.u64.u32 %rd2, %r2; add.s64 %rd3, %rd1, %rd2; ld.global.nc.u32 %r2, [%rd3+4]; ret;)");
  const Observed o = watched(device, chase, {}, 1000);
  std::vector<std::string> by;
  std::vector<std::uint64_t> cycles;
  for (const auto& span : o.timeline) {
    if (span.kind != Kind::Loads) continue;
    by.push_back(span.level == gexp::sim::kFromMemory ? "memory" : o.caches.at(span.level));
    cycles.push_back(span.end - span.begin);
    CHECK(o.instructions.at(span.instruction).opcode == "ld.global.nc.u32");
  }
  // The model's table: a page walk and memory; then its L2, which fetches ahead; then the read-only cache.
  CHECK(by == std::vector<std::string>{"memory", "l2", "readonly"});
  CHECK(cycles == std::vector<std::uint64_t>{724, 220, 110});
}

TEST_CASE("launches follow each other until the timeline is full") {
  Device device("gtx780");
  const std::uint64_t out = device.allocate(1 << 20);
  const auto kernel = device.load(module_of(".param .u64 out", load_of_stride(4)));
  gexp::sim::observe(device.backend(), 20);
  for (int k = 0; k < 5; ++k) REQUIRE(device.launch(kernel, {{out, 8}}, {.block = 32}).done());
  const auto& launches = gexp::sim::observed(device.backend());
  std::size_t spans = 0;
  for (const auto& launch : launches) spans += launch.timeline.size();
  CHECK(spans == 20);
  CHECK(launches.size() < 5);
  CHECK(launches.size() > 1);
  CHECK(launches[1].began >= launches[0].began + launches[0].counters.cycles);
  CHECK(gexp::sim::counted(device.backend()).launches == 5);
}

TEST_CASE("who watches changes nothing") {
  const std::string body = load_of_stride(256);
  Device seen("gtx980"), unseen("gtx980");
  const Observed o = watched(seen, body, {.grid = 40, .block = 256});
  const std::uint64_t out = unseen.allocate(1 << 20);
  const Outcome outcome = unseen.launch(unseen.load(module_of(".param .u64 out", body)), {{out, 8}}, {.grid = 40, .block = 256});
  CHECK(outcome.elapsed_seconds == doctest::Approx(static_cast<double>(o.counters.cycles) / unseen.backend().device().sm_clock_hz));
}

TEST_CASE("a chase that is watched takes the cycles of one that is not, on every model") {
  // Addresses by chance over 256 KiB, each from the value before it: those that are alone take a way of their own.
  const std::string body = kAddress + std::string(R"(
    mov.u64 %rd2, %rd1; mov.u32 %r4, 77; mov.u32 %r5, 0; mov.u64 %rd8, %clock64;
    LOOP: ld.global.ca.u32 %r2, [%rd2]; add.u32 %r3, %r2, %r4; and.b32 %r3, %r3, 262016; cvt.u64.u32 %rd3, %r3;
    add.s64 %rd2, %rd1, %rd3; mad.lo.u32 %r4, %r4, 1664525, 1013904223;
    add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 500; @%p1 bra LOOP;
    mov.u64 %rd7, %clock64; sub.s64 %rd7, %rd7, %rd8; st.global.u64 [%rd1], %rd7; ret;)");
  for (const auto& model : gexp::sim::names()) {
    CAPTURE(model);
    const auto ticks = [&](bool is_watched) {
      Device device(model);
      if (is_watched) gexp::sim::observe(device.backend(), 0);
      const std::uint64_t out = device.allocate(1 << 20);
      const Outcome outcome = device.launch(device.load(module_of(".param .u64 out", body)), {{out, 8}});
      REQUIRE_MESSAGE(outcome.done(), outcome.what);
      return device.read<std::uint64_t>(out, 1)[0];
    };
    const std::uint64_t unseen = ticks(false);
    CHECK(unseen > 500 * 20);
    CHECK(ticks(true) == unseen);
  }
}

TEST_CASE("chases of four multiprocessors take the cycles of those that are watched, under noise, too") {
  // Addresses by chance over 16 KiB, so that most loads hit in the L1 and some do not, with arithmetic, clocks and shared memory between them.
  const std::string body = kAddress + std::string(R"(
    .shared .align 4 .b8 cell[64];
    mov.u32 %r6, %ctaid.x; mov.u32 %r8, cell; mad.lo.u32 %r4, %r6, 9176, 77; mov.u64 %rd2, %rd1; mov.u32 %r5, 0; mov.u32 %r9, 0;
    LOOP: mov.u32 %r7, %clock; ld.global.ca.u32 %r2, [%rd2]; add.u32 %r3, %r2, %r4; mov.u32 %r10, %clock; sub.u32 %r10, %r10, %r7;
    mad.lo.u32 %r9, %r9, 31, %r10; st.shared.u32 [%r8], %r9; ld.shared.u32 %r9, [%r8];
    and.b32 %r3, %r3, 16352; cvt.u64.u32 %rd3, %r3; add.s64 %rd2, %rd1, %rd3; mad.lo.u32 %r4, %r4, 1664525, 1013904223;
    add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 1000; @%p1 bra LOOP;
    mul.wide.u32 %rd4, %r6, 4; add.s64 %rd4, %rd1, %rd4; st.global.u32 [%rd4+524288], %r9; ret;)");
  for (int number = 1; number <= 60; ++number) {
    CAPTURE(number);
    const auto all_ticks = [&](bool is_watched) {
      Device device(*gexp::sim::drawn_device(fmt::format("drawn-{}-noisy", number)));
      if (is_watched) gexp::sim::observe(device.backend(), 0);
      const std::uint64_t out = device.allocate(1 << 20);
      const Outcome outcome = device.launch(device.load(module_of(".param .u64 out", body)), {{out, 8}}, {.grid = 4, .block = 1});
      REQUIRE_MESSAGE(outcome.done(), outcome.what);
      return device.read<std::uint32_t>(out + 524288, 4);
    };
    CHECK(all_ticks(true) == all_ticks(false));
  }
}
