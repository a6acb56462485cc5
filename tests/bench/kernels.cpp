// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "runtime/sim/random.h"
#include "runtime/sim/sim.h"

// Launches alone: no compiler, no records, no inference. The time is the processor's, so that a busy machine matters less.
namespace gexp::bench {
namespace {

constexpr int kRuns = 5;

struct Row {
  const char* name;
  const char* device;
  std::uint32_t blocks, threads;
  std::uint64_t steps;  ///< of the loop
  const char* path;     ///< of a chase's loads
  std::uint64_t ring;   ///< bytes over which the links of a chase lie in random order; 0: no links
  const char* loop;     ///< what a step does; %rd1 array, %rd4 address, %r1 to %r4 and %f1 to %f4 registers, %r9 the thread's number
};

/// As the shipped experiments read one element after the other, in one access of a warm-up and in a timed one.
constexpr const char* kChase = "ld.global.{0}.u32 %r1, [%rd4]; mad.wide.u32 %rd4, %r1, 4, %rd1;";
constexpr const char* kTimed =
    "mov.u32 %r2, %clock; ld.global.{0}.u32 %r1, [%rd4]; mad.wide.u32 %rd4, %r1, 4, %rd1; mov.u32 %r3, %clock; sub.u32 %r4, %r3, %r2;"
    " st.shared.u32 [%r8], %r4;";
constexpr const char* kReads =
    "and.b32 %r1, %r7, 1023; mad.lo.u32 %r1, %r1, 12288, %r9; mul.wide.u32 %rd4, %r1, 4; add.u64 %rd4, %rd4, %rd1;"
    " ld.global.cg.u32 %r2, [%rd4]; add.u32 %r3, %r3, %r2;";
constexpr const char* kIntegers =
    "mad.lo.u32 %r1, %r1, %r2, %r9; add.u32 %r2, %r2, %r1; shl.b32 %r3, %r1, 3; xor.b32 %r4, %r3, %r2; sub.u32 %r1, %r1, %r4;"
    " and.b32 %r2, %r2, 4095; max.u32 %r3, %r3, %r1; shr.u32 %r4, %r4, 2;";
constexpr const char* kFloats =
    "fma.rn.f32 %f1, %f1, %f2, %f3; add.f32 %f2, %f2, %f1; mul.f32 %f3, %f3, %f1; fma.rn.f32 %f4, %f3, %f2, %f1;"
    " fma.rn.f32 %f1, %f4, %f2, %f3; add.f32 %f4, %f4, %f3; fma.rn.f32 %f2, %f2, %f4, %f1; mul.f32 %f3, %f4, %f1;";

constexpr Row kRows[] = {
    {"chase, hits in the SM", "gtx780", 1, 1, 1'000'000, "nc", 8 << 10, kChase},
    {"chase, hits in the L2", "gtx780", 1, 1, 500'000, "cg", 768 << 10, kChase},
    {"chase, memory", "h200", 1, 1, 300'000, "cg", 96 << 20, kChase},
    {"chase, timed", "h200", 1, 1, 300'000, "ca", 64 << 10, kTimed},
    {"chases side by side, timed, 8 SMs", "h200", 8, 1, 60'000, "ca", 64 << 10, kTimed},
    {"reads of the L2, 32 warps", "gtx780", 1, 1024, 1'500, "", 0, kReads},
    {"reads of the L2, 384 warps on 12 SMs", "gtx780", 12, 1024, 200, "", 0, kReads},
    {"integer arithmetic, 32 warps", "gtx780", 1, 1024, 4'000, "", 0, kIntegers},
    {"float arithmetic, 32 warps", "gtx780", 1, 1024, 4'000, "", 0, kFloats},
    {"integer arithmetic, one thread", "gtx780", 1, 1, 500'000, "", 0, kIntegers},
};

std::string text_of(const Row& row) {
  return fmt::format(R"(.version 7.8
.target sm_35
.address_size 64
.visible .entry k(.param .u64 array, .param .u32 steps) {{
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<8>;
  .shared .align 4 .b8 trace[64];
  ld.param.u64 %rd1, [array]; ld.param.u32 %r6, [steps];
  mov.u32 %r9, %tid.x; mov.u32 %r5, %ctaid.x; mad.lo.u32 %r9, %r5, 1024, %r9;
  mov.u64 %rd4, %rd1; mov.u32 %r8, trace; mov.u32 %r7, 0; mov.u32 %r2, 77;
  mov.f32 %f1, 0f3F000000; mov.f32 %f2, 0f3E800000; mov.f32 %f3, 0f3E000000;
LOOP:
  {0}
  {0}
  {0}
  {0}
  add.u32 %r7, %r7, 4;
  setp.lt.u32 %p1, %r7, %r6;
  @%p1 bra LOOP;
  st.global.u32 [%rd1], %r1;
  ret;
}}
)", fmt::format(fmt::runtime(row.loop), row.path));
}

/// Links in random order: one ring through all lines.
std::vector<std::uint32_t> links(std::uint64_t bytes) {
  constexpr std::uint32_t kLine = 32;  // elements
  std::vector<std::uint32_t> order(bytes / 4 / kLine), elements(bytes / 4);
  for (std::uint32_t k = 0; k < order.size(); ++k) order[k] = k * kLine;
  sim::Random random(7);
  for (std::size_t k = order.size() - 1; k > 1; --k) std::swap(order[k], order[1 + random.below(static_cast<std::uint32_t>(k))]);
  for (std::size_t k = 0; k < order.size(); ++k) elements[order[k]] = order[(k + 1) % order.size()];
  return elements;
}

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

}  // namespace

void kernels(const std::string& filter) {
  fmt::print("{:<44} {:>10}  {:>9}\n", "simulated kernels, of a processor second", "million", "ns");
  fmt::print("{:<44} {:>10}  {:>9}\n", "", "thread-i.", "warp-i.");
  for (const Row& row : kRows) {
    if (std::string_view(row.name).find(filter) == std::string_view::npos) continue;
    auto device = sim::open(row.device);
    if (!device) stop(device.error().message);
    auto& backend = **device;
    const auto array = backend.allocate(std::max<std::uint64_t>(row.ring, 64 << 20));
    const auto kernel = backend.load({device::Target::Form::Ptx, text_of(row), "k"});
    if (!array || !kernel) stop(array ? kernel.error().message : array.error().message);
    if (row.ring > 0) {
      const auto elements = links(row.ring);
      if (!backend.write(*array, std::as_bytes(std::span(elements)))) stop("no room for the links");
    }
    const device::Argument arguments[] = {device::pointer(*array), {row.steps, 4}};
    double best = 1e9, executed = 0;
    for (int run = 0; run < kRuns; ++run) {
      const auto before = sim::instructions_executed();
      const auto start = std::clock();
      const auto outcome = backend.launch(*kernel, {.grid = row.blocks, .block = row.threads}, arguments, 600);
      const double time = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      if (!outcome.done()) stop(fmt::format("{}: {}", row.name, outcome.what));
      executed = static_cast<double>(sim::instructions_executed() - before);
      best = std::min(best, time);
    }
    fmt::print("{:<44} {:10.1f}  {:9.1f}\n", row.name, executed * std::min(row.threads, 32u) / best / 1e6, best / executed * 1e9);
  }
}

}  // namespace gexp::bench
