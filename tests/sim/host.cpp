// SPDX-License-Identifier: Apache-2.0
// The host's memory, managed memory and a peer's: who reaches it, over what, and what that takes.
#include "runtime/sim/sim.h"
#include "tests/sim/support.h"

using namespace gexp;
using namespace sim_test;
using device::Where;

namespace {

std::uint64_t on_host(Device& device, std::uint64_t bytes) {
  auto address = device.backend().allocate(bytes, 0, Where::Host);
  REQUIRE(address.ok());
  return *address;
}

/// Cycles of so many loads of 128 B apart, none of which waits for another.
std::uint64_t cycles(Device& device, std::uint64_t from, int loads) {
  std::string body = ".reg .b32 %r<99>; .reg .b64 %rd<9>; ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [out]; mov.u64 %rd3, %clock64;\n";
  for (int i = 0; i < loads; ++i) body += fmt::format("ld.global.cg.u32 %r{}, [%rd1+{}];\n", i, 128 * i);
  for (int i = 1; i < loads; ++i) body += fmt::format("add.u32 %r0, %r0, %r{};\n", i);
  body += "cvt.u64.u32 %rd5, %r0; add.u64 %rd5, %rd5, 0; mov.u64 %rd4, %clock64; sub.u64 %rd4, %rd4, %rd3; st.global.u64 [%rd2], %rd4; ret;";
  const auto out = device.allocate(8);
  REQUIRE(device.launch(device.load(module_of(".param .u64 from, .param .u64 out", body)), {{from, 8}, {out, 8}}).done());
  return device.read<std::uint64_t>(out, 1)[0];
}

}  // namespace

TEST_CASE("host memory: each access takes the latency of the bus, and the bus moves so much") {
  Device device("h200");
  const auto host = on_host(device, 1 << 20), own = device.allocate(1 << 20);
  const auto one = cycles(device, host, 1);
  CHECK(one > 2000);
  CHECK(one < 2050);
  CHECK(cycles(device, host, 1) == one);  // no cache has it
  CHECK(cycles(device, own, 1) < 760);
  // 32 B at 52 GB/s of a clock of 1980 MHz are 1.2 cycles; at a hundredth of that, 122.
  Device slow(edited("h200", "host = \"52 GB/s\"", "host = \"0.52 GB/s\""));
  const auto far = on_host(slow, 1 << 20);
  const auto alone = cycles(slow, far, 1), many = cycles(slow, far, 32);
  CHECK(many > alone + 31 * 121);
  CHECK(many < alone + 31 * 121 + 200);
}

TEST_CASE("host memory: stores, atomic operations and copies of the host reach it; a warp's lanes reach one memory at a time") {
  Device device("h200");
  const auto host = on_host(device, 4096), own = device.allocate(4096);
  const auto kernel = device.load(module_of(".param .u64 a, .param .u64 b", R"(
    .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    mov.u32 %r1, %tid.x; setp.eq.u32 %p, %r1, 0; selp.b64 %rd3, %rd1, %rd2, %p;
    st.global.u32 [%rd1+8], 7;
    atom.global.add.u32 %r2, [%rd1], 1;
    ld.global.u32 %r3, [%rd3+8];
    st.global.u32 [%rd1+4], %r3;
    ret;)"));
  device.write<std::uint32_t>(host, {40});
  REQUIRE(device.launch(kernel, {{host, 8}, {host, 8}}, {.block = 2}).done());
  CHECK(device.read<std::uint32_t>(host, 3) == std::vector<std::uint32_t>{42, 7, 7});
  const auto mixed = device.launch(kernel, {{host, 8}, {own, 8}}, {.block = 2});
  CHECK(mixed.status == device::Outcome::Status::Fault);
  CHECK(mixed.what.find("host's memory and the device's") != std::string::npos);
}

TEST_CASE("host memory is none of the device's, and a model without a path to it refuses it") {
  Device device("h200");
  const auto whole = device.backend().device().memory_bytes;
  const auto first = on_host(device, 1 << 20);
  CHECK(device.backend().allocate(whole).ok());
  device.backend().release(first);
  CHECK(on_host(device, 1 << 20) == first);
  CHECK(device.backend().accepts({device::Requirement::Kind::Space, "host", 0, {}}).ok());
  const auto refused = Device("gtx780").backend().accepts({device::Requirement::Kind::Space, "host", 0, {}});
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == "E0501");
  CHECK(refused.error().hint.find("[paths.host]") != std::string::npos);
}

