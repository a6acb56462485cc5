// SPDX-License-Identifier: Apache-2.0
// Kernels with the software cache of S-L1 against the same ones without, on a simulated device.
#include "ptx/soft_l1.h"

#include "runtime/sim/observed.h"
#include "tests/sim/support.h"

using namespace sim_test;
using gexp::ptx::SoftL1;
using gexp::sim::Counters;

namespace {

constexpr std::uint32_t kBlock = 64, kWords = 2048;
constexpr const char* kParameters = ".param .u64 a, .param .u64 b, .param .u32 n";
// Thread t goes through words t * n .. t * n + n - 1 of both: %pa and %pb point to the first.
constexpr const char* kBegin = R"(
    .reg .pred %p<8>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .b64 %pa; .reg .b64 %pb; .reg .b32 %i; .reg .b32 %n;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %n, [n];
    mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, %n;
    mul.wide.u32 %rd3, %r2, 4; add.s64 %pa, %rd1, %rd3; add.s64 %pb, %rd2, %rd3;
    mov.u32 %i, 0; mov.u32 %r3, 0;
$L:)";
constexpr const char* kNext = R"(
    add.s64 %pa, %pa, 4; add.s64 %pb, %pb, 4; add.u32 %i, %i, 1; setp.lt.u32 %p1, %i, %n; @%p1 bra $L;
    ret;)";

SoftL1 options(std::uint32_t line, std::uint32_t lines, std::uint32_t monitor) {
  SoftL1 o;
  o.line = line, o.sm.shared = std::uint64_t{lines} * line * kBlock, o.threads = kBlock, o.monitor = monitor;
  o.structures = {0, 1, std::nullopt}, o.bytes = {kWords * 4, kWords * 4};
  return o;
}

struct Ran {
  std::vector<std::uint32_t> a, b;
  Counters counters;
};

Ran run(const std::string& text, std::uint32_t n = 32, std::uint32_t grid = 1, std::uint32_t block = kBlock) {
  Device device("titanblack");
  gexp::sim::observe(device.backend(), 0);
  std::vector<std::uint32_t> a(kWords), b(kWords);
  for (std::uint32_t i = 0; i < kWords; ++i) a[i] = i * 2654435761u, b[i] = ~i;
  const auto at = device.allocate(kWords * 4, 256), to = device.allocate(kWords * 4, 256);
  device.write(at, a), device.write(to, b);
  LaunchShape shape;
  shape.grid = grid, shape.block = block;
  const Outcome outcome = device.launch(device.load(text), {{at, 8}, {to, 8}, {n, 4}}, shape);
  REQUIRE_MESSAGE(outcome.done(), outcome.what, text);
  return {device.read<std::uint32_t>(at, kWords), device.read<std::uint32_t>(to, kWords), gexp::sim::counted(device.backend())};
}

gexp::ptx::Transformed transformed(const std::string& text, const SoftL1& o) {
  auto made = gexp::ptx::soft_l1(text, "k", o);
  if (!made) FAIL(made.error().message);
  return std::move(*made);
}

/// What the two slices do and what the kernel did are the same; what they cost.
std::pair<Counters, Counters> same(const std::string& body, const SoftL1& o, std::uint32_t n = 32) {
  const std::string text = module_of(kParameters, body);
  const auto made = transformed(text, o);
  REQUIRE_MESSAGE(made.loops > 0, made.why);
  const Ran before = run(text, n), after = run(made.text, n);
  CHECK(before.a == after.a);
  CHECK(before.b == after.b);
  return {before.counters, after.counters};
}

const std::string kSum = std::string(kBegin) + "ld.global.u32 %r4, [%pa]; add.u32 %r3, %r3, %r4; st.global.u32 [%pb], %r3;" + kNext;
const std::string kInPlace = std::string(kBegin) + "ld.global.u8 %r4, [%pb+1]; xor.b32 %r4, %r4, 85; st.global.u8 [%pb+1], %r4; ld.global.u32 %r5, [%pb]; "
                                                   "st.global.u16 [%pb+2], %r5;" + kNext;
