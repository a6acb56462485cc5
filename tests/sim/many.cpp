// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/interpreter.h"
#include "runtime/sim/model_reader.h"
#include "runtime/sim/ptx_parse.h"
#include "tests/sim/support.h"

using namespace sim_test;

TEST_CASE("no warp passes a barrier before the last has come") {
  Device device("gtx780");
  // Warp w turns w * 100 times before the barrier; everybody writes when it was through.
  const auto out = device.run(R"(
    .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 5;
    mul.lo.u32 %r2, %r2, 100;
    mov.u32 %r3, 0;
  LOOP:
    setp.ge.u32 %p1, %r3, %r2;
    @%p1 bra DONE;
    add.u32 %r3, %r3, 1;
    bra LOOP;
  DONE:
    mov.u64 %rd5, %clock64;
    bar.sync 0;
    mov.u64 %rd2, %clock64;
    mul.wide.u32 %rd3, %r1, 16;
    add.u64 %rd4, %rd1, %rd3;
    st.global.u64 [%rd4], %rd5;
    st.global.u64 [%rd4+8], %rd2;
    ret;)", 512, LaunchShape{.block = 256});
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < 512; i += 2) last = std::max(last, out[i]);
  for (std::size_t i = 0; i < 512; i += 2) CHECK(out[i + 1] >= last);
}

TEST_CASE("as many blocks share an SM as its threads, blocks, registers and shared memory allow") {
  using gexp::sim::blocks_per_sm;
  gexp::Diagnostics diagnostics;
  const auto model = gexp::sim::read_device_model(*gexp::sim::read_model("gtx780"), diagnostics);
  REQUIRE(model);
  gexp::sim::Kernel kernel;
  CHECK(blocks_per_sm(*model, kernel, LaunchShape{.block = 32}, 49152) == 16);
  CHECK(blocks_per_sm(*model, kernel, LaunchShape{.block = 512}, 49152) == 4);
  CHECK(blocks_per_sm(*model, kernel, LaunchShape{.block = 64, .shared_bytes = 16384}, 49152) == 3);
  kernel.registers = 64;
  CHECK(blocks_per_sm(*model, kernel, LaunchShape{.block = 512}, 49152) == 2);
  kernel.registers = 200;
  CHECK(blocks_per_sm(*model, kernel, LaunchShape{.block = 1024}, 49152) == 1);  // it would spill
  CHECK(blocks_per_sm(*model, kernel, LaunchShape{.block = 1024, .shared_bytes = 65536}, 49152) == 0);
  kernel.registers = kernel.most_registers = 65;  // told, so rounded up to 72 for each of 128 threads and not spilled
  CHECK(blocks_per_sm(*model, kernel, LaunchShape{.block = 1024}, 49152) == 0);
  CHECK(blocks_per_sm(*model, kernel, LaunchShape{.block = 896}, 49152) == 1);
  CHECK(blocks_per_sm(*model, kernel, LaunchShape{.block = 32}, 49152) == 7);
}

TEST_CASE("registers are those that are live together") {
  const auto registers = [](const std::string& body) {
    const auto kernel = gexp::sim::parse_ptx(module_of(".param .u64 out", ".reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>;\n" + body), "k");
    REQUIRE(kernel.ok());
    return kernel->registers;
  };
  CHECK(registers("ret;") == 8);
  // One after the other in one register, then twenty of 8 bytes at once, also around a loop.
  std::string chain = "mov.u32 %r1, %clock;\n", many, sum, loop = "LOOP:\n";
  for (int i = 1; i < 20; ++i) chain += fmt::format("add.u32 %r{}, %r{}, 1;\n", i + 1, i);
  CHECK(registers(chain + "ret;") == 16);
  for (int i = 1; i <= 20; ++i) many += fmt::format("mov.u64 %rd{}, %clock64;\n", i), sum += fmt::format("add.u64 %rd50, %rd50, %rd{};\n", i);
  CHECK(registers(many + "mov.u64 %rd50, 0;\n" + sum + "st.global.u64 [%rd50], %rd50; ret;") == 56);
  CHECK(registers(many + loop + "mov.u32 %r1, %clock; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;\nmov.u64 %rd50, 0;\n" + sum + "st.global.u64 [%rd50], %rd50; ret;") == 56);
}

