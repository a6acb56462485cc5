// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/support.h"

using namespace sim_test;

// What the lanes of a warp, and the threads of a block, do together.
namespace {

/// Each thread's %r1 after `body`; %r9 is its number. The lanes of an H200 can wait for each other.
std::vector<std::uint32_t> all(const std::string& body, std::uint32_t threads = 32, const std::string& variables = {}) {
  Device device("h200");
  const std::uint64_t out = device.allocate(threads * 4);
  const auto kernel = device.load(module_of(".param .u64 out",
                                            ".reg .pred %p<9>; .reg .f32 %f<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>; mov.u32 %r9, %tid.x;\n" + body +
                                                "\nld.param.u64 %rd9, [out]; mad.wide.u32 %rd9, %r9, 4, %rd9; st.global.u32 [%rd9], %r1; ret;",
                                            variables));
  const Outcome outcome = device.launch(kernel, {{out, 8}}, {.block = threads});
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  return device.read<std::uint32_t>(out, threads);
}

}  // namespace

TEST_CASE("lanes exchange values") {
  const auto down = all("shfl.sync.down.b32 %r1|%p1, %r9, 3, 0x1f, 0xffffffff; @!%p1 add.u32 %r1, %r1, 100;");
  CHECK(down[0] == 3);
  CHECK(down[28] == 31);
  CHECK(down[29] == 129);
  const auto up = all("shfl.sync.up.b32 %r1, %r9, 1, 0x1800, 0xffffffff;");  // segments of 8
  CHECK(up[8] == 8);
  CHECK(up[9] == 8);
  const auto around = all("xor.b32 %r2, %r9, 1; shfl.sync.idx.b32 %r1, %r9, %r2, 0x1f, 0xffffffff;");
  CHECK(around[6] == 7);
  CHECK(all("shfl.bfly.b32 %r1, %r9, 16, 0x1f;")[3] == 19);
}

TEST_CASE("lanes vote, match, reduce and elect") {
  CHECK(all("setp.lt.u32 %p1, %r9, 5; vote.sync.ballot.b32 %r1, %p1, 0xffffffff;")[30] == 31);
  CHECK(all("setp.lt.u32 %p1, %r9, 5; vote.sync.uni.pred %p2, %p1, 0xffffffff; selp.u32 %r1, 1, 0, %p2;")[0] == 0);
  CHECK(all("setp.lt.u32 %p1, %r9, 5; vote.sync.any.pred %p2, %p1, 0xffffffff; selp.u32 %r1, 1, 0, %p2;")[9] == 1);
  CHECK(all("and.b32 %r2, %r9, 1; match.any.sync.b32 %r1, %r2, 0xffffffff;")[2] == 0x55555555);
  CHECK(all("match.all.sync.b32 %r1|%p1, 7, 0xffffffff; @!%p1 mov.u32 %r1, 9;")[2] == 0xffffffff);
  CHECK(all("redux.sync.add.u32 %r1, %r9, 0xffffffff;")[7] == 496);
  CHECK(all("sub.u32 %r2, %r9, 5; redux.sync.min.s32 %r1, %r2, 0xffffffff;")[7] == static_cast<std::uint32_t>(-5));
  CHECK(all("redux.sync.xor.b32 %r1, %r9, 0xffffffff;")[7] == 0);
  CHECK(all("elect.sync %r1|%p1, 0xffffffff; @%p1 add.u32 %r1, %r1, 50;")[0] == 50);
  CHECK(all("setp.lt.u32 %p1, %r9, 4; mov.u32 %r1, 0; @%p1 activemask.b32 %r1;")[2] == 15);
}

TEST_CASE("lanes that took different ways meet where they are told to") {
  // Odd lanes take the longer way round, and come second by their program counter.
  const auto met = all("and.b32 %r2, %r9, 1; setp.eq.u32 %p1, %r2, 1; mov.u32 %r3, 1; @%p1 bra ODD;\nBACK: shfl.sync.bfly.b32 %r1, %r3, 1, 0x1f, 0xffffffff; bra END;\n"
                       "ODD: add.u32 %r3, %r3, %r9; bra BACK;\nEND:");
  CHECK(met[0] == 2);
  CHECK(met[5] == 1);
  // Who has ended is not waited for.
  const auto ended = all("ld.param.u64 %rd9, [out]; mad.wide.u32 %rd9, %r9, 4, %rd9; setp.lt.u32 %p1, %r9, 16; @%p1 bra GO; st.global.u32 [%rd9], 77; ret;\n"
                         "GO: redux.sync.add.u32 %r1, 1, 0xffffffff;");
  CHECK(ended[0] == 16);
  CHECK(ended[20] == 77);
}

