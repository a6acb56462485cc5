// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/jit/compiler.h"
#include "runtime/jit/locate.h"
#include "tests/sim/support.h"

using namespace sim_test;

namespace {

bool no_nvrtc() { return gexp::jit::locate_nvrtc().path.empty(); }

std::string ptx_of(const std::string& source) {
  auto compiler = gexp::jit::Compiler::open();
  if (!compiler) FAIL(compiler.error().message);
  gexp::jit::Request request;
  request.source = source;
  request.name = "test.cu";
  request.entry = std::string(1, 'k');
  auto compiled = compiler->compile(request);
  if (!compiled) FAIL(compiled.error().message);
  return compiled->image.bytes;
}

}  // namespace

TEST_CASE("needs NVRTC: a timed chase in CUDA measures the model's latency" * doctest::skip(no_nvrtc())) {
  const std::string source = R"(
    extern "C" __global__ void k(unsigned long long base, unsigned int steps, unsigned int* ticks) {
      extern __shared__ unsigned short trace[];
      unsigned long long at = base;
      unsigned int link, begin, end;
      #pragma unroll 1
      for (unsigned int i = 0; i < 2 * steps; ++i) {
        if (i == steps) at = base;
        asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");
        asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(link) : "l"(at) : "memory");
        asm volatile("mad.wide.u32 %0, %1, 4, %2;" : "=l"(at) : "r"(link), "l"(base) : "memory");
        asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");
        if (i >= steps) trace[i - steps] = end - begin < 65535u ? end - begin : 65535u;
      }
      #pragma unroll 1
      for (unsigned int i = 0; i < steps; ++i) ticks[i] = trace[i];
    })";
  struct Case {
    const char *model, *path;
    std::uint32_t latency, overhead;  // one load; clock and one mad
  };
  for (const auto& [model, path, latency, overhead] : {Case{"gtx560ti", "ca", 96, 15}, Case{"gtx780", "nc", 110, 17}, Case{"gtx980", "nc", 82, 7}}) {
    std::string text = source;
    text = ptx_of(text.replace(text.find(".nc."), 4, fmt::format(".{}.", path)));
    Device device(model);
    const std::uint64_t links = device.allocate(4096), ticks = device.allocate(512);
    std::vector<std::uint32_t> ring(1024);
    for (std::uint32_t i = 0; i < 1024; ++i) ring[i] = (i + 8) % 1024;
    device.write(links, ring);
    const Outcome outcome = device.launch(device.load(text), {{links, 8}, {128, 4}, {ticks, 8}}, LaunchShape{.shared_bytes = 256});
    REQUIRE_MESSAGE(outcome.done(), outcome.what);
    const auto seen = device.read<std::uint32_t>(ticks, 128);
    CHECK(std::count(seen.begin(), seen.end(), latency + overhead) == 128);
  }
}