namespace {

/// Cycles of one block whose threads each load `loads` lines of their own, from the L2 once they are there.
std::uint64_t burst(const gexp::Source& model, std::uint32_t threads, int loads, std::uint32_t sharers = 1) {
  Device device(model);
  const std::uint64_t memory = device.allocate(64 << 20);
  std::string load, use;
  for (int j = 0; j < loads; ++j) {
    load += fmt::format("ld.global.cg.u32 %r{}, [%rd4+{}];\n", 10 + j, j * (8 << 20));
    use += fmt::format("add.u32 %r3, %r3, %r{};\n", 10 + j);
  }
  const auto kernel = device.load(module_of(".param .u64 base, .param .u64 out", fmt::format(R"(
    .reg .pred %p<2>; .reg .b32 %r<40>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [base]; ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    div.u32 %r2, %r1, {};
    mul.wide.u32 %rd3, %r2, 128;
    add.u64 %rd4, %rd1, %rd3;
    mov.u32 %r3, 0;
    {} {}
    bar.sync 0;
    mov.u64 %rd5, %clock64;
    {} {}
    bar.sync 0;
    mov.u64 %rd6, %clock64;
    sub.u64 %rd7, %rd6, %rd5;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra END;
    st.global.u64 [%rd2], %rd7;
    st.global.u32 [%rd2+8], %r3;
  END:
    ret;)", sharers, load, use, load, use)));
  const std::uint64_t out = device.allocate(64);
  const Outcome outcome = device.launch(kernel, {{memory, 8}, {out, 8}}, LaunchShape{.block = threads});
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  return device.read<std::uint64_t>(out, 1)[0];
}

}  // namespace

TEST_CASE("an MSHR table fills up with lines, whoever asks for them") {
  const gexp::Source model = edited("m2070", "loads_per_warp = 4", "loads_per_warp = 8");
  const auto jumps = [&](std::uint32_t fits, int loads, std::uint32_t sharers) {
    const auto before = burst(model, fits, loads, sharers), after = burst(model, fits + 2 * sharers, loads, sharers);
    CAPTURE(fits);
    CHECK(after > before + 80);  // the longer the way in, the earlier the first are back
  };
  jumps(128, 1, 1);
  jumps(64, 2, 1);
  jumps(32, 4, 1);
  jumps(256, 1, 2);
  jumps(256, 2, 4);
  jumps(256, 4, 8);
  CHECK(burst(model, 128, 1) < burst(model, 96, 1) + 200);
}

TEST_CASE("a pending-request table fills up with warp instructions") {
  const gexp::Source model = edited("k20", "requests = 1362\n", "");
  for (const std::uint32_t sharers : {4u, 32u}) {
    CHECK(burst(model, 704, 2, sharers) < burst(model, 512, 2, sharers) + 150);
    CHECK(burst(model, 736, 2, sharers) > burst(model, 704, 2, sharers) + 100);
  }
  CHECK(burst(model, 1024, 1, 8) < burst(model, 512, 1, 8) + 150);
}

TEST_CASE("a fault names the statement of the spec that the text notes") {
  Device device("gtx780");
  const auto fault = [&](const std::string& body, std::uint32_t block, double limit = 60) {
    const auto kernel = device.load(module_of(".param .u64 out", ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\nmov.u32 %r1, %tid.x;\n" + body));
    const Outcome outcome = device.launch(kernel, {{0, 8}}, LaunchShape{.block = block}, limit);
    CHECK(!outcome.done());
    return outcome.what;
  };
  CHECK(fault("mov.u64 %rd1, 8; /*load A*/ ld.global.u32 %r2, [%rd1]; ret;", 1).find("at `load A`, PTX line") != std::string::npos);
  CHECK(fault("mov.u64 %rd1, 9; /*store B*/ st.global.u32 [%rd1], %r1; ret;", 1).find("misaligned (at `store B`") != std::string::npos);
  // Half of the warps wait at one barrier, half at another.
  const std::string halves = "setp.lt.u32 %p1, %r1, 32; @%p1 bra LOW; /*barrier*/ bar.sync 1; bra END; LOW: bar.sync 2; END: ret;";
  const std::string stuck = fault(halves, 64);
  CHECK(stuck.find("a deadlock: 64 threads") != std::string::npos);
  CHECK(stuck.find("`barrier`") != std::string::npos);
  const std::string endless = fault("LOOP: /*load A*/ mov.u32 %r2, 1; setp.eq.u32 %p1, %r2, 1; @%p1 bra LOOP; ret;", 64, 0.2);
  CHECK(endless.find("still running") != std::string::npos);
  CHECK(endless.find("`load A`") != std::string::npos);
}

TEST_CASE("a launch that would never end has hung: threads that wait for others, or a limit of the device's own time") {
  Device device("gtx780");
  const auto end = [&](const std::string& body, std::uint32_t block, double limit = 0) {
    const auto kernel = device.load(module_of(".param .u64 out", ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\nmov.u32 %r1, %tid.x;\n" + body));
    return device.launch(kernel, {{0, 8}}, LaunchShape{.block = block, .limit = limit}, 60);
  };
  const std::string halves = "setp.lt.u32 %p1, %r1, 32; @%p1 bra LOW; bar.sync 1; bra END; LOW: bar.sync 2; END: ret;";
  CHECK(end(halves, 64).status == Outcome::Status::Timeout);
  const std::string turns = "mov.u32 %r2, 0; LOOP: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 100000; @%p1 bra LOOP; ret;";
  CHECK(end(turns, 1).done());
  CHECK(end(turns, 1, 1).done());
  const auto cut = end(turns, 1, 1e-5);
  CHECK(cut.status == Outcome::Status::Timeout);
  CHECK(cut.elapsed_seconds < 1e-4);
}