TEST_CASE("barriers count and combine predicates") {
  CHECK(all("setp.lt.u32 %p1, %r9, 40; bar.red.popc.u32 %r1, 0, %p1;", 64)[50] == 40);
  CHECK(all("setp.lt.u32 %p1, %r9, 40; bar.red.or.pred %p2, 0, !%p1; selp.u32 %r1, 1, 0, %p2;", 64)[3] == 1);
  CHECK(all("setp.lt.u32 %p1, %r9, 40; barrier.red.and.pred %p2, 1, 64, %p1; selp.u32 %r1, 1, 0, %p2;", 64)[3] == 0);
}

TEST_CASE("an mbarrier's phase ends with its last arrival") {
  // Two warps: the second waits until the first, 32 threads, has arrived with what it wrote.
  const auto waited = all("setp.lt.u32 %p1, %r9, 32; setp.eq.u32 %p2, %r9, 0; mov.u32 %r1, 0; @%p2 mbarrier.init.shared.b64 [b], 32; @%p2 st.shared.u32 [v], 0; bar.sync 0;\n"
                          "@%p1 bra ARRIVE;\nWAIT: mbarrier.try_wait.parity.shared.b64 %p3, [b], 0; @!%p3 bra WAIT; ld.shared.u32 %r1, [v]; bra END;\n"
                          "ARRIVE: atom.shared.add.u32 %r2, [v], 1; mbarrier.arrive.shared.b64 %rd1, [b]; mbarrier.test_wait.shared.b64 %p3, [b], %rd1; selp.u32 %r1, 1, 0, %p3;\nEND:",
                          64, ".shared .align 8 .b64 b;\n.shared .u32 v;");
  CHECK(waited[0] == 1);
  CHECK(waited[40] == 32);
}

TEST_CASE("atomic sums of floats; copies without registers") {
  const char* const shared = ".shared .align 16 .b32 s[64];";
  const auto sum = all("mov.u32 %r1, s; st.shared.u32 [s], 0; bar.sync 0; cvt.rn.f32.u32 %f1, %r9; red.shared.add.f32 [s], %f1; bar.sync 0; ld.shared.u32 %r1, [s];", 64, shared);
  CHECK(sum[5] == 0x44fc0000);  // 2016
  const auto halves = all("st.shared.u32 [s], 0; bar.sync 0; atom.shared.add.noftz.f16x2 %r2, [s], 0x3c004000; bar.sync 0; ld.shared.u32 %r1, [s];", 32, shared);
  CHECK(halves[0] == 0x50005400);  // 32, 64
  const auto copied = all("mov.u32 %r2, s; mad.lo.u32 %r2, %r9, 16, %r2; mov.u64 %rd2, g; cp.async.cg.shared.global [%r2], [%rd2], 16; cp.async.commit_group;\n"
                          "cp.async.wait_all; ld.shared.u32 %r1, [%r2+8];",
                          4, std::string(shared) + "\n.global .align 16 .u32 g[4] = {1, 2, 3, 4};");
  CHECK(copied[3] == 3);
}

