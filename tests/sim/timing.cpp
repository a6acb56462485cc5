// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "runtime/sim/observed.h"
#include "tests/sim/support.h"

using namespace sim_test;

namespace {

struct Expected {
  const char* model;
  std::uint64_t clock, l2_hit, shared;
};
constexpr Expected kModels[] = {{"gtx560ti", 14, 351, 50}, {"gtx780", 16, 198, 47}, {"gtx980", 6, 214, 28}};

/// t1 - t0 around `timed`; %rd9 is the output array, %rd5 points to a second word of it, %r5 to shared memory.
std::uint64_t span(Device& device, const std::string& timed) {
  const auto values = device.run(fmt::format(R"(
    .reg .b32 %r<10>; .reg .b64 %rd<20>;
    .shared .align 4 .b8 cell[64];
    ld.param.u64 %rd9, [out];
    add.s64 %rd5, %rd9, 8;
    ld.global.cg.u64 %rd6, [%rd5];
    add.s64 %rd6, %rd6, 1;
    mov.u32 %r5, cell;
    st.shared.u32 [%r5], %r5;
    mov.u64 %rd1, %clock64;
    {}
    mov.u64 %rd2, %clock64;
    sub.s64 %rd3, %rd2, %rd1;
    st.global.u64 [%rd9], %rd3;
    ret;)", timed), 2);
  return values[0];
}

}  // namespace

TEST_CASE("two clock reads differ by the model's clock cost") {
  for (const Expected& e : kModels) {
    Device device(e.model);
    CHECK(span(device, "") == e.clock);
  }
}

TEST_CASE("a timed load with a consumer costs exactly its latency more than the consumer alone") {
  for (const Expected& e : kModels) {
    CAPTURE(e.model);
    Device device(e.model);
    const std::uint64_t empty = span(device, "xor.b64 %rd6, %rd6, %rd5;");
    CHECK(span(device, "ld.global.cg.u64 %rd6, [%rd5]; xor.b64 %rd6, %rd6, %rd5;") - empty == e.l2_hit);
    CHECK(span(device, "ld.shared.u32 %r5, [%r5]; xor.b64 %rd6, %rd6, %rd5;") - empty == 1);
    const std::uint64_t none = span(device, "xor.b32 %r5, %r5, %r5;");
    CHECK(span(device, "ld.shared.u32 %r5, [%r5]; xor.b32 %r5, %r5, %r5;") - none == e.shared);
  }
}

TEST_CASE("a lone thread, whose instructions need no events, takes what an observed one takes") {
  // Hits and misses, guards that hold and do not, a unit that is busy, clocks that are read, and shared memory.
  const std::string body = R"(
    .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .pred %p<4>;
    .shared .align 4 .b8 cell[64];
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, %rd1; mov.u32 %r1, 0; mov.u32 %r2, 977; mov.u32 %r8, cell;
  LOOP:
    mov.u32 %r7, %clock;
    ld.global.cg.u32 %r3, [%rd2]; add.u32 %r4, %r3, %r2;
    div.u32 %r5, %r2, 7; rem.u32 %r6, %r4, 4093;
    setp.gt.u32 %p1, %r6, 2000; @%p1 mul.lo.u32 %r2, %r2, 5; @!%p1 mad.lo.u32 %r2, %r4, %r2, %r1;
    ld.global.u32 %r9, [%rd2+64]; xor.b32 %r2, %r2, %r9;
    st.shared.u32 [%r8], %r6; ld.shared.u32 %r9, [%r8]; add.u32 %r2, %r2, %r9;
    mov.u32 %r10, %clock; sub.u32 %r10, %r10, %r7; max.u32 %r2, %r2, %r10;
    and.b32 %r6, %r6, 4064; cvt.u64.u32 %rd3, %r6; add.u64 %rd2, %rd1, %rd3; add.u64 %rd2, %rd2, 64;
    add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 3000; @%p2 bra LOOP;
    mov.u64 %rd4, %clock64;
    st.global.u64 [%rd1], %rd4; cvt.u64.u32 %rd5, %r2; st.global.u64 [%rd1+8], %rd5;
    ret;)";
  for (const auto& model : gexp::sim::names()) {
    CAPTURE(model);
    Device device(model), observed(model);
    gexp::sim::observe(observed.backend(), 0);
    const auto values = device.run(body, 1024);
    CHECK(values == observed.run(body, 1024));
    CHECK(values[0] > 3000 * 20);
  }
}

