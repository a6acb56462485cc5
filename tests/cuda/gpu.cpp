// SPDX-License-Identifier: Apache-2.0
// The CUDA backend on a stand-in for the driver: what it makes of every way in which a driver or a launch can fail.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "runtime/cuda/cuda.h"
#include "runtime/cuda/gpu.h"
#include "tests/cuda/fake/fake_cuda.h"
#include "tests/jit/scene.h"

using namespace gexp;
using device::Backend;
using device::Outcome;
using device::Requirement;
using tests::Environment;

namespace {

/// The script is read at every call, so that a test may change it under a living backend.
struct Scene {
  Environment library{"GEXP_LIBCUDA", GEXP_FAKE_CUDA};
  Environment script{"FAKE_CUDA", ""};
  void* handle = dlopen(GEXP_FAKE_CUDA, RTLD_NOW);

  Scene() { call<void (*)()>("fake_reset")(); }
  ~Scene() {
    call<void (*)()>("fake_reset")();
    cuda::clear_interrupt();
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  template <class Call>
  Call call(const char* name) {
    return reinterpret_cast<Call>(dlsym(handle, name));
  }
  int last_set(int attribute) { return call<int (*)(int)>("fake_last_set")(attribute); }
  int contexts() { return call<int (*)()>("fake_contexts_made")(); }
  int allocations() { return call<int (*)()>("fake_allocations")(); }

  /// What is written to the only allocation, of 1000 bytes, is read again, and nothing is left of it.
  void check_copies_and_release(Backend& backend, std::uint64_t address) {
    std::vector<std::byte> out(1000, std::byte{7}), in(1000);
    CHECK(backend.write(address, out));
    CHECK(backend.read(address, in));
    CHECK(in == out);
    backend.release(address);
    CHECK(allocations() == 0);
  }
};

std::unique_ptr<Backend> device() {
  auto opened = cuda::open(0);
  REQUIRE(opened);
  return std::move(*opened);
}

Outcome launch(Backend& backend, device::KernelId kernel, std::uint32_t end, double limit = 5,
               device::LaunchShape shape = {}) {
  const device::Argument argument{end, 4};
  return backend.launch(kernel, shape, {&argument, 1}, limit);
}

device::KernelId kernel_on(Backend& backend) {
  auto id = backend.load({device::Target::Form::Cubin, "image", "k"});
  REQUIRE(id);
  return *id;
}

Result<> asks(const Backend& backend, Requirement::Kind kind, std::uint64_t amount) {
  return backend.accepts({kind, "", amount, {3, 9}});
}

}  // namespace

TEST_CASE_FIXTURE(Scene, "a missing, old, mismatched or deviceless driver each has its code and a hint") {
  const auto code = [](const Diagnostic& problem) {
    CHECK_FALSE(problem.hint.empty());
    return problem.code;
  };
  {
    const Environment none("GEXP_LIBCUDA", "/nonexistent/libcuda.so.1");
    CHECK(code(cuda::devices().error()) == "E0703");
    CHECK(code(cuda::open(0).error()) == "E0703");
  }
  {
    const Environment old("GEXP_LIBCUDA", GEXP_FAKE_OLD_CUDA);
    CHECK(code(cuda::open(0).error()) == "E0704");
    CHECK(cuda::open(0).error().message.find("cuFuncSetAttribute") != std::string::npos);
  }
  const std::pair<const char*, const char*> cases[] = {{"no_device", "E0705"}, {"empty", "E0705"}, {"old", "E0704"},
                                                       {"mismatch", "E0704"},  {"stub", "E0703"},  {"broken", "E0707"},
                                                       {"nameless", "E0707"},  {"taken", "E0705"}};
  for (const auto& [what, expected] : cases) {
    CAPTURE(what);
    const Environment now("FAKE_CUDA", what);
    CHECK(code(cuda::open(0).error()) == expected);
    if (std::strcmp(what, "taken") != 0) CHECK(code(cuda::devices().error()) == expected);
  }
  CHECK(code(cuda::open(1).error()) == "E0705");
  CHECK(code(cuda::open(-1).error()) == "E0705");
}

TEST_CASE_FIXTURE(Scene, "a device says what it is") {
  auto list = cuda::devices();
  REQUIRE(list);
  REQUIRE(list->size() == 1);
  const auto& info = list->front();
  CHECK(info.kind == "cuda");
  CHECK(info.id == "cuda:0");
  CHECK(info.selector == "h200");
  CHECK(info.name == "NVIDIA H200");
  CHECK(info.compute_major == 9);
  CHECK(info.sms == 132);
  CHECK(info.sm_clock_hz == 1.98e9);
  CHECK(info.l2_bytes == 62914560);
  CHECK(info.shared_per_block == 232448);
  CHECK(info.shared_per_sm == 233472);
  CHECK(info.uuid == "GPU-00112233-4455-6677-8899-aabbccddeeff");
  CHECK(info.ecc);
  CHECK_FALSE(info.driver.empty());
  const auto target = device()->target();
  CHECK(target.form == device::Target::Form::Cubin);
  CHECK(target.major == 9);
}

TEST_CASE_FIXTURE(Scene, "what the device lacks is E0501 at the statement that needs it") {
  const auto backend = device();
  using Kind = Requirement::Kind;
  CHECK(asks(*backend, Kind::LoadPath, 0));
  CHECK(asks(*backend, Kind::BankWidth, 4));
  CHECK(asks(*backend, Kind::SharedBytes, 232448));
  CHECK(asks(*backend, Kind::Threads, 1024));
  CHECK(asks(*backend, Kind::Blocks, 1000));
  CHECK(asks(*backend, Kind::MemoryBytes, 1 << 20));
  for (const auto& [kind, amount] :
       {std::pair{Kind::BankWidth, std::uint64_t{8}}, std::pair{Kind::SharedBytes, std::uint64_t{232449}},
        std::pair{Kind::Threads, std::uint64_t{1025}}, std::pair{Kind::Blocks, std::uint64_t{1} << 31},
        std::pair{Kind::MemoryBytes, std::uint64_t{1} << 31}}) {
    auto refused = asks(*backend, kind, amount);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == "E0501");
    CHECK(refused.error().span == Span{3, 9});
  }
  const Environment now("FAKE_CUDA", "kepler");
  CHECK(asks(*device(), Kind::BankWidth, 8));
}

