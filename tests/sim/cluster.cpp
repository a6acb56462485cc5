// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster: each other's shared memory, their barrier, and what both take.
#include <algorithm>
#include <numeric>

#include "runtime/sim/sim.h"
#include "tests/sim/support.h"

using namespace gexp;
using namespace sim_test;

namespace {

/// Each block of one thread writes 100 + its number, meets the others, reads what the block of the next rank has, and how long that took.
const char* const kNeighbour = R"(
  .reg .b32 %r<20>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank;
  mov.u32 %r4, x; add.u32 %r5, %r1, 100; st.shared.u32 [%r4], %r5;
  barrier.cluster.arrive; barrier.cluster.wait;
  add.u32 %r6, %r2, 1; rem.u32 %r6, %r6, %r3;
  mapa.shared::cluster.u32 %r7, %r4, %r6;
  mov.u64 %rd2, %clock64;
  ld.shared::cluster.u32 %r8, [%r7];
  add.u32 %r9, %r8, 0;
  mov.u64 %rd3, %clock64;
  sub.u64 %rd3, %rd3, %rd2;
  cvt.u64.u32 %rd4, %r9;
  mul.wide.u32 %rd5, %r1, 16; add.u64 %rd5, %rd1, %rd5;
  st.global.u64 [%rd5], %rd4; st.global.u64 [%rd5+8], %rd3;
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;)";
const char* const kVariable = ".shared .align 4 .b8 x[64];";

}  // namespace

TEST_CASE("blocks of a cluster read each other's shared memory, which takes what the model says") {
  Device device("h200");
  const auto read = device.run(kNeighbour, 16, {.grid = 8, .cluster = 4}, kVariable);
  for (std::uint64_t block = 0; block < 8; ++block) {
    CAPTURE(block);
    CHECK(read[2 * block] == 100 + block / 4 * 4 + (block + 1) % 4);
    CHECK(read[2 * block + 1] > 180);
    CHECK(read[2 * block + 1] < 200);
  }
  // Alone, the next block is the own one: no way to go.
  const auto alone = device.run(kNeighbour, 4, {.grid = 2}, kVariable);
  CHECK(alone[0] == 100);
  CHECK(alone[2] == 101);
  CHECK(alone[1] < 40);
}

TEST_CASE("a cluster starts as a whole, on multiprocessors of its own, and later ones when there is room") {
  Device device("h200");
  const auto read = device.run(kNeighbour, 2 * 1024, {.grid = 1024, .cluster = 8, .shared_bytes = 200 << 10}, kVariable);
  std::vector<std::uint64_t> wrong;
  for (std::uint64_t block = 0; block < 1024; ++block) {
    if (read[2 * block] != 100 + block / 8 * 8 + (block + 1) % 8) wrong.push_back(block);
  }
  CHECK(wrong.empty());
}

TEST_CASE("the blocks of a cluster run in one GPC, and clusters spread over all of them") {
  Device device("h200");
  const auto sms = device.run(".reg .b32 %r<5>; .reg .b64 %rd<9>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %smid; mov.u32 %r2, %ctaid.x; mad.wide.u32 %rd3, %r2, 8, %rd1;"
                              "cvt.u64.u32 %rd2, %r1; st.global.u64 [%rd3], %rd2; barrier.cluster.arrive; barrier.cluster.wait; ret;", 64, {.grid = 64, .cluster = 8});
  std::vector<std::uint64_t> gpcs, again(sms.begin(), sms.end());
  for (std::size_t block = 0; block < 64; ++block) CHECK(sms[block] / 2 % 8 == sms[block / 8 * 8] / 2 % 8);
  for (std::size_t cluster = 0; cluster < 8; ++cluster) gpcs.push_back(sms[cluster * 8] / 2 % 8);
  for (auto* list : {&gpcs, &again}) {
    std::sort(list->begin(), list->end());
    CHECK(std::adjacent_find(list->begin(), list->end()) == list->end());
  }
}