TEST_CASE("a load that nothing overlaps, which needs no events, takes what it takes with them") {
  for (const auto& model : gexp::sim::names()) {
    for (const char* load : {"ld.global.ca.u64", "ld.global.cg.u64", "ld.shared.u64"}) {
      CAPTURE(model);
      CAPTURE(load);
      // The first meets an L1 that does not hold the line, the second finds it there.
      const auto chain = [&](const char* between) {
        const std::string address = load[3] == 's' ? "%rd8" : "%rd5";
        const std::string one = fmt::format("{} %rd6, [{}]; {} xor.b64 %rd6, %rd6, %rd5;\n", load, address, between);
        return "cvt.u64.u32 %rd8, %r5; " + one + one + one;
      };
      Device with(model), without(model);
      CHECK(span(without, chain("")) == span(with, chain("mov.u64 %rd7, 1;")));
    }
  }
}

TEST_CASE("a clock does not wait for a load that nothing has consumed, on any device: the record is far too low") {
  for (const auto& model : gexp::sim::names()) {
    CAPTURE(model);
    Device device(model);
    const std::uint64_t waits = span(device, "ld.global.cg.u64 %rd6, [%rd5]; xor.b64 %rd6, %rd6, %rd5;");
    CHECK(span(device, "ld.global.cg.u64 %rd6, [%rd5];") == span(device, "") + 1);
    CHECK(span(device, "ld.global.cg.u64 %rd6, [%rd5];") < waits / 4);
  }
}

TEST_CASE("a chain of N shared loads takes N latencies more than none") {
  for (const Expected& e : kModels) {
    Device device(e.model);
    const std::uint64_t none = span(device, "add.u32 %r5, %r5, 0;");
    std::string chain;
    for (int n = 1; n <= 64; ++n) {
      chain += "ld.shared.u32 %r5, [%r5];\n";
      if (n == 1 || n == 7 || n == 64) CHECK(span(device, chain + "add.u32 %r5, %r5, 0;") - none == static_cast<std::uint64_t>(n) * e.shared);
    }
  }
}

TEST_CASE("%globaltimer counts the nanoseconds of the SM clock's cycles") {
  Device device("gtx780");
  const auto v = device.run(R"(
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<10>;
    ld.param.u64 %rd9, [out];
    mov.u64 %rd1, %globaltimer;
    mov.u64 %rd2, %clock64;
    mov.u32 %r1, 0;
  L: add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 100000;
    @%p1 bra L;
    mov.u64 %rd3, %globaltimer;
    mov.u64 %rd4, %clock64;
    sub.s64 %rd5, %rd3, %rd1;
    sub.s64 %rd6, %rd4, %rd2;
    st.global.v2.u64 [%rd9], {%rd5, %rd6};
    ret;)" , 2);
  CHECK(v[1] > 300000);
  CHECK(static_cast<double>(v[0]) == doctest::Approx(static_cast<double>(v[1]) / 1.006).epsilon(1e-4));
}

TEST_CASE("clocks go on from launch to launch, elapsed time is simulated time") {
  Device device("gtx980");
  const std::uint64_t out = device.allocate(8);
  const auto kernel = device.load(module_of(".param .u64 out", ".reg .b64 %rd<3>; ld.param.u64 %rd1, [out]; mov.u64 %rd2, %clock64; st.global.u64 [%rd1], %rd2; ret;"));
  const Outcome outcome = device.launch(kernel, {{out, 8}});
  const auto first = device.read<std::uint64_t>(out, 1)[0];
  device.launch(kernel, {{out, 8}});
  CHECK(device.read<std::uint64_t>(out, 1)[0] > first);
  CHECK(outcome.elapsed_seconds > 0);
  CHECK(outcome.elapsed_seconds < 1e-6);
}

TEST_CASE("rate: a single-thread pointer chase") {
  Device device("gtx780");
  Walker walker(device, 1 << 20, "ld.global.nc.u64");
  const auto began = std::chrono::steady_clock::now();
  const std::uint32_t steps = 2'000'000;
  walker.latencies(ring(16384, 32), steps, 16, 17);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const double rate = steps * 9.0 / seconds / 1e6;
  MESSAGE("instructions: ", rate, " million/s; timed loads: ", steps / seconds / 1e6, " million/s");
  CHECK(rate > 1);  // an unoptimised or sanitized build still passes
}