TEST_CASE_FIXTURE(Scene, "clusters are asked for at the launch, where the device has them") {
  const auto backend = device();
  for (const auto& [blocks, taken] : {std::pair{1u, true}, std::pair{8u, true}, std::pair{9u, false}}) CHECK(asks(*backend, Requirement::Kind::Cluster, blocks).ok() == taken);
  const auto kernel = kernel_on(*backend);
  REQUIRE(launch(*backend, kernel, 0, 5, {.grid = 8, .block = 32, .cluster = 4}).done());
  CHECK(last_set(kFakeCluster) == 4);
  const Environment now("FAKE_CUDA", "kepler");
  CHECK(asks(*device(), Requirement::Kind::Cluster, 2).error().code == "E0501");
}

TEST_CASE_FIXTURE(Scene, "memory of the host is pinned, written and read, and given back") {
  const auto backend = device();
  const Requirement needs{Requirement::Kind::Space, "host", 0, {3, 9}};
  CHECK(backend->accepts(needs));
  auto address = backend->allocate(1000, 1 << 16, device::Where::Host);
  REQUIRE(address);
  CHECK(*address % (1 << 16) == 0);
  CHECK(allocations() == 1);
  check_copies_and_release(*backend, *address);
  CHECK(backend->allocate(std::uint64_t{1} << 40, 0, device::Where::Host).error().code == "E0802");
  {
    const Environment now("FAKE_CUDA", "no_host_address");
    CHECK(backend->allocate(1000, 0, device::Where::Host).error().code == "E0802");
    CHECK(allocations() == 0);
  }
  const Environment now("FAKE_CUDA", "no_host_memory");
  CHECK(device()->accepts(needs).error().code == "E0501");
}

TEST_CASE_FIXTURE(Scene, "managed memory is never more than is free, and its pages are sent back to the host") {
  const auto backend = device();
  const Requirement needs{Requirement::Kind::Space, "managed", 0, {3, 9}}, returns{Requirement::Kind::Flush, "managed", 0, {3, 9}};
  CHECK(backend->accepts(needs));
  CHECK(backend->accepts(returns));
  auto address = backend->allocate(1000, 1 << 16, device::Where::Managed), plain = backend->allocate(1000, 0, device::Where::Device);
  REQUIRE(address);
  REQUIRE(plain);
  const int before = last_set(kFakePages);
  REQUIRE(backend->flush("managed"));
  CHECK(last_set(kFakePages) == before + 1);  // of the one that is managed
  backend->release(*plain);
  check_copies_and_release(*backend, *address);
  const auto refused = backend->allocate((std::uint64_t{1} << 29) + 1, 0, device::Where::Managed);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "E0802");
  CHECK(refused.error().message.find("536870912 B of memory free") != std::string::npos);
  CHECK(allocations() == 0);
  {
    const Environment now("FAKE_CUDA", "no_managed");
    CHECK(device()->accepts(needs).error().code == "E0501");
  }
  const Environment now("FAKE_CUDA", "no_concurrent");
  CHECK(device()->accepts(needs));
  CHECK(device()->accepts(returns).error().code == "E0501");
}