// One of two in a line, so that half the accesses hit, no more; of `a` all do but one in four.
const std::string kStrided = std::string(kBegin) + "ld.global.u32 %r4, [%pa]; mul.wide.u32 %rd4, %r3, 8; mov.u32 %r5, %i; shl.b32 %r5, %r5, 3; and.b32 %r5, %r5, 1023; "
                                                   "mul.wide.u32 %rd5, %r5, 4; add.s64 %rd6, %rd2, %rd5; ld.global.u32 %r6, [%rd6]; add.u32 %r3, %r3, %r6;" + kNext;

}  // namespace

TEST_CASE("a software cache changes no result, whatever its lines and whenever it begins") {
  for (const std::string* body : {&kSum, &kInPlace}) {
    for (const std::uint32_t line : gexp::ptx::kSoftL1Lines) {
      for (const std::uint32_t lines : {0u, 1u, 2u, 4u}) {
        for (const std::uint32_t monitor : {0u, 1u, 5u, 30u, 300u}) {
          CAPTURE(line);
          CAPTURE(lines);
          CAPTURE(monitor);
          same(*body, options(line, lines, monitor));
        }
      }
    }
  }
}

TEST_CASE("what hits does not go to memory: one load of a line, one store of a word") {
  const auto [before, after] = same(kSum, options(16, 2, 0), 32);
  const std::uint64_t warps = kBlock / 32;
  CHECK(before.loads == warps * 32);
  CHECK(after.loads == warps * 2 * 32 / 4);  // both structures are filled: 4 words a line
  CHECK(after.stores == before.stores / 4);  // written from end to end, so each line goes back whole
  CHECK(after.shared > warps * 2 * 32);
  const auto [without, one] = same(kSum, options(16, 1, 0), 32);
  CHECK(one.loads == warps * 32 / 4);  // `a` alone
  CHECK(one.stores == without.stores);
}

TEST_CASE("slice 1 decides: what hits half of the time or less is not held, and what is written must hit twice as often") {
  const std::uint64_t warps = kBlock / 32;
  // `a` is held after 8 iterations; the strided walk of `b` never hits.
  const auto [before, after] = same(kStrided, options(16, 2, 16), 32);
  CHECK(before.loads == warps * 64);
  CHECK(after.loads == warps * (8 + 24 / 4 + 32));
  // With one line, `a` (read, 3 of 4 hit) is taken before `b` (written, 3 of 4).
  const auto [plain, one] = same(kSum, options(16, 1, 16), 32);
  CHECK(plain.loads == warps * 32);
  CHECK(one.loads == warps * (8 + 24 / 4));
  CHECK(one.stores == warps * 32);
  // With two, both are: b's lines are filled too.
  CHECK(same(kSum, options(16, 2, 16), 32).second.loads == warps * (8 + 2 * 24 / 4));
  // Monitoring that does not end before the loop does holds nothing.
  CHECK(same(kSum, options(16, 2, 300), 32).second.loads == warps * 32);
}

TEST_CASE("where nothing is held, an access costs one instruction more") {
  const auto [before, after] = same(kSum, options(16, 0, 0), 32);
  const std::uint64_t accesses = std::uint64_t{kBlock} * 2 * 32;
  CHECK(after.loads == before.loads);
  CHECK(after.executed > before.executed);
  const std::uint64_t once = std::uint64_t{kBlock} * 80;  // at the kernel's begin, between the slices and at the end
  CHECK(after.executed <= before.executed + accesses + once);
}

TEST_CASE("a line that the end of its memory cuts is not held") {
  auto o = options(32, 2, 0);
  o.bytes = {kWords * 4 - 20, kWords * 4 - 20};
  same(kSum, o);
  o.bytes = {4, 4};
  const auto [before, after] = same(kSum, o);
  CHECK(after.loads == before.loads);
}