TEST_CASE("of an address in a cluster's shared memory it can be asked whose it is") {
  Device device("h200");
  // The next block's variable: its rank, that of the own one, and in which windows both are, a bit each.
  const auto read = device.run(R"(
  .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r4, x; add.u32 %r6, %r2, 1; and.b32 %r6, %r6, 1;
  mapa.shared::cluster.u32 %r7, %r4, %r6; getctarank.shared::cluster.u32 %r8, %r7; getctarank.shared::cluster.u32 %r9, %r4;
  cvt.u64.u32 %rd2, %r4; cvta.shared.u64 %rd2, %rd2; mapa.u64 %rd3, %rd2, %r6; mapa.u64 %rd6, %rd2, %r2; getctarank.u64 %r10, %rd3;
  isspacep.shared::cta %p1, %rd3; isspacep.shared::cluster %p2, %rd3; isspacep.shared %p3, %rd2; isspacep.shared %p4, %rd6; isspacep.global %p5, %rd3;
  selp.u32 %r11, 1, 0, %p1; @%p2 or.b32 %r11, %r11, 2; @%p3 or.b32 %r11, %r11, 4; @%p4 or.b32 %r11, %r11, 8; @%p5 or.b32 %r11, %r11, 16;
  shl.b32 %r8, %r8, 8; shl.b32 %r9, %r9, 12; shl.b32 %r10, %r10, 16; or.b32 %r11, %r11, %r8; or.b32 %r11, %r11, %r9; or.b32 %r11, %r11, %r10;
  cvt.u64.u32 %rd4, %r11; mul.wide.u32 %rd5, %r1, 8; add.u64 %rd5, %rd1, %rd5; st.global.u64 [%rd5], %rd4;
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;)", 2, {.grid = 2, .cluster = 2}, kVariable);
  CHECK(read[0] == 0x1010e);
  CHECK(read[1] == 0x0100e);
}

TEST_CASE("stores and atomic operations reach the other block; what is not there is a fault") {
  Device device("h200");
  const auto body = [](const std::string& access) {
    return fmt::format(".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %cluster_ctarank; mov.u32 %r4, x; st.shared.u32 [%r4], 5;"
                       "barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %p, %r1, 1; mapa.shared::cluster.u32 %r7, %r4, 0; {}"
                       "barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %p, %r1, 0; ld.shared.u32 %r8, [%r4]; cvt.u64.u32 %rd4, %r8; @%p st.global.u64 [%rd1], %rd4; ret;",
                       access);
  };
  CHECK(device.run(body("@%p st.shared::cluster.u32 [%r7], 7;"), 1, {.grid = 2, .cluster = 2}, kVariable)[0] == 7);
  CHECK(device.run(body("atom.shared::cluster.add.u32 %r5, [%r7], 10;"), 1, {.grid = 2, .cluster = 2}, kVariable)[0] == 25);
  const auto ends = [&](const std::string& access, LaunchShape shape) {
    const auto out = device.allocate(64);
    return device.launch(device.load(module_of(".param .u64 out", body(access), kVariable)), {{out, 8}}, shape);
  };
  CHECK(ends("mapa.shared::cluster.u32 %r7, %r4, 2; ld.shared::cluster.u32 %r5, [%r7];", {.grid = 2, .cluster = 2}).what.find("the cluster does not have") != std::string::npos);
  CHECK(ends("@%p exit; mov.u32 %r3, 0; w: add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 999; @%p bra w; mapa.shared::cluster.u32 %r7, %r4, 1; ld.shared::cluster.u32 %r5, [%r7];",
             {.grid = 2, .cluster = 2}).what.find("has ended") != std::string::npos);
  CHECK(ends("", {.grid = 3, .cluster = 2}).what.find("cut into clusters") != std::string::npos);
  CHECK(ends("", {.grid = 32, .cluster = 16}).what.find("8 at most") != std::string::npos);
}

TEST_CASE("a thread that has ended is waited for no more, and one that never comes is a hang") {
  Device device("h200");
  const auto ends = [&](const std::string& text) {
    const auto out = device.allocate(64);
    return device.launch(device.load(module_of(".param .u64 out", ".reg .pred %p; .reg .b32 %r<9>; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p, %r1, 1;" + text)), {{out, 8}}, {.grid = 2, .block = 64, .cluster = 2});
  };
  CHECK(ends("@%p exit; barrier.cluster.arrive; barrier.cluster.wait; ret;").done());
  CHECK(ends("barrier.cluster.arrive; @%p exit; barrier.cluster.wait; ret;").done());
  CHECK(ends("@!%p barrier.cluster.arrive; @!%p barrier.cluster.wait; bar.sync 0; ret;").done());
  const auto never = ends("@!%p barrier.cluster.arrive; @!%p barrier.cluster.wait; @%p bar.sync 1, 128; ret;");
  CHECK(never.status == device::Outcome::Status::Timeout);
  CHECK(never.what.find("deadlock") != std::string::npos);
}