TEST_CASE_FIXTURE(Scene, "memory of a peer is another GPU's, which this one reaches") {
  const Requirement needs{Requirement::Kind::Space, "peer", 0, {3, 9}};
  CHECK(device()->accepts(needs).error().code == "E0501");  // there is one GPU
  const Environment two("FAKE_CUDA", "gpus=2,peer_memory=100000");
  const auto backend = device();
  CHECK(backend->accepts(needs));
  auto address = backend->allocate(1000, 0, device::Where::Peer), own = backend->allocate(1000, 0, device::Where::Device);
  REQUIRE(address);
  REQUIRE(own);
  CHECK(allocations() == 2);
  const int before = last_set(kFakePeerCopies);
  std::vector<std::byte> some(8, std::byte{7}), read(8);
  REQUIRE(backend->write(*address + 8, some));
  REQUIRE(backend->read(*address + 8, read));
  CHECK(read == some);
  CHECK(last_set(kFakePeerCopies) == before + 2);  // each waited for, in the peer's context
  REQUIRE(backend->write(*own, some));
  CHECK(last_set(kFakePeerCopies) == before + 2);
  const auto refused = backend->allocate(200000, 0, device::Where::Peer);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "E0802");
  CHECK(refused.error().message.find("the GPU that cuda:0 reaches has") != std::string::npos);
  backend->release(*own);
  CHECK(allocations() == 1);
  backend->release(*address);
  CHECK(allocations() == 0);
  const Environment apart("FAKE_CUDA", "gpus=2,far_apart");
  CHECK(device()->accepts(needs).error().code == "E0501");
}

TEST_CASE_FIXTURE(Scene, "memory: alignment, copies, links dense and sparse, and no room") {
  const auto backend = device();
  for (const std::uint64_t align : {0, 128, 4096, 2 << 20}) {
    auto address = backend->allocate(1000, align);
    REQUIRE(address);
    CHECK(*address % (align == 0 ? 256 : align) == 0);
    check_copies_and_release(*backend, *address);
  }
  CHECK(backend->allocate(std::uint64_t{1} << 40).error().code == "E0802");
  CHECK(backend->allocate(~std::uint64_t{0}, 4096).error().code == "E0802");
  std::vector<std::byte> some(8);
  CHECK(backend->write(1, some).error().code == "E0803");
  CHECK(backend->read(1, some).error().code == "E0803");
  backend->release(12345);  // of no allocation: nothing happens

  for (const int width : {4, 8}) {
    for (const std::int64_t pitch : {std::int64_t{width}, std::int64_t{128}}) {
      const auto address = *backend->allocate(64 * 128);
      std::vector<std::byte> before(64 * 128, std::byte{0xee});
      REQUIRE(backend->write(address, before));
      std::vector<std::int64_t> offsets;
      std::vector<std::uint64_t> values;
      for (std::int64_t i = 63; i >= 0; --i) {
        offsets.push_back(i * pitch);
        values.push_back(static_cast<std::uint64_t>(i) + (width == 8 ? std::uint64_t{1} << 40 : 0));
      }
      REQUIRE(backend->scatter(address, offsets, values, width));
      std::vector<std::byte> after(64 * 128);
      REQUIRE(backend->read(address, after));
      auto expected = before;
      for (std::size_t i = 0; i < offsets.size(); ++i)
        std::memcpy(expected.data() + offsets[i], &values[i], static_cast<std::size_t>(width));
      CHECK(after == expected);
    }
  }
}

TEST_CASE_FIXTURE(Scene, "a kernel that does not load is E0801, with what the driver's compiler says") {
  const auto backend = device();
  auto bad = backend->load({device::Target::Form::Ptx, "bad", "k"});
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code == "E0801");
  REQUIRE(bad.error().notes.size() == 1);
  CHECK(bad.error().notes[0].message == "ptxas: it is bad");
  CHECK(backend->load({device::Target::Form::Ptx, "good", "missing"}).error().code == "E0801");
}

TEST_CASE_FIXTURE(Scene, "a launch comes after the flush and the copies before it, which go through the default stream") {
  const auto backend = device();
  CHECK(last_set(kFakeStreamFlags) == 0);
}