TEST_CASE("a fence gives up what is held: a reader sees what was written before it") {
  // Block 0 writes words of `a` and counts them in b[0]; block 1 waits for each count and adds the words up in b[1].
  const std::string body = R"(
    .reg .pred %p<8>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;
    @%p1 bra $Reader;
$Writer:
    mul.lo.u32 %r4, %r2, 77; st.global.u32 [%rd1], %r4; add.s64 %rd1, %rd1, 4;
    membar.gl;
    add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd2], %r2;
    setp.lt.u32 %p2, %r2, 64; @%p2 bra $Writer;
    ret;
$Reader:
    ld.volatile.global.u32 %r5, [%rd2]; setp.le.u32 %p3, %r5, %r2; @%p3 bra $Reader;
    membar.gl;
    ld.global.cg.u32 %r6, [%rd1]; add.s64 %rd1, %rd1, 4; add.u32 %r3, %r3, %r6;
    add.u32 %r2, %r2, 1; setp.lt.u32 %p4, %r2, 64; @%p4 bra $Reader;
    st.volatile.global.u32 [%rd2+4], %r3;
    ret;)";
  // The counter starts at 0.
  const std::string text = module_of(kParameters, body);
  const auto made = transformed(text, options(16, 1, 0));
  REQUIRE(made.loops == 2);
  CHECK(made.structures == std::vector<std::size_t>{0});  // `b` is volatile
  Device device("titanblack");
  const auto a = device.allocate(kWords * 4, 256), b = device.allocate(256, 256);
  device.write(a, std::vector<std::uint32_t>(kWords, 9)), device.write(b, std::vector<std::uint32_t>(64, 0));
  LaunchShape shape;
  shape.grid = 2, shape.block = 1;
  const Outcome outcome = device.launch(device.load(made.text), {{a, 8}, {b, 8}, {0, 4}}, shape);
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  CHECK(device.read<std::uint32_t>(b, 2) == std::vector<std::uint32_t>{64, 77 * 64 * 63 / 2});
}

TEST_CASE("an access that may lie anywhere finds memory as it is") {
  // Through a pointer that memory holds, the thread reads the word that it has just written, and writes the next one that it reads.
  const std::string body = std::string(kBegin) + R"(
    ld.global.u32 %r4, [%pb]; add.u32 %r3, %r3, %r4; st.global.u32 [%pb], %r3;
    mov.u64 %rd8, %rd2; @%p5 mov.u64 %rd8, %rd1; add.s64 %rd9, %rd8, %rd3;
    mul.wide.u32 %rd10, %i, 4; add.s64 %rd9, %rd9, %rd10;
    ld.global.u32 %r5, [%rd9]; add.u32 %r5, %r5, 3; st.global.u32 [%rd9+4], %r5;)" + kNext;
  std::string odd = body;  // one word less a thread, so that none writes what another reads
  odd.replace(odd.find("mul.lo.u32 %r2, %r1, %n"), 23, "mad.lo.u32 %r2, %r1, %n, %r1");
  same(odd, options(16, 2, 0), 30);
}

TEST_CASE("registers leave room for fewer blocks, and so for more lines of each thread") {
  const std::string text = module_of(kParameters, kSum);
  auto o = options(16, 0, 16);
  o.sm.blocks = 32, o.sm.shared = 32 * kBlock * 16;  // a line for each thread of 32 blocks
  const auto any = transformed(text, o);
  CHECK(any.lines == 1);
  CHECK(any.registers > transformed(module_of(kParameters, std::string(kBegin) + "ld.global.u32 %r4, [%pa];" + kNext), o).registers);
  const auto lines = [&](double blocks) {
    o.sm.registers = static_cast<std::uint64_t>(blocks * kBlock * any.registers);
    const auto made = transformed(text, o);
    CHECK(made.registers == any.registers);
    return made.lines;
  };
  CHECK(lines(32) == 1);
  CHECK(lines(17) == 1);
  CHECK(lines(16) == 2);
  CHECK(lines(0.5) == 2);  // of one block, whatever it needs; there are two structures
  o.smem = 60 << 10;
  CHECK(lines(16) == 0);
}