TEST_CASE("multiprocessors read one clock register, or one for each cluster or each of them; all have one timer") {
  // How many values are further apart than blocks begin, among 30 multiprocessors.
  const auto registers = [](const gexp::Source& model, const char* name) {
    Device device(model);
    const auto read = device.run(fmt::format(".reg .b32 %r<5>; .reg .b64 %rd<9>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %smid; mov.u64 %rd2, {}; mad.wide.u32 %rd3, %r1, 8, %rd1;\n"
                                             "st.global.u64 [%rd3], %rd2; ret;", name), 30, {.grid = 30});
    auto sorted = read;
    std::sort(sorted.begin(), sorted.end());
    std::size_t apart = 1;
    for (std::size_t k = 1; k < sorted.size(); ++k) apart += sorted[k] - sorted[k - 1] > 10000 ? 1 : 0;
    bool clusters = true;
    for (std::size_t sm = 0; sm < read.size(); ++sm) clusters = clusters && std::max(read[sm], read[sm / 3 * 3]) - std::min(read[sm], read[sm / 3 * 3]) < 10000;
    return std::pair(apart, clusters);
  };
  const auto shared = [](const std::string& by) { return edited("gtx280", "clocks = \"tpc\"", "clocks = \"" + by + "\""); };
  CHECK(registers(shared("tpc"), "%clock64") == std::pair<std::size_t, bool>(10, true));
  CHECK(registers(shared("sm"), "%clock64") == std::pair<std::size_t, bool>(30, false));
  CHECK(registers(edited("gtx280", "clocks = \"tpc\"", "clocks = \"gpc\"\ngpcs = 4"), "%clock64") == std::pair<std::size_t, bool>(4, true));
  CHECK(registers(shared("device"), "%clock64") == std::pair<std::size_t, bool>(1, true));
  CHECK(registers(shared("tpc"), "%globaltimer") == std::pair<std::size_t, bool>(1, true));
}

TEST_CASE("stores are limited for each multiprocessor, and by the port that those of a TPC share") {
  // What 4096 stores of a warp, 512 B each, take multiprocessor 0 while `other` stores as much.
  const auto cycles = [](const gexp::Source& model, int other) {
    Device device(model);
    const auto took = device.run(fmt::format(".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %smid; mov.u32 %r2, %tid.x;\n"
                                             "setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, {}; or.pred %p1, %p1, %p2; @!%p1 bra DONE;\n"
                                             "mul.wide.u32 %rd2, %r1, 4096; add.u64 %rd2, %rd2, %rd1; add.u64 %rd2, %rd2, 4096; mul.wide.u32 %rd3, %r2, 16; add.u64 %rd2, %rd2, %rd3;\n"
                                             "mov.u64 %rd4, %clock64; mov.u32 %r3, 0;\n"
                                             "MORE: st.global.v4.u32 [%rd2], {{%r3, %r3, %r3, %r3}}; add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 4096; @%p3 bra MORE;\n"
                                             "mov.u64 %rd5, %clock64; sub.u64 %rd5, %rd5, %rd4; mul.wide.u32 %rd6, %r1, 8; add.u64 %rd6, %rd6, %rd1;\n"
                                             "setp.eq.u32 %p3, %r2, 0; @%p3 st.global.u64 [%rd6], %rd5; DONE: ret;", other),
                                 132 * 1024, {.grid = 132, .block = 32});
    return static_cast<double>(took[0]);
  };
  const std::string limit = "stores = 32\n";
  const auto ported = edited("h200", limit, "stores = 32\ntpc = 48\nassumed.tpc = \"a test\"\n"), wider = edited("h200", limit, "stores = 40\n");
  const auto share = [](double bytes_a_cycle) { return doctest::Approx(4096 * 512 / bytes_a_cycle).epsilon(0.01); };
  CHECK(cycles(edited("h200", limit, limit), 1) == share(32));
  CHECK(cycles(wider, 1) == share(40));
  CHECK(cycles(ported, 2) == share(32));  // of another TPC
  CHECK(cycles(ported, 1) == share(24));
}