TEST_CASE("a kernel's text can ask for clusters itself; a model without them refuses both") {
  const std::string text = fmt::format(".version 7.8\n.target sm_90\n.address_size 64\n{}\n.visible .entry k(.param .u64 out)\n.explicitcluster\n.reqnctapercluster 4, 1, 1\n{{\n{}\n}}\n", kVariable, kNeighbour);
  Device device("h200");
  const auto out = device.allocate(16 * 8);
  REQUIRE(device.launch(device.load(text), {{out, 8}}, {.grid = 8}).done());
  CHECK(device.read<std::uint64_t>(out, 16)[6] == 100);
  using Kind = device::Requirement::Kind;
  CHECK(device.backend().accepts({Kind::Cluster, "", 8, {}}).ok());
  CHECK(device.backend().accepts({Kind::Cluster, "", 9, {}}).error().code == "E0501");
  Device old("gtx780");
  CHECK(old.backend().accepts({Kind::Cluster, "", 1, {}}).ok());
  CHECK(old.backend().accepts({Kind::Cluster, "", 2, {}}).error().code == "E0501");
  CHECK(!old.launch(old.load(text), {{old.allocate(256), 8}}, {.grid = 8}).done());
}

TEST_CASE("st.async and red.async reach another block, whose barrier is told of their bytes") {
  Device device("h200");
  // Block 1 sends to block 0, which waits until all bytes that it expects have come, and then reads words 0 to 7.
  const auto sent = [&](const std::string& sends, int bytes) {
    return device.run(fmt::format(R"(
  .reg .pred %p<9>; .reg .b32 %r<20>; .reg .f32 %f<4>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [out]; mov.u32 %r2, %cluster_ctarank; mov.u32 %r4, x; mov.u32 %r5, b;
  setp.ne.u32 %p1, %r2, 0; @%p1 bra SEND;
  st.shared.v4.u32 [%r4], {{100, 200, 300, 400}}; st.shared.v4.u32 [%r4+16], {{500, 600, 700, 800}};
  mbarrier.init.shared::cta.b64 [%r5], 1; mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd2, [%r5], {1};
  barrier.cluster.arrive; barrier.cluster.wait;
  WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0; @!%p2 bra WAIT;
  mov.u32 %r6, 0;
  READ: mad.lo.u32 %r7, %r6, 4, %r4; ld.shared.u32 %r8, [%r7]; cvt.u64.u32 %rd3, %r8; mad.wide.u32 %rd4, %r6, 8, %rd1; st.global.u64 [%rd4], %rd3;
  add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 8; @%p3 bra READ;
  bra END;
  SEND: mapa.shared::cluster.u32 %r9, %r4, 0; mapa.shared::cluster.u32 %r10, %r5, 0;
  barrier.cluster.arrive; barrier.cluster.wait;
  {0}
  END: barrier.cluster.arrive; barrier.cluster.wait; ret;)", sends, bytes), 8, {.grid = 2, .cluster = 2}, ".shared .align 16 .b8 x[64]; .shared .align 8 .b64 b;");
  };
  const std::string told = ".shared::cluster.mbarrier::complete_tx::bytes";
  using Words = std::vector<std::uint64_t>;
  CHECK(sent(fmt::format("st.async{0}.u32 [%r9+4], 7, [%r10]; st.async.weak{0}.v4.b32 [%r9+16], {{1, 2, 3, 4}}, [%r10];", told), 20) == Words{100, 7, 300, 400, 1, 2, 3, 4});
  CHECK(sent(fmt::format("st.async{0}.v2.s64 [%r9], {{-1, 5}}, [%r10]; st.async{0}.f32 [%r9+28], 0f3f800000, [%r10];", told), 20) == Words{0xffffffff, 0xffffffff, 5, 0, 500, 600, 700, 0x3f800000});
  const std::string reduces = "red.async.relaxed.cluster" + told;
  CHECK(sent(fmt::format("{0}.add.u32 [%r9], 11, [%r10]; {0}.min.s32 [%r9+4], -3, [%r10]; {0}.inc.u32 [%r9+8], 300, [%r10]; {0}.xor.b32 [%r9+12], 0xff, [%r10]; {0}.add.u64 [%r9+16], 0x200000001, [%r10];"
                         "{0}.max.u32 [%r9+24], 9, [%r10]; {0}.dec.u32 [%r9+28], 900, [%r10];", reduces), 32) == Words{111, 0xfffffffd, 0, 400 ^ 0xff, 501, 602, 700, 799});
  // A byte less than expected: the phase is never over.
  const auto kernel = device.load(module_of("", fmt::format(".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>; mov.u32 %r4, x; mbarrier.init.shared::cta.b64 [%r4], 1; mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd2, [%r4], 8;"
                                                            "st.async{}.u32 [%r4+8], 7, [%r4]; WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [%r4], 0; @!%p bra WAIT; ret;", told), ".shared .align 8 .b8 x[64];"));
  CHECK(device.launch(kernel, {}, {}, 0.2).status == gexp::device::Outcome::Status::Timeout);
}