TEST_CASE("a changed kernel says how many threads a block has, unless it bounds its registers itself") {
  const std::string text = module_of(kParameters, kSum);
  CHECK(transformed(text, options(16, 1, 16)).text.find(") .maxntid 64\n") != std::string::npos);
  const auto body = text.find('{', text.find(".entry"));
  for (const std::string bound : {".maxntid 32", ".reqntid 64", ".maxnreg 40"}) {
    auto own = text;
    own.insert(body, bound + "\n");
    const auto made = transformed(own, options(16, 1, 16)).text;
    CHECK(made.find(bound) != std::string::npos);
    CHECK(made.find(".maxntid 64") == std::string::npos);
  }
}

TEST_CASE("one memory behind two parameters is one structure") {
  const std::string text = module_of(kParameters, kSum);
  auto o = options(16, 2, 0);
  o.structures = {0, 0, std::nullopt}, o.bytes = {kWords * 4};
  const auto made = transformed(text, o);
  CHECK(made.lines == 1);
  CHECK(made.structures == std::vector<std::size_t>{0});
}

TEST_CASE("why a kernel has no cache is told") {
  const auto why = [](const std::string& body, SoftL1 o = options(16, 2, 0)) {
    const auto made = transformed(module_of(kParameters, body), o);
    CHECK(made.loops == 0);
    return made.why;
  };
  CHECK(why("ret;") == "no loop of it accesses a memory that it is given by a parameter");
  CHECK(why(std::string(kBegin) + "ld.global.u32 %r4, [%pa]; bar.sync 0;" + kNext).find("because of `bar.sync` in PTX line") != std::string::npos);
  CHECK(why(std::string(kBegin) + "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%pa];" + kNext, options(24, 2, 0)) ==
        "an access of 16 B does not fit its lines of 24 B");
  CHECK(why(std::string(kBegin) + "ld.global.u32 %r4, [%pa]; red.global.add.u32 [%pa], 1;" + kNext) == "atomic or volatile accesses touch what its loops could cache");
  CHECK(why(std::string(kBegin) + "ld.global.u32 %r4, [%pa]; ld.global.u64 %rd8, [%pb]; red.add.u32 [%rd8], 1;" + kNext) ==
        "an atomic or volatile access may touch what its loops could cache");
}

TEST_CASE("of a thousand accesses that a thread counted, so many hit: told by a further parameter") {
  // Each access of `a` is to the word after the one before; `b` is strided by 32 B. Threads of the second half end in the loop.
  std::string body = kStrided;
  body.replace(body.rfind("ret;"), 4, "$Early: ret;");
  body.replace(body.find("$L:"), 3, "setp.ge.u32 %p3, %r1, 32; $L: setp.eq.and.u32 %p4, %i, 15, %p3; @%p4 bra $Early;");
  const auto told = [&](std::size_t structure, std::uint32_t monitor) {
    auto o = options(16, 2, monitor);
    o.hits = structure;
    const auto made = transformed(module_of(kParameters, body), o);
    Device device("titanblack");
    const auto a = device.allocate(kWords * 4, 256), b = device.allocate(kWords * 4, 256), to = device.allocate(kBlock * 4, 256);
    LaunchShape shape;
    shape.grid = 1, shape.block = kBlock;
    const Outcome outcome = device.launch(device.load(made.text), {{a, 8}, {b, 8}, {32, 4}, {to, 8}}, shape);
    REQUIRE_MESSAGE(outcome.done(), outcome.what, made.text);
    return device.read<std::uint32_t>(to, kBlock);
  };
  const auto halves = [](std::uint32_t first, std::uint32_t second) {
    std::vector<std::uint32_t> all(kBlock, first);
    std::fill(all.begin() + kBlock / 2, all.end(), second);
    return all;
  };
  CHECK(told(0, 1000) == halves(750, 733));  // 24 of 32, 11 of 15
  CHECK(told(1, 1000) == halves(0, 0));
  CHECK(told(0, 8) == halves(750, 750));  // the first loop ends after 4 accesses of each
  CHECK(told(0, 0) == halves(0, 0));
}