TEST_CASE("matrices: rows come to lanes, transposed too; products of small integers") {
  const char* const shared = ".shared .align 16 .b8 s[128];";
  const std::string fill = "mov.u32 %r2, s; mad.lo.u32 %r3, %r9, 4, %r2; shl.b32 %r4, %r9, 1; shl.b32 %r5, %r4, 16; or.b32 %r4, %r4, %r5; add.u32 %r4, %r4, 0x10000;\n"
                           "st.shared.u32 [%r3], %r4; bar.sync 0; and.b32 %r6, %r9, 7; mad.lo.u32 %r6, %r6, 16, %r2;\n";
  CHECK(all(fill + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r6];", 32, shared)[5] == 0x000b000a);
  CHECK(all(fill + "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r1}, [%r6];", 32, shared)[5] == 0x00190011);
  CHECK(all(fill + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r6]; movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;", 32, shared)[5] == 0x00190011);
  const auto back = all(fill + "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r6], {%r4}; bar.sync 0; ld.shared.u32 %r1, [%r3];", 32, shared);
  CHECK(back[5] == 0x00190011);
  // All of a and b are ones, c is the lane.
  const auto product = all("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1, %r2, %r3, %r4}, {0x01010101, 0x01010101, 0x01010101, 0x01010101}, {0x01010101, 0x01010101}, {%r9, 0, 0, 0};");
  CHECK(product[7] == 39);
  const auto floats = all("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00}, {0x40004000, 0x40004000}, {0f3f800000, 0f00000000, 0f00000000, 0f00000000};\n"
                          "mov.b32 %r1, %f1;");
  CHECK(floats[7] == 0x42040000);  // 33
  const auto halves = all("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00}, {0x40004000, 0x40004000}, {0x3c000000, 0};");
  CHECK(halves[7] == 0x50205000);  // 33 and 32
}

TEST_CASE("mma of tf32: the last of a lane's elements, each lane with numbers of its own") {
  // a: 4 * lane + i; b: 2 * lane + i + 1, as PTX ISA 9.7.14.5 lays them out: lane = 4 * group + member.
  const auto a = [](int row, int at) { return 4 * (row % 8 * 4 + at % 4) + row / 8 + at / 4 * 2; };
  const auto b = [](int at, int column) { return 2 * (column * 4 + at % 4) + at / 4 + 1; };
  const std::string singles = "shl.b32 %r10, %r9, 2; cvt.rn.f32.u32 %f1, %r10; add.f32 %f2, %f1, 0f3f800000; add.f32 %f3, %f2, 0f3f800000; add.f32 %f4, %f3, 0f3f800000;"
                              "shl.b32 %r10, %r9, 1; add.u32 %r10, %r10, 1; cvt.rn.f32.u32 %f5, %r10; add.f32 %f6, %f5, 0f3f800000;"
                              "mov.b32 %r1, %f1; mov.b32 %r2, %f2; mov.b32 %r3, %f3; mov.b32 %r4, %f4; mov.b32 %r5, %f5; mov.b32 %r6, %f6;";
  for (const int k : {4, 8}) {
    const std::string operands = k == 8 ? "{%r1, %r2, %r3, %r4}, {%r5, %r6}" : "{%r1, %r2}, {%r5}";
    const auto found = all(singles + fmt::format("mma.sync.aligned.m16n8k{}.row.col.f32.tf32.tf32.f32 {{%f1, %f2, %f3, %f4}}, {}, {{0f00000000, 0f00000000, 0f00000000, 0f3f800000}}; mov.b32 %r1, %f4;", k, operands));
    for (int lane = 0; lane < 32; ++lane) {
      int sum = 1;
      for (int at = 0; at < k; ++at) sum += a(lane / 4 + 8, at) * b(at, lane % 4 * 2 + 1);
      CHECK(found[static_cast<std::size_t>(lane)] == std::bit_cast<std::uint32_t>(static_cast<float>(sum)));
    }
  }
}

TEST_CASE("a warpgroup multiplies matrices of shared memory: rows of a by columns of b, each where its descriptor says") {
  // Element (row, k) of a is the row, (k, column) of b the column and one. k is 32 bytes, in two pieces of 8 rows of 16 bytes.
  const std::string fill = "shr.b32 %r2, %r9, 4; shl.b32 %r2, %r2, 3; and.b32 %r3, %r9, 7; add.u32 %r2, %r2, %r3; mul.lo.u32 %r2, %r2, 0x01010101; add.u32 %r3, %r3, 1;\n"
                           "mul.lo.u32 %r3, %r3, 0x01010101; mov.u32 %r4, s; shl.b32 %r5, %r9, 4; add.u32 %r5, %r5, %r4; st.shared.v4.u32 [%r5], {%r2, %r2, %r2, %r2};\n"
                           "setp.lt.u32 %p1, %r9, 16; @%p1 st.shared.v4.u32 [%r5+2048], {%r3, %r3, %r3, %r3}; bar.sync 0; fence.proxy.async.shared::cta;\n"
                           "shr.b32 %r4, %r4, 4; cvt.u64.u32 %rd1, %r4; or.b64 %rd1, %rd1, 0x1000080000; add.u64 %rd2, %rd1, 128; setp.eq.u32 %p2, 1, 1; setp.ne.u32 %p3, 1, 1;\n"
                           "mov.u32 %r10, 7; mov.u32 %r11, 7; mov.u32 %r12, 7; mov.u32 %r13, 7; wgmma.fence.sync.aligned;\n";
  const std::string end = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; mov.b32 %r1, %r13;";
  const char* const shared = ".shared .align 128 .b8 s[4096];";
  const auto product = [&](const std::string& more) { return "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r10, %r11, %r12, %r13}, " + more + "; "; };
  // Result 3 of lane 13 of warp 2: row 32 + 3 + 8, column 2 + 1.
  CHECK(all(fill + product("%rd1, %rd2, %p2") + end, 128, shared)[77] == 7 + 32 * 43 * 4);
  CHECK(all(fill + product("%rd1, %rd2, %p3") + product("%rd1, %rd2, %p2") + end, 128, shared)[77] == 2 * 32 * 43 * 4);
  const std::string halves = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd1, %p3, 1, 1, 0, 0; ";
  // Row 0 is zeros; 0x0101 in row and column 1 are subnormals, whose products vanish beside 1 of nothing: all results are small numbers.
  CHECK(all(fill + halves + "mov.b32 %r13, %f1; " + end, 128, shared)[0] == 0);

  // a in registers: every lane's words are its row and its row and 8, or in bytes 1 for k below 16 and 2 beyond.
  const std::string rows = "shr.b32 %r14, %r9, 2; and.b32 %r14, %r14, 7; shr.b32 %r15, %r9, 5; mad.lo.u32 %r14, %r15, 16, %r14; add.u32 %r15, %r14, 8;"
                           "mul.lo.u32 %r14, %r14, 0x01010101; mul.lo.u32 %r15, %r15, 0x01010101; ";
  CHECK(all(fill + rows + product("{%r14, %r15, %r14, %r15}, %rd2, %p3") + end, 128, shared)[77] == 32 * 43 * 4);
  CHECK(all(fill + product("{0x01010101, 0x01010101, 0x02020202, 0x02020202}, %rd2, %p3") + end, 128, shared)[77] == (16 + 32) * 4);

  // With a swizzle of 128 bytes, 16 bytes at place p of row r lie at place p ^ r % 8. Here they are the number of the row in its eight, times
  // four, and the place at which they lie: b's places 0 and 1 of column 3 lie at 3 and 2, so half of its numbers are 12 + 3, half 12 + 2.
  const std::string swizzled = ".shared .align 1024 .b8 s[12288];";
  const std::string laid = "mov.u32 %r4, s; shr.b32 %r2, %r9, 3; and.b32 %r3, %r9, 7; and.b32 %r2, %r2, 7; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %r3; mul.lo.u32 %r2, %r2, 0x01010101;"
                           "shl.b32 %r5, %r9, 4; add.u32 %r5, %r5, %r4; st.shared.v4.u32 [%r5], {%r2, %r2, %r2, %r2}; bar.sync 0; fence.proxy.async.shared::cta;"
                           "shr.b32 %r4, %r4, 4; cvt.u64.u32 %rd2, %r4; or.b64 %rd2, %rd2, 0x4000004000010000; setp.ne.u32 %p3, 1, 1; mov.u32 %r13, 7; wgmma.fence.sync.aligned;";
  CHECK(all(laid + product("{0x01010101, 0x01010101, 0x01010101, 0x01010101}, %rd2, %p3") + end, 128, swizzled)[77] == 16 * (15 + 14));

  const auto fault = [&](const std::string& body) {
    Device device("h200");
    const std::uint64_t out = device.allocate(4);
    const auto kernel = device.load(module_of(".param .u64 out", ".reg .pred %p<9>; .reg .f32 %f<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>; mov.u32 %r9, %tid.x;\n" + body + "ret;", shared));
    return device.launch(kernel, {{out, 8}}, {.block = 128}).what;
  };
  CHECK(fault(fill + "or.b64 %rd3, %rd1, 0x4002000000000000; " + product("%rd3, %rd2, %p2") + end).find("swizzle") != std::string::npos);
  CHECK(fault(fill + "add.u64 %rd3, %rd1, 1000; " + product("%rd1, %rd3, %p2") + end).find("outside the block's shared memory") != std::string::npos);
}

namespace {

/// Shared memory of 4 KiB, and a barrier for one arrival.
constexpr const char* kBulk = ".shared .align 16 .b8 to[4096]; .shared .align 8 .b64 b;\n";

/// What a thread reads at byte `at` of its copy of `bytes` from byte `from`, words being their own numbers, and for how long it waited.
struct Copied {
  std::uint32_t word = 0, cycles = 0;
  Outcome outcome;
};
Copied bulk(std::uint32_t from, std::uint32_t bytes, std::uint32_t at, Device device = Device("h200")) {
  const std::uint64_t array = device.allocate(64 << 10), out = device.allocate(8);
  std::vector<std::uint32_t> words(16 << 10);
  for (std::uint32_t k = 0; k < words.size(); ++k) words[k] = k;
  device.write(array, words);
  const auto kernel = device.load(module_of(".param .u64 a, .param .u64 out, .param .u32 from, .param .u32 bytes, .param .u32 at",
                                            std::string(kBulk) + R"(
    .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [from]; ld.param.u32 %r2, [bytes]; ld.param.u32 %r3, [at];
    cvt.u64.u32 %rd3, %r1; add.u64 %rd1, %rd1, %rd3; mov.u32 %r4, to; mov.u32 %r5, b;
    mbarrier.init.shared::cta.b64 [%r5], 1; fence.proxy.async.shared::cta;
    mov.u32 %r6, %clock;
    mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd4, [%r5], %r2;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], %r2, [%r5];
    { WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], 0; @!%p1 bra WAIT; }
    mov.u32 %r7, %clock; sub.u32 %r7, %r7, %r6; add.u32 %r8, %r4, %r3; ld.shared.u32 %r9, [%r8];
    st.global.u32 [%rd2], %r9; st.global.u32 [%rd2+4], %r7; ret;)"));
  Copied copied;
  copied.outcome = device.launch(kernel, {{array, 8}, {out, 8}, {from, 4}, {bytes, 4}, {at, 4}});
  const auto seen = device.read<std::uint32_t>(out, 2);
  copied.word = seen[0], copied.cycles = seen[1];
  return copied;
}

}  // namespace

TEST_CASE("a bulk copy brings its bytes, and its barrier waits for all of them") {
  const auto one = bulk(4096, 16, 12), all = bulk(4096, 4096, 4092), odd = bulk(80, 176, 172);
  REQUIRE_MESSAGE(one.outcome.done(), one.outcome.what);
  CHECK(one.word == 1027);
  CHECK(all.word == 2047);
  CHECK(odd.word == 63);
  CHECK(one.cycles > 600);  // from memory
  CHECK(all.cycles > one.cycles + 30);
  // A port of a tenth of the rate: 4 KiB take 42 cycles at 97.4 B a cycle, and ten times as long.
  const auto slow = bulk(4096, 4096, 4092, Device(edited("h200", "sm = \"192.8 GB/s\"", "sm = \"19.28 GB/s\"")));
  CHECK(slow.cycles > all.cycles + 300);
  CHECK(slow.word == 2047);
}

TEST_CASE("a bulk copy that cannot be is a fault that says why") {
  const auto why = [](std::uint32_t from, std::uint32_t bytes) { return bulk(from, bytes, 0).outcome.what; };
  CHECK(why(4, 16).find("no whole number of 16 B") != std::string::npos);
  CHECK(why(0, 24).find("no whole number of 16 B") != std::string::npos);
  CHECK(why(0, 0).find("no whole number of 16 B") != std::string::npos);
  CHECK(why((64 << 10) - 16, 32).find("outside every allocation") != std::string::npos);
  CHECK(why(0, 8192).find("outside the block's shared memory") != std::string::npos);
}

TEST_CASE("a thread's bulk copies do not run away from what its multiprocessor's port moves") {
  Device device("h200");
  const std::uint64_t array = device.allocate(4096), out = device.allocate(4);
  const auto kernel = device.load(module_of(".param .u64 a, .param .u64 out", std::string(kBulk) + R"(
    .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [out]; mov.u32 %r4, to; mov.u32 %r5, b; mov.u32 %r1, 0;
    mbarrier.init.shared::cta.b64 [%r5], 1; mov.u32 %r6, %clock;
    AGAIN: mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 4096;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 4096, [%r5];
    add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 300; @%p1 bra AGAIN;
    mov.u32 %r7, %clock; sub.u32 %r7, %r7, %r6; st.global.u32 [%rd2], %r7; ret;)"));
  const Outcome outcome = device.launch(kernel, {{array, 8}, {out, 8}}, {.block = 1});
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  const auto cycles = device.read<std::uint32_t>(out, 1)[0];
  CHECK(cycles > 300 * 42 - 4096 - 500);  // 4 KiB take 42 cycles at 97.4 B a cycle
  CHECK(cycles < 300 * 42 + 1000);
}

TEST_CASE("an mbarrier's phase waits for bytes as for arrivals") {
  // Thread 0 expects 64 bytes and arrives; the phase is over once they are told.
  const auto seen = all("setp.ne.u32 %p1, %r9, 0; @%p1 bra END; mbarrier.init.shared.b64 [b], 1; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], 64;\n"
                        "mbarrier.arrive.shared.b64 %rd1, [b]; mbarrier.test_wait.shared.b64 %p2, [b], %rd1; selp.u32 %r1, 1, 0, %p2;\n"
                        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 48; mbarrier.test_wait.shared.b64 %p2, [b], %rd1; selp.u32 %r2, 2, 0, %p2; add.u32 %r1, %r1, %r2;\n"
                        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 16; mbarrier.test_wait.shared.b64 %p2, [b], %rd1; selp.u32 %r2, 4, 0, %p2; add.u32 %r1, %r1, %r2;\nEND:",
                        32, ".shared .align 8 .b64 b;");
  CHECK(seen[0] == 4);
}
