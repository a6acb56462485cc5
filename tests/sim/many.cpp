// SPDX-License-Identifier: Apache-2.0
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