TEST_CASE_FIXTURE(Scene, "a launch that ends well tells the device's time; a shape that is refused harms nothing") {
  const auto backend = device();
  const auto kernel = kernel_on(*backend);
  const auto outcome = launch(*backend, kernel, 0);
  CHECK(outcome.done());
  CHECK(outcome.elapsed_seconds == doctest::Approx(1.5e-3));
  const auto made = contexts();
  CHECK(launch(*backend, kernel, 0, 5, {.block = 2048}).status == Outcome::Status::Fault);
  CHECK(launch(*backend, kernel, 0, 5, {.shared_bytes = 300000}).status == Outcome::Status::Fault);
  CHECK(contexts() == made);
  CHECK(launch(*backend, kernel, 0).done());
}

TEST_CASE_FIXTURE(Scene, "shared memory: opt-in, and the part that an SM sets aside") {
  const auto backend = device();
  const auto kernel = kernel_on(*backend);
  REQUIRE(launch(*backend, kernel, 0).done());
  CHECK(last_set(9) == 0);
  REQUIRE(launch(*backend, kernel, 0, 5, {.shared_bytes = 100 * 1024}).done());
  CHECK(last_set(8) == 100 * 1024);
  CHECK(last_set(9) == 47);  // 100 KiB and the block's own 1 KiB: within the step of 132 KiB
  REQUIRE(launch(*backend, kernel, 0, 5, {.carveout_bytes = 64 * 1024}).done());
  CHECK(last_set(9) == 17);  // within the step of 64 KiB
  const Environment now("FAKE_CUDA", "kepler");
  const auto old = device();
  REQUIRE(launch(*old, kernel_on(*old), 0, 5, {.carveout_bytes = 48 * 1024, .bank_bytes = 8}).done());
  CHECK(last_set(kFakeBankConfig) == 2);
  CHECK(last_set(kFakeCacheConfig) == 1);
}

TEST_CASE_FIXTURE(Scene, "a fault is an outcome; after it a new context works, and what was before is gone") {
  const auto backend = device();
  CHECK(backend->losses() == 0);
  const auto kernel = kernel_on(*backend);
  const auto address = *backend->allocate(64);
  const auto made = contexts();
  const auto outcome = launch(*backend, kernel, 700);
  CHECK(outcome.status == Outcome::Status::Fault);
  CHECK(outcome.what.find("ILLEGAL_ADDRESS") != std::string::npos);
  CHECK(contexts() == made + 1);
  CHECK(backend->losses() == 1);
  backend->release(address);  // of the old context: nothing happens
  CHECK(launch(*backend, kernel, 0).status == Outcome::Status::Fault);
  CHECK(launch(*backend, kernel_on(*backend), 0).done());
  const std::vector<std::int64_t> offsets = {0, 32};
  const std::vector<std::uint64_t> values = {1, 2};
  CHECK(backend->scatter(*backend->allocate(64), offsets, values, 8));
}

TEST_CASE_FIXTURE(Scene, "when the driver gives no new context, every later call says so") {
  const auto backend = device();
  const auto kernel = kernel_on(*backend);
  const Environment now("FAKE_CUDA", "no_second_context");
  CHECK(launch(*backend, kernel, 700).status == Outcome::Status::Fault);
  CHECK(launch(*backend, kernel, 0).status == Outcome::Status::Fault);
  CHECK(backend->allocate(64).error().code == "E0803");
  CHECK(backend->load({device::Target::Form::Cubin, "image", "k"}).error().code == "E0803");
  CHECK(asks(*backend, Requirement::Kind::MemoryBytes, 1).error().code == "E0803");
}

TEST_CASE_FIXTURE(Scene, "a kernel that never ends is a timeout, and the device is not touched again") {
  const auto backend = device();
  const auto kernel = kernel_on(*backend);
  const auto outcome = launch(*backend, kernel, kFakeNeverEnds, 0.05);
  CHECK(outcome.status == Outcome::Status::Timeout);
  CHECK(cuda::hung());
  CHECK(launch(*backend, kernel, 0).status == Outcome::Status::Timeout);
  CHECK(backend->allocate(64).error().code == "E0803");
}

TEST_CASE_FIXTURE(Scene, "an interrupt ends a launch, and none is started after it") {
  const auto backend = device();
  const auto kernel = kernel_on(*backend);
  std::thread ender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    cuda::request_interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    call<void (*)()>("fake_reset")();  // the kernel ends within the grace time
  });
  CHECK(launch(*backend, kernel, kFakeNeverEnds, 30).status == Outcome::Status::Interrupted);
  ender.join();
  CHECK(launch(*backend, kernel, 0).status == Outcome::Status::Interrupted);
  cuda::clear_interrupt();
  CHECK(launch(*backend, kernel, 0).done());
}
