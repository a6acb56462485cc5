// SPDX-License-Identifier: Apache-2.0
// The CUDA backend on a real GPU. Exit code 77 and "SKIPPED: no GPU" where there is none.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "runtime/cuda/cuda.h"
#include "runtime/jit/compiler.h"

using namespace gexp;
using device::Argument;
using device::Backend;
using device::LaunchShape;
using device::Outcome;

namespace {

constexpr const char* kSource = R"(
// One thread follows a ring of links that each hold the next element's index. The second clock waits for an ALU use of what was loaded.
extern "C" __global__ void chase(const unsigned* ring, unsigned warm, unsigned steps, unsigned* cycles, unsigned* last) {
  unsigned at = 0, used = 0;
  for (unsigned i = 0; i < warm; ++i) at = __ldca(ring + at);
  unsigned begin, end, total = 0;
#pragma unroll 1
  for (unsigned i = 0; i < steps; ++i) {
    asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");
    at = __ldca(ring + at);
    asm volatile("xor.b32 %0, %0, %1;" : "+r"(used) : "r"(at) : "memory");
    asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");
    total += end - begin;
  }
  *cycles = total;
  *last = at;
  cycles[2] = used;
}
extern "C" __global__ void store(unsigned* p, unsigned value) { *p = value; }
extern "C" __global__ void fill_shared(unsigned* out, unsigned words) {
  extern __shared__ unsigned room[];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) room[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) *out = room[words - 1];
}
extern "C" __global__ void wait(unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now - begin < ns);
}
extern "C" __global__ void trap() { asm volatile("trap;"); }
)";

jit::Compiler& compiler() {
  static auto opened = jit::Compiler::open();
  return *opened;  // none is a failed check of Result: this is also called outside doctest
}

device::KernelId kernel(Backend& backend, const char* entry) {
  auto compiled = compiler().compile({kSource, "gpu.cu", entry, backend.target(), {}});
  GEXP_CHECK(compiled.ok());
  auto id = backend.load(compiled->image);
  GEXP_CHECK(id.ok());
  return *id;
}

std::unique_ptr<Backend> open_device() {
  auto opened = cuda::open(0);
  if (!opened) FAIL(opened.error().message);
  return std::move(*opened);
}

Argument pointer(std::uint64_t address) { return {address, 8}; }
Argument word32(std::uint32_t value) { return {value, 4}; }

Outcome launch(Backend& backend, device::KernelId id, std::vector<Argument> arguments, LaunchShape shape = {},
               double limit = 20) {
  return backend.launch(id, shape, arguments, limit);
}