namespace {

std::uint64_t in(Device& device, Where where, std::uint64_t bytes) {
  auto address = device.backend().allocate(bytes, 0, where);
  REQUIRE(address.ok());
  return *address;
}

}  // namespace

TEST_CASE("a peer's memory: each access takes the latency of the link, and its room is the peer's") {
  Device device("h200");
  const auto peer = in(device, Where::Peer, 1 << 20);
  const auto one = cycles(device, peer, 1);
  CHECK(one > 1300);
  CHECK(one < 1350);
  CHECK(cycles(device, peer, 1) == one);
  // 32 B at 400 GB/s of a clock of 1980 MHz are 0.16 cycles; at a hundredth of that, 16.
  Device slow(edited("h200", "peer = \"400 GB/s\"", "peer = \"4 GB/s\""));
  const auto far = in(slow, Where::Peer, 1 << 20);
  const auto alone = cycles(slow, far, 1), many = cycles(slow, far, 32);
  CHECK(many > alone + 31 * 15);
  CHECK(many < alone + 31 * 16 + 100);
  const auto whole = device.backend().device().memory_bytes;
  CHECK(device.backend().allocate(whole - (4 << 20)).ok());
  CHECK(!device.backend().allocate(whole, 0, Where::Peer).ok());
  const auto refused = Device("gtx780").backend().accepts({device::Requirement::Kind::Space, "peer", 0, {}});
  REQUIRE(!refused.ok());
  CHECK(refused.error().hint.find("[paths.peer]") != std::string::npos);
}

TEST_CASE("managed memory: the first touch of a page brings it, then it is the device's; sent back, it comes again") {
  Device device("h200");
  const auto managed = in(device, Where::Managed, 1 << 20), own = device.allocate(1 << 20);
  const auto there = cycles(device, own, 1), first = cycles(device, managed, 1);
  // 64 KiB at 52 GB/s of a clock of 1980 MHz are 2496 cycles.
  CHECK(first > 50'000 + 2'490 + there - 50);
  CHECK(first < 50'000 + 2'500 + there + 50);
  CHECK(cycles(device, managed, 1) < 1'000);
  CHECK(cycles(device, managed + 65'536 - 128, 1) < 1'000);    // of the same page
  CHECK(cycles(device, managed + 65'536 - 128, 2) > 50'000);   // the second load is of the next one
  REQUIRE(device.backend().flush("managed").ok());
  CHECK(cycles(device, managed, 1) > 50'000);
  device.backend().release(managed);
  CHECK(in(device, Where::Managed, 1 << 20) == managed);
  CHECK(cycles(device, managed, 1) > 50'000);  // another array's pages
  CHECK(!device.backend().allocate(device.backend().device().memory_bytes, 0, Where::Managed).ok());
  const auto refused = Device("gtx780").backend().accepts({device::Requirement::Kind::Space, "managed", 0, {}});
  REQUIRE(!refused.ok());
  CHECK(refused.error().hint.find("[managed]") != std::string::npos);
}

TEST_CASE("managed memory: an update is done once, however often its warp is issued for pages") {
  Device device("h200");
  const auto managed = in(device, Where::Managed, 4 << 20), own = device.allocate(4096);
  const auto kernel = device.load(module_of(".param .u64 a, .param .u64 b", R"(
    .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 65536; add.u64 %rd4, %rd1, %rd3;
    atom.global.add.u32 %r2, [%rd4], 1;
    st.global.u32 [%rd4+4], %r1;
    atom.global.add.u32 %r3, [%rd2], 1;
    ret;)"));
  REQUIRE(device.launch(kernel, {{managed, 8}, {own, 8}}, {.block = 32}).done());
  for (std::uint64_t k = 0; k < 32; ++k) CHECK(device.read<std::uint32_t>(managed + k * 65'536, 2) == std::vector<std::uint32_t>{1, static_cast<std::uint32_t>(k)});
  CHECK(device.read<std::uint32_t>(own, 1)[0] == 32);
}
