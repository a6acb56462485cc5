// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/sim/support.h"

using namespace sim_test;
using gexp::Span;
using gexp::device::Requirement;

namespace {

/// Ends with the outcome of a launch whose line 9 accesses memory.
Outcome access(Device& device, const std::string& instruction, std::uint64_t address) {
  const auto kernel = device.load(module_of(".param .u64 at", "\n.reg .b32 %r<9>; .reg .b64 %rd<9>; ld.param.u64 %rd1, [at];\n" + instruction + "\nret;"));
  return device.launch(kernel, {{address, 8}});
}

}  // namespace

TEST_CASE("bad accesses are faults that name access, address and line; the device lives on") {
  Device device("gtx780");
  const std::uint64_t a = device.allocate(4096);
  CHECK(access(device, "ld.global.u32 %r1, [%rd1];", a + 4092).done());
  const Outcome past = access(device, "ld.global.u32 %r1, [%rd1];", a + 4096);
  CHECK(past.status == Outcome::Status::Fault);
  CHECK(past.what == fmt::format("load of 4 B at 0x{:x} is outside every allocation (PTX line 9)", a + 4096));
  CHECK(has(access(device, "st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};", a + 4088).what, "store of 16 B"));
  CHECK(has(access(device, "ld.global.u64 %rd2, [%rd1];", a + 4).what, "misaligned"));
  CHECK(has(access(device, "ld.global.u32 %r1, [%rd1];", 0).what, "null"));
  CHECK(has(access(device, "atom.global.add.u32 %r1, [%rd1], 1;", 64).what, "atomic"));
  CHECK(has(access(device, "ld.shared.u32 %r1, [%rd1];", 64).what, "shared"));
  CHECK(device.backend().losses() == 0);
  CHECK(access(device, "ld.global.u32 %r1, [%rd1];", a).done());
  device.backend().release(a);
  CHECK(!access(device, "ld.global.u32 %r1, [%rd1];", a).done());
}

TEST_CASE("an endless loop ends at the time limit or at an interrupt") {
  Device device("gtx780");
  const auto kernel = device.load(module_of("", "L: bra L;"));
  const auto began = std::chrono::steady_clock::now();
  CHECK(device.launch(kernel, {}, {}, 0.1).status == Outcome::Status::Timeout);
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() < 5);
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gexp::sim::request_interrupt();
  });
  CHECK(device.launch(kernel, {}, {}, 60).status == Outcome::Status::Interrupted);
  later.join();
  gexp::sim::clear_interrupt();
}

TEST_CASE("launches that cannot be are faults") {
  Device device("gtx780");
  const auto kernel = device.load(module_of(".param .u32 n", "ret;"));
  CHECK(device.launch(kernel, {{1, 4}}).done());
  CHECK(!device.launch(kernel, {}).done());
  CHECK(!device.launch(kernel, {{1, 8}}).done());
  CHECK(!device.launch(kernel, {{1, 4}}, LaunchShape{.block = 2048}).done());
  CHECK(!device.launch(kernel, {{1, 4}}, LaunchShape{.grid = 0}).done());
  CHECK(device.launch(kernel, {{1, 4}}, LaunchShape{.grid = 300, .block = 1024}).done());
  CHECK(!device.launch(kernel, {{1, 4}}, LaunchShape{.shared_bytes = 49153}).done());
  CHECK(device.launch(kernel, {{1, 4}}, LaunchShape{.shared_bytes = 49152}).done());
  CHECK(!device.launch(kernel, {{1, 4}}, LaunchShape{.shared_bytes = 8192, .carveout_bytes = 4096}).done());
  CHECK(!device.launch(kernel, {{1, 4}}, LaunchShape{.bank_bytes = 16}).done());
}

TEST_CASE("memory costs what is touched") {
  Device device(edited("gtx780", "memory = \"3 GiB\"", "memory = \"128 GiB\""));
  const std::uint64_t bytes = 64ull << 30;
  const std::uint64_t a = device.allocate(bytes);
  CHECK(a % (2 << 20) == 0);
  const std::uint64_t word = 42;
  REQUIRE(device.backend().write(a + bytes - 8, std::as_bytes(std::span(&word, 1))).ok());
  CHECK(device.read<std::uint64_t>(a + bytes - 8, 1)[0] == 42);
  CHECK(device.read<std::uint64_t>(a + bytes / 2, 1)[0] == 0);
  CHECK(device.allocate(100, 1 << 20) % (1 << 20) == 0);
  auto more = device.backend().allocate(bytes);
  REQUIRE(!more.ok());
  CHECK(more.error().code == "E0802");
  CHECK(device.backend().write(a + bytes - 4, std::as_bytes(std::span(&word, 1))).error().code == "E0803");
}

TEST_CASE("requirements are refused at their place, naming what is missing") {
  const Span at{10, 20};
  const auto refused = [&](const char* model, Requirement::Kind kind, const std::string& path, std::uint64_t amount) -> std::string {
    Device device(model);
    const auto accepted = device.backend().accepts({kind, path, amount, at});
    if (accepted) return {};
    CHECK(accepted.error().code == "E0501");
    CHECK(accepted.error().span == at);
    return accepted.error().message;
  };
  using Kind = Requirement::Kind;
  CHECK(has(refused("gtx560ti", Kind::LoadPath, "nc", 0), "'nc'"));
  CHECK(refused("gtx560ti", Kind::LoadPath, "ca", 0).empty());
  CHECK(refused("gtx780", Kind::LoadPath, "nc", 0).empty());
  CHECK(has(refused("gtx980", Kind::BankWidth, "", 8), "8 B"));
  CHECK(refused("gtx780", Kind::BankWidth, "", 8).empty());
  CHECK(refused("gtx780", Kind::SharedBytes, "", 49152).empty());
  CHECK(!refused("gtx780", Kind::SharedBytes, "", 49153).empty());
  CHECK(!refused("gtx560ti", Kind::MemoryBytes, "", 2ull << 30).empty());
  CHECK(has(refused("gtx780", Kind::Threads, "", 2048), "1024 threads"));
  CHECK(refused("gtx780", Kind::Threads, "", 1024).empty());
  CHECK(refused("gtx780", Kind::Blocks, "", 100'000).empty());
}

TEST_CASE("a device says what it is") {
  Device device("gtx780");
  const auto& info = device.backend().device();
  CHECK(info.kind == "simulated");
  CHECK(info.selector == "gtx780");
  CHECK(info.compute_major == 3);
  CHECK(info.sms == 12);
  CHECK(info.l2_bytes == 1536 * 1024);
  CHECK(info.model_sha256.size() == 64);
  CHECK((*gexp::sim::open("gtx780"))->device().id == "sim:gtx780");
  CHECK(gexp::sim::open("gtx781").error().hint.find("gtx780") != std::string::npos);
  CHECK(gexp::sim::open("/nowhere/x.toml").error().code == "E0600");
}