std::uint32_t word_at(Backend& backend, std::uint64_t address) {
  std::uint32_t value = 0;
  CHECK(backend.read(address, std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

/// Mean cycles of an access in a ring of 128-byte steps over `bytes`, after one round; over many, so that cold instructions do
/// not show.
double chase_latency(Backend& backend, std::uint64_t bytes, const LaunchShape& shape) {
  const auto steps = static_cast<std::uint32_t>(bytes / 128);
  const auto timed = steps * std::max(1U, 16384 / steps);
  const auto ring = *backend.allocate(bytes, 4096);
  const auto out = *backend.allocate(12);
  std::vector<std::int64_t> offsets;
  std::vector<std::uint64_t> values;
  for (std::uint32_t i = 0; i < steps; ++i) {
    offsets.push_back(std::int64_t{i} * 128);
    values.push_back(std::uint64_t{(i + 1) % steps} * 32);
  }
  REQUIRE(backend.scatter(ring, offsets, values, 4));
  const auto outcome = launch(backend, kernel(backend, "chase"),
                              {pointer(ring), word32(steps), word32(timed), pointer(out), pointer(out + 4)}, shape);
  CHECK_MESSAGE(outcome.done(), outcome.what);
  CHECK(outcome.elapsed_seconds > 0);
  CHECK(word_at(backend, out + 4) == 0);  // whole rounds
  const auto cycles = word_at(backend, out);
  backend.release(ring);
  backend.release(out);
  return static_cast<double>(cycles) / timed;
}

/// Starts this program again with one argument: a process that hangs its GPU must be another than the tests'.
int run_self(const char* mode) {
  const auto pid = fork();
  if (pid == 0) {
    execl("/proc/self/exe", "test_gpu", mode, static_cast<char*>(nullptr));
    _exit(126);
  }
  for (int i = 0; i < 300; ++i) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  kill(pid, SIGKILL);
  return -1;
}

/// What run_self("--hang") runs. 0: all as it should be.
int hang() {
  auto opened = cuda::open(0);
  if (!opened) return 2;
  auto& backend = **opened;
  const auto id = kernel(backend, "wait");
  const Argument forever{~std::uint64_t{0}, 8};
  const auto start = std::chrono::steady_clock::now();
  const auto outcome = backend.launch(id, {}, {&forever, 1}, 0.5);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (outcome.status != Outcome::Status::Timeout || seconds > 2 || !cuda::hung()) return 3;
  if (backend.launch(id, {}, {&forever, 1}, 0.5).status != Outcome::Status::Timeout) return 4;
  if (backend.allocate(64)) return 5;
  std::_Exit(0);
}

/// What run_self("--fault-…") runs. After a fault a driver may give a new context or, as 580 does, none to this process; then
/// every call must say so. 0: one or the other.
int fault(const std::string& mode) {
  auto opened = cuda::open(0);
  if (!opened) return 2;
  auto& backend = **opened;
  const auto store = kernel(backend, mode == "--fault-trap" ? "trap" : "store");
  const auto before = *backend.allocate(64);
  const auto address = mode == "--fault-null" ? 64 : before + 2;
  const auto outcome = launch(backend, store, {pointer(address), word32(1)});
  std::printf("%s: %s\n", mode.c_str(), outcome.what.c_str());
  if (outcome.status != Outcome::Status::Fault) return 3;
  if (launch(backend, store, {pointer(before), word32(1)}).status != Outcome::Status::Fault) return 4;  // from before the fault
  backend.release(before);
  auto address_after = backend.allocate(64);
  if (!address_after) {
    std::printf("  then: %s\n", address_after.error().message.c_str());
    return address_after.error().code == "E0803" ? 0 : 5;
  }
  std::uint32_t value = 0;
  if (!launch(backend, kernel(backend, "store"), {pointer(*address_after), word32(42)}).done()) return 6;
  if (!backend.read(*address_after, std::as_writable_bytes(std::span(&value, 1))) || value != 42) return 7;
  return 0;
}

}  // namespace

TEST_CASE("the device describes itself") {
  auto list = cuda::devices();
  REQUIRE(list);
  for (const auto& d : *list) {
    std::printf(
        "%s %s (%s) %d.%d, %d SMs, %.0f MHz, %.1f GiB, L2 %.1f MiB, shared %llu/%llu B, driver %s, ECC %d, MIG %d, %s\n",
        d.id.c_str(), d.name.c_str(), d.selector.c_str(), d.compute_major, d.compute_minor, d.sms, d.sm_clock_hz / 1e6,
        static_cast<double>(d.memory_bytes) / (1 << 30), static_cast<double>(d.l2_bytes) / (1 << 20),
        static_cast<unsigned long long>(d.shared_per_block), static_cast<unsigned long long>(d.shared_per_sm), d.driver.c_str(),
        d.ecc, d.mig, d.uuid.c_str());
    CHECK(d.sms > 0);
    CHECK(d.sm_clock_hz > 1e8);
    CHECK(d.driver.find('.') != std::string::npos);
  }
}

TEST_CASE("links reach a sparse and a dense array, in both widths, and nothing else changes") {
  const auto backend = open_device();
  for (const int width : {4, 8}) {
    for (const std::int64_t pitch : {std::int64_t{width}, std::int64_t{64}}) {
      const std::size_t count = (std::size_t{1} << 20) + 12345;  // more than is staged at a time
      const auto bytes = count * static_cast<std::size_t>(pitch);
      const auto address = *backend->allocate(bytes, 2 << 20);
      CHECK(address % (2 << 20) == 0);
      std::vector<std::byte> expected(bytes, std::byte{0xa5}), found(bytes);
      REQUIRE(backend->write(address, expected));
      std::vector<std::int64_t> offsets(count);
      std::vector<std::uint64_t> values(count);
      for (std::size_t i = 0; i < count; ++i) {
        offsets[i] = static_cast<std::int64_t>(count - 1 - i) * pitch;
        values[i] = i * 0x100000001;
        std::memcpy(expected.data() + offsets[i], &values[i], static_cast<std::size_t>(width));
      }
      REQUIRE(backend->scatter(address, offsets, values, width));
      REQUIRE(backend->read(address, found));
      CHECK(found == expected);
      backend->release(address);
    }
  }
}

TEST_CASE("a chase runs, and the carve-out decides what its L1 holds") {
  const auto backend = open_device();
  const auto& info = backend->device();
  const double small = chase_latency(*backend, 4096, {});
  std::printf("chase of 4 KiB: %.1f cycles an access\n", small);
  CHECK(small > 10);
  CHECK(small < 200);
  if (info.compute_major >= 8) {
    const auto bytes = info.shared_per_sm / 2;
    const double cached = chase_latency(*backend, bytes, {.carveout_bytes = -1});
    const double evicted = chase_latency(*backend, bytes, {.carveout_bytes = static_cast<std::int64_t>(info.shared_per_sm)});
    std::printf("chase of %llu B: %.1f cycles with all of L1, %.1f with the least\n", static_cast<unsigned long long>(bytes),
                cached, evicted);
    CHECK(cached < small * 1.1);
    CHECK(evicted > small * 2);
  }
}

TEST_CASE("a block gets all the shared memory that the device says it can have") {
  const auto backend = open_device();
  const auto out = *backend->allocate(4);
  const auto most = static_cast<std::uint32_t>(backend->device().shared_per_block);
  const auto fill = kernel(*backend, "fill_shared");
  for (const std::uint32_t bytes : {1024U, 48U * 1024, most}) {
    const auto outcome = launch(*backend, fill, {pointer(out), word32(bytes / 4)}, {.block = 128, .shared_bytes = bytes});
    CHECK_MESSAGE(outcome.done(), outcome.what);
    CHECK(word_at(*backend, out) == bytes / 4 - 1);
  }
  CHECK(launch(*backend, fill, {pointer(out), word32(1)}, {.shared_bytes = most + 4}).status == Outcome::Status::Fault);
  CHECK(launch(*backend, fill, {pointer(out), word32(1)}, {.block = 4096}).status == Outcome::Status::Fault);
  CHECK(launch(*backend, fill, {pointer(out), word32(1)}, {.shared_bytes = 1024}).done());  // nothing was harmed
}

TEST_CASE("a fault is an outcome, and other processes do not notice") {
  const auto backend = open_device();
  const auto wait = kernel(*backend, "wait");
  for (const char* mode : {"--fault-null", "--fault-misaligned", "--fault-trap"}) {
    CAPTURE(mode);
    CHECK(run_self(mode) == 0);
    CHECK(launch(*backend, wait, {{1000, 8}}).done());
  }
}

TEST_CASE("an interrupt ends the wait and leaves the device usable") {
  const auto backend = open_device();
  const auto wait = kernel(*backend, "wait");
  std::thread sender([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cuda::request_interrupt();
  });
  CHECK(launch(*backend, wait, {{300'000'000, 8}}).status == Outcome::Status::Interrupted);
  sender.join();
  cuda::clear_interrupt();
  CHECK(launch(*backend, wait, {{1000, 8}}).done());
}

TEST_CASE("code for another device, and text that is none, are E0801") {
  const auto backend = open_device();
  CHECK(backend->load({device::Target::Form::Ptx, ".version 6.0\nnonsense\n", "k"}).error().code == "E0801");
  const int other = backend->target().major == 7 ? 90 : 75;
  auto compiled = compiler().compile({kSource, "gpu.cu", "store", {device::Target::Form::Cubin, other / 10, other % 10}, {}});
  if (compiled) CHECK(backend->load(compiled->image).error().code == "E0801");
}

TEST_CASE("a kernel that never ends is a timeout, and its process's end frees the GPU") {
  CHECK(run_self("--hang") == 0);
  const auto backend = open_device();
  CHECK(launch(*backend, kernel(*backend, "wait"), {{1000, 8}}).done());
}

TEST_CASE("short launches cost little") {
  const auto backend = open_device();
  const auto wait = kernel(*backend, "wait");
  constexpr int kLaunches = 2000;
  double device_seconds = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kLaunches; ++i) device_seconds += launch(*backend, wait, {{0, 8}}).elapsed_seconds;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("launch and wait: %.1f us, of these on the device %.1f us\n", seconds / kLaunches * 1e6,
              device_seconds / kLaunches * 1e6);
  CHECK(seconds / kLaunches < 1e-3);
}

int main(int argc, char** argv) {
  auto list = cuda::devices();
  if (!list) {
    std::printf("SKIPPED: no GPU (%s)\n", list.error().message.c_str());
    return 77;
  }
  if (argc > 1 && std::strcmp(argv[1], "--hang") == 0) return hang();
  if (argc > 1 && std::string_view(argv[1]).starts_with("--fault-")) return fault(argv[1]);
  doctest::Context context(argc, argv);
  return context.run();
}
