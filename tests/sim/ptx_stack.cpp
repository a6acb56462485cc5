// SPDX-License-Identifier: Apache-2.0
// alloca, stacksave and stackrestore.
#include "tests/sim/support.h"

using namespace sim_test;

namespace {

const char* const kRegisters = ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; ld.param.u64 %rd9, [out]; mov.u32 %r9, %tid.x;\n";

/// Each thread's %r1 after `body`; %r9 is its number.
std::vector<std::uint32_t> each(const std::string& body, std::uint32_t threads = 4, const std::string& variables = {}) {
  Device device("h200");
  const std::uint64_t out = device.allocate(threads * 4);
  const auto kernel = device.load(module_of(".param .u64 out", kRegisters + body + "\nmad.wide.u32 %rd9, %r9, 4, %rd9; st.global.u32 [%rd9], %r1; ret;", variables));
  const Outcome outcome = device.launch(kernel, {{out, 8}}, {.block = threads});
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  return device.read<std::uint32_t>(out, threads);
}

std::string fault(const std::string& body) {
  Device device("h200");
  const auto out = device.allocate(8);
  return device.launch(device.load(module_of(".param .u64 out", kRegisters + body + "ret;")), {{out, 8}}).what;
}

std::string refusal(const std::string& body) {
  return refusal_of(module_of(".param .u64 out", kRegisters + body));
}

}  // namespace

TEST_CASE("alloca gives memory of the thread's own, apart from what it has already") {
  // Arrays of n and of 4 words; the first is filled with 0..n-1, the second with hundreds; the sum of the first is n (n - 1) / 2.
  const auto sums = each(R"(.local .align 8 .b32 mine[2]; st.local.u32 [mine], 5000; st.local.u32 [mine+4], 6000;
    add.u32 %r2, %r9, 3; mul.wide.u32 %rd1, %r2, 4; alloca.u64 %rd2, %rd1; alloca.u64 %rd3, 16, 32;
    st.local.v4.u32 [%rd3], {100, 200, 300, 400};
    mov.u32 %r3, 0; mov.u64 %rd4, %rd2;
    FILL: st.local.u32 [%rd4], %r3; add.u64 %rd4, %rd4, 4; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra FILL;
    mov.u32 %r1, 0; mov.u32 %r3, 0; mov.u64 %rd4, %rd2;
    SUM: ld.local.u32 %r4, [%rd4]; add.u32 %r1, %r1, %r4; add.u64 %rd4, %rd4, 4; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra SUM;
    ld.local.u32 %r4, [%rd3+12]; add.u32 %r1, %r1, %r4; ld.local.u32 %r4, [mine+4]; add.u32 %r1, %r1, %r4;
    and.b64 %rd5, %rd3, 31; cvt.u32.u64 %r5, %rd5; add.u32 %r1, %r1, %r5;)");
  for (std::uint32_t thread = 0; thread < 4; ++thread) CHECK(sums[thread] == (thread + 3) * (thread + 2) / 2 + 400 + 6000);
  // Through a generic address, and with a pointer of 32 bits.
  CHECK(each("alloca.u32 %r2, 8; st.local.u32 [%r2+4], 77; cvt.u64.u32 %rd1, %r2; cvta.local.u64 %rd1, %rd1; ld.u32 %r1, [%rd1+4];")[2] == 77);
  CHECK(each("alloca.u64 %rd1, 1; alloca.u64 %rd2, 1; and.b64 %rd3, %rd2, 7; sub.u64 %rd4, %rd2, %rd1; shl.b64 %rd4, %rd4, 8; add.u64 %rd3, %rd3, %rd4; cvt.u32.u64 %r1, %rd3;")[1] == 8 << 8);
}

TEST_CASE("a stack that was saved is restored, and a function's part goes with it") {
  // 4096 times 1 KiB, of which none is kept.
  CHECK(each("mov.u32 %r1, 0; AGAIN: stacksave.u64 %rd1; alloca.u64 %rd2, 1024; st.local.u32 [%rd2+1020], %r1; ld.local.u32 %r2, [%rd2+1020]; stackrestore.u64 %rd1;\n"
             "add.u32 %r1, %r2, 1; setp.lt.u32 %p1, %r1, 4096; @%p1 bra AGAIN;")[3] == 4096);
  const char* const function = ".func (.reg .u32 r) sum(.reg .u32 n) { .reg .u64 p; .reg .u32 v; .reg .pred q; alloca.u64 p, 100; st.local.u32 [p], n; mov.u32 r, 0; setp.eq.u32 q, n, 0; @q ret;"
                               "sub.u32 v, n, 1; call (r), sum, (v); ld.local.u32 v, [p]; add.u32 r, r, v; ret; }";
  // Each level keeps its own number; 400 times, so what a call was given must be free after it.
  CHECK(each("alloca.u64 %rd1, 4; mov.u32 %r3, 0; AGAIN: call (%r1), sum, (9); add.u32 %r3, %r3, 1; st.local.u32 [%rd1], %r3; setp.lt.u32 %p1, %r3, 400; @%p1 bra AGAIN;\n"
             "ld.local.u32 %r2, [%rd1]; add.u32 %r1, %r1, %r2;", 4, function)[1] == 45 + 400);
}

TEST_CASE("a stack that overflows, or is none, is a fault") {
  CHECK(fault("alloca.u64 %rd1, 8192; st.local.u32 [%rd1+8188], 1;").empty());
  CHECK(has(fault("alloca.u64 %rd1, 8193;"), "the stack of a thread overflows (PTX line "));
  CHECK(has(fault("alloca.u64 %rd1, -8;"), "overflows"));
  CHECK(has(fault("AGAIN: alloca.u64 %rd1, 64; bra AGAIN;"), "overflows"));
  CHECK(has(fault("alloca.u64 %rd1, 8; st.local.u32 [%rd1+100000], 1;"), "outside the thread's local memory"));
  CHECK(has(fault("stackrestore.u64 100000;"), "a stack that ends at 0x186a0"));
  CHECK(has(refusal("alloca.u64 %rd1, 8, 12;"), "of a form that is not supported"));
  CHECK(has(refusal("alloca.u64 %rd1, 8, %rd2;"), "of a form that is not supported"));
  CHECK(has(refusal("alloca.b64 %rd1, 8;"), "unknown instruction"));
}
