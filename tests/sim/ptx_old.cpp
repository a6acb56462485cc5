// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_parse.h"
#include "tests/sim/support.h"

// Texts of compilers before NVRTC 11.8, and what CUDA's own headers read of the driver.
using namespace sim_test;

namespace {

std::uint64_t of_text(const std::string& text, LaunchShape shape = {}) {
  Device device("gtx780");
  const std::uint64_t out = device.allocate(8);
  const Outcome outcome = device.launch(device.load(text), {{out, 8}}, shape);
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  return device.read<std::uint64_t>(out, 1)[0];
}

}  // namespace

TEST_CASE("a function that is declared without a semicolon ends before what follows") {
  CHECK(of_text(R"(
.version 2.1
.target sm_20
.visible .func (.param .u64 r) twice (.param .u64 x)

.visible .func (.param .u64 r) thrice (.param .u64 x)

.file 1 "a.cu"
.func (.param .u64 r) never (.param .u64 x)
.extern .shared .align 8 .b8 dynamic[];
.global .u64 seven = 7;
.visible .func (.param .u64 r) twice (.param .u64 x)
{
  .reg .u64 %rd<3>;
  ld.param.u64 %rd1, [x];
  add.u64 %rd2, %rd1, %rd1;
  st.param.u64 [r], %rd2;
  ret;
}
.entry k (.param .u64 out)
{
  .reg .u64 %rd<9>;
  .param .u64 argument;
  .param .u64 result;
  mov.u64 %rd1, dynamic;
  ld.global.u64 %rd2, [seven];
  st.param.u64 [argument], %rd2;
  call (result), twice, (argument);
  ld.param.u64 %rd3, [result];
  add.u64 %rd3, %rd3, %rd1;
  ld.param.u64 %rd4, [out];
  st.global.u64 [%rd4], %rd3;
  exit;
}
)", {.grid = 1, .block = 1, .shared_bytes = 64}) == 14);
}

TEST_CASE("a module has registers and local variables of all its functions") {
  CHECK(of_text(R"(
.version 2.0
.target sm_20
.reg .u64 %shared<2>, alone;
.local .u64 apart[2];
.func add_both ()
{
  ld.local.u64 %shared1, [apart+8];
  add.u64 alone, alone, %shared1;
  ret;
}
.entry k (.param .u64 out)
{
  .reg .u64 %rd<3>;
  mov.u64 alone, 30;
  mov.u64 %rd1, 12;
  st.local.u64 [apart+8], %rd1;
  call add_both;
  ld.param.u64 %rd2, [out];
  st.global.u64 [%rd2], alone;
  exit;
}
)") == 42);
}

TEST_CASE("a texture reference is read, and refers to nothing") {
  const std::string text = R"(
.version 2.1
.target sm_20
.global .texref colours;
.global .samplerref between;
.tex .u64 older;
.entry k (.param .u64 out)
{
  .reg .u32 %r<9>;
  .reg .u64 %rd<3>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r5, %nctaid.x;
  setp.gt.u32 %p1, %r5, 1;
  @!%p1 bra $end;
  tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [colours, {%r5, %r5, %r5, %r5}];
  tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [older, {%r5}];
  tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [colours, between, {%r5}];
$end:
  st.global.u32 [%rd1], %r5;
  exit;
}
)";
  CHECK(of_text(text) == 1);
  Device device("gtx780");
  const Outcome outcome = device.launch(device.load(text), {{device.allocate(8), 8}}, {.grid = 2});
  CHECK(outcome.status == Outcome::Status::Fault);
  CHECK(outcome.what == "a fetch from what is no texture: a reference that nothing is bound to (PTX line 15)");
}

TEST_CASE("blocks of a grid meet at memory of the driver's") {
  // Each block adds one at the grid's word; the last to come writes how many were there.
  const std::string body = R"(
  .reg .u32 %r<9>; .reg .u64 %rd<9>; .reg .pred %p<3>;
  mov.u32 %r1, %envreg1;
  mov.u32 %r2, %envreg2;
  mov.b64 %rd1, {%r2, %r1};
  ld.param.u64 %rd2, [out];
  mov.u32 %r5, %nctaid.x;
  atom.global.add.u32 %r3, [%rd1+4], 1;
$wait:
  ld.volatile.global.u32 %r4, [%rd1+4];
  setp.lt.u32 %p1, %r4, %r5;
  @%p1 bra $wait;
  add.u32 %r3, %r3, 1;
  setp.eq.u32 %p2, %r3, %r5;
  @%p2 st.global.u32 [%rd2], %r4;
  ret;)";
  Device device("gtx780");
  CHECK(device.run(body, 1, {.grid = 24})[0] == 24);
  const auto kernel = device.load(module_of(".param .u64 out", body));
  const Outcome outcome = device.launch(kernel, {{device.allocate(8), 8}}, {.grid = 100000});
  CHECK(outcome.status == Outcome::Status::Fault);
  CHECK(outcome.what == "the blocks of its grid meet, and of 100000 blocks 192 run at once");
}

TEST_CASE("shared memory that is reserved for groups of warps is the block's own") {
  Device device("gtx780");
  const auto values = device.run(R"(
  .reg .u32 %r<9>; .reg .u64 %rd<9>;
  .shared .align 4 .b8 own[40];
  mov.u32 %r1, %reserved_smem_offset_1;
  mov.u32 %r2, own;
  mov.u32 %r3, 5;
  mov.u32 %r4, 6;
  st.shared.u32 [%r2+36], %r3;
  st.shared.u32 [%r1], %r4;
  st.shared.u32 [%r1+284], %r4;
  ld.shared.u32 %r5, [%r2+36];
  mov.u32 %r6, %total_smem_size;
  ld.param.u64 %rd1, [out];
  cvt.u64.u32 %rd2, %r5;
  cvt.u64.u32 %rd3, %r6;
  st.global.u64 [%rd1], %rd2;
  st.global.u64 [%rd1+8], %rd3;
  ret;)", 2);
  CHECK(values[0] == 5);
  CHECK(values[1] >= 40 + 288);
}