TEST_CASE("needs NVRTC: ordinary CUDA computes what the host computes" * doctest::skip(no_nvrtc())) {
  const char* const source = R"(
    __constant__ int table[4] = {3, 1, 4, 1};
    __device__ int step(int x, int lane) {
      switch (x % 5) {
        case 0: return x * 3 + lane;
        case 1: return x / 2 - 7;
        case 2: return x ^ (x >> 3);
        case 3: return (int)((float)x * 1.5f) + table[lane & 3];
        default: return x < 0 ? -x : x + 1;
      }
    }
    extern "C" __global__ void k(int* out, int n) {
      __shared__ int peers[32];
      int lane = threadIdx.x, local[8];
      long long sum = 0;
      int x = lane * 37 - 200;
      for (int i = 0; i < n; ++i) {
        x = step(x, lane);
        local[i & 7] = x;
        sum += (long long)x * i;
        if (x > 1000000 || x < -1000000) x %= 1009;
      }
      peers[lane] = x;
      __syncthreads();
      out[lane] = peers[31 - lane] + local[(n + lane) & 7] + (int)(sum >> 7) + __popc(x) + (int)__umulhi(x, 77777u);
    })";
  const auto expected = [](int n) {
    const int table[4] = {3, 1, 4, 1};
    std::vector<std::int32_t> xs, rest;
    for (int lane = 0; lane < 32; ++lane) {
      int local[8] = {};
      long long sum = 0;
      int x = lane * 37 - 200;
      for (int i = 0; i < n; ++i) {
        switch (x % 5) {
          case 0: x = x * 3 + lane; break;
          case 1: x = x / 2 - 7; break;
          case 2: x = x ^ (x >> 3); break;
          case 3: x = static_cast<int>(static_cast<float>(x) * 1.5f) + table[lane & 3]; break;
          default: x = x < 0 ? -x : x + 1;
        }
        local[i & 7] = x;
        sum += static_cast<long long>(x) * i;
        if (x > 1000000 || x < -1000000) x %= 1009;
      }
      xs.push_back(x);
      const auto high = static_cast<std::uint64_t>(static_cast<std::uint32_t>(x)) * 77777u >> 32;
      rest.push_back(local[(n + lane) & 7] + static_cast<int>(sum >> 7) + __builtin_popcount(static_cast<unsigned>(x)) + static_cast<int>(high));
    }
    for (std::size_t lane = 0; lane < 32; ++lane) rest[lane] += xs[31 - lane];
    return rest;
  };
  Device device("gtx980");
  const auto kernel = device.load(ptx_of(source));
  for (const int n : {8, 33, 100}) {
    const std::uint64_t out = device.allocate(128);
    const Outcome outcome = device.launch(kernel, {{out, 8}, {static_cast<std::uint64_t>(n), 4}}, LaunchShape{.block = 32});
    REQUIRE_MESSAGE(outcome.done(), outcome.what);
    CHECK(device.read<std::int32_t>(out, 32) == expected(n));
  }
}

TEST_CASE("needs NVRTC: functions that stay functions, lanes that exchange, and pointers to functions" * doctest::skip(no_nvrtc())) {
  const char* const source = R"(
    __device__ __noinline__ int depth(int n, int* deepest) {
      int here[2] = {n, n * n};
      if (n > *deepest) *deepest = n;
      if (n <= 1) return here[n & 1];
      return here[n & 1] + depth(n - 1, deepest) + depth(n - 2, deepest);
    }
    __device__ __noinline__ int twice(int x) { return 2 * x; }
    __device__ __noinline__ int square(int x) { return x * x; }
    __device__ int (*choices[2])(int) = {twice, square};
    extern "C" __global__ void k(int* out, int n) {
      int lane = threadIdx.x, deepest = 0;
      int x = depth(lane % 6 + n, &deepest) + deepest;
      x += choices[lane & 1](lane);
      for (int by = 16; by > 0; by /= 2) x += __shfl_xor_sync(0xffffffffu, x, by);
      unsigned odd = __ballot_sync(0xffffffffu, lane & 1);
      int some = __syncthreads_count(lane > 20), mine = 0;
      if (lane % 3 == 0) mine = __popc(__activemask());
      out[lane] = x + (int)(odd >> 24) + some + mine;
    })";
  const auto depth = [](auto self, int n) -> int {
    const int here[2] = {n, n * n};
    return n <= 1 ? here[n & 1] : here[n & 1] + self(self, n - 1) + self(self, n - 2);
  };
  int sum = 0;
  for (int lane = 0; lane < 32; ++lane) sum += depth(depth, lane % 6 + 4) + lane % 6 + 4 + ((lane & 1) != 0 ? lane * lane : 2 * lane);
  Device device("gtx980");
  const std::uint64_t out = device.allocate(128);
  const Outcome outcome = device.launch(device.load(ptx_of(source)), {{out, 8}, {4, 4}}, LaunchShape{.block = 32});
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  const auto seen = device.read<std::int32_t>(out, 32);
  CHECK(seen[0] == sum + 0xaa + 11 + 11);
  CHECK(seen[31] == sum + 0xaa + 11);
}
