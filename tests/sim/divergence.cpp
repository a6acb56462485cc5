// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/sim/ptx_parse.h"
#include "tests/sim/support.h"

using namespace sim_test;

// Which lanes of a warp run where they took different ways: by a stack of paths, or each independently of the others.
namespace {

const std::string kRegisters = ".reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>; mov.u32 %r9, %tid.x; and.b32 %r8, %r9, 31;\n";
/// Numbers who comes here: %r1 of each lane.
const std::string kNumber = " atom.shared.add.u32 %r1, [count], 1; ";
const std::string kVariables = ".shared .u32 count;\n.shared .u32 word;\n.shared .align 4 .b32 words[64];";

/// Each thread's %r1 after `body`.
std::vector<std::uint32_t> all(const std::string& model, const std::string& body, std::uint32_t threads = 32, const std::string& functions = {}) {
  Device device(model);
  const std::uint64_t out = device.allocate(threads * 4);
  const auto kernel = device.load(module_of(".param .u64 out",
                                            kRegisters + body + "\nld.param.u64 %rd9, [out]; mad.wide.u32 %rd9, %r9, 4, %rd9; st.global.u32 [%rd9], %r1; ret;", kVariables + functions));
  const Outcome outcome = device.launch(kernel, {{out, 8}}, {.block = threads, .limit = 20e-3});
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  return device.read<std::uint32_t>(out, threads);
}

Outcome outcome(const gexp::Source& model, const std::string& body, std::uint32_t threads = 32) {
  Device device(model);
  return device.launch(device.load(module_of(".param .u64 out", kRegisters + body + "\nret;", kVariables)), {{0, 8}}, {.block = threads, .limit = 20e-3});
}
Outcome outcome(const std::string& model, const std::string& body, std::uint32_t threads = 32) { return outcome(*gexp::sim::read_model(model), body, threads); }

/// Where lanes meet that part at each branch of a kernel, by the index of its instruction.
std::vector<std::uint32_t> meetings(const std::string& body, const std::string& functions = {}) {
  const auto kernel = gexp::sim::parse_ptx(module_of(".param .u64 out", ".reg .pred %p<9>; .reg .b32 %r<9>;" + body, functions), "k");
  if (!kernel) FAIL(kernel.error().message);
  std::vector<std::uint32_t> list;
  for (const auto& i : kernel->code) {
    if (i.kind == gexp::sim::Kind::Branch || i.kind == gexp::sim::Kind::BranchTable) list.push_back(i.meeting);
  }
  return list;
}

using gexp::sim::kNowhere;

}  // namespace

TEST_CASE("lanes meet at the immediate post-dominator of a branch") {
  using Meetings = std::vector<std::uint32_t>;
  //     0         1            2
  CHECK(meetings("@%p1 bra A; mov.u32 %r1, 1; A: ret;") == Meetings{2});
  //     0         1                 2              3                 4
  CHECK(meetings("@%p1 bra A; mov.u32 %r1, 1; bra B; A: mov.u32 %r1, 2; B: ret;") == Meetings{4, 4});
  // One within another; the inner one's sides meet before the outer one's.
  //     0           1            2            3           4                  5                6
  CHECK(meetings("@%p1 bra A; @%p2 bra B; mov.u32 %r1, 1; B: mov.u32 %r1, 2; bra C; A: mov.u32 %r1, 3; C: ret;") == Meetings{6, 3, 6});
  // A loop's lanes meet behind it, whichever way they leave.
  //        0                 1           2           3
  CHECK(meetings("L: mov.u32 %r1, 1; @%p1 bra E; @%p2 bra L; E: ret;") == Meetings{3, 3});
  // Code laid out behind the place where lanes meet.
  //     0           1       2             3
  CHECK(meetings("@%p1 bra A; B: mov.u32 %r1, 1; ret; A: bra B;") == Meetings{1, 1});
  // A side that ends: nowhere. A loop without an end, and a guarded exit, are no ways to the end.
  CHECK(meetings("@%p1 bra A; ret; A: mov.u32 %r1, 1; ret;") == Meetings{kNowhere});
  CHECK(meetings("@%p1 bra A; L: bra L; A: ret;") == Meetings{2, kNowhere});
  CHECK(meetings("@%p1 bra A; @%p2 exit; A: mov.u32 %r1, 1; ret;") == Meetings{2});
  // Two ways into a loop.
  //     0           1                   2           3                  4
  CHECK(meetings("@%p1 bra B; A: mov.u32 %r1, 1; B: @%p2 bra A; @%p3 bra A; ret;") == Meetings{2, 3, 4});
  // In a function they meet at the latest when it returns, so nothing stands here.
  CHECK(meetings("call f, (); ret;", ".func f() { .reg .pred %q; @%q bra A; ret; A: ret; }") == Meetings{kNowhere});
  CHECK(meetings("T: .branchtargets A, B; brx.idx 1, T; A: mov.u32 %r1, 1; B: ret;") == Meetings{2});
}

TEST_CASE("where lanes meet is found in time that the length of the text bounds") {
  // Far jumps in each other, and a ladder of them.
  std::string text;
  constexpr int kMany = 20000;
  for (int k = 0; k < kMany; ++k) text += fmt::format("@%p1 bra E{};\n", k);
  for (int k = kMany; k-- > 0;) text += fmt::format("E{}: @%p2 bra F{};\n", k, k / 2);
  for (int k = 0; k < kMany; ++k) text += fmt::format("F{}: mov.u32 %r1, 1;\n", k);
  const auto found = meetings(text + "ret;");
  CHECK(found.size() == 2 * kMany);
  CHECK(found[0] > kMany);
}

TEST_CASE("with a stack, who jumps goes first, and the other side when that one is through") {
  const std::string body = "setp.lt.u32 %p1, %r8, 8; {} bra A;" + kNumber + "bra B; A:" + kNumber + " add.u32 %r1, %r1, 100; B:";
  for (const char* const model : {"gtx280", "gtx980"}) {
    const auto low = all(model, fmt::format(fmt::runtime(body), "@%p1")), high = all(model, fmt::format(fmt::runtime(body), "@!%p1"));
    CHECK(low[0] == 100);   // eight jump and go first
    CHECK(low[8] == 8);
    CHECK(high[8] == 100);  // the other 24
    CHECK(high[0] == 24);
  }
}

TEST_CASE("a chain of conditions runs from its last clause to its first, as Wong10 Listing 3") {
  std::string body, clauses;
  for (int k = 0; k < 32; ++k) {
    body += fmt::format("setp.ne.u32 %p1, %r8, {}; @%p1 bra N{};", k, k) + kNumber + fmt::format("bra END;\nN{}:\n", k);
  }
  const auto order = all("gtx280", body + "END:");
  for (std::uint32_t lane = 0; lane < 32; ++lane) CHECK(order[lane] == 31 - lane);
}

TEST_CASE("lanes that met are together: also behind loops, in functions and under tables") {
  const std::string together = " activemask.b32 %r1;";
  for (const char* const model : {"gtx980", "h200"}) {
    CHECK(all(model, "setp.lt.u32 %p1, %r8, 8; @%p1 bra A; mov.u32 %r2, 1; A:" + together)[20] == ~0u);
    CHECK(all(model, "setp.lt.u32 %p1, %r8, 8; @%p1 bra A;" + together + " bra B; A:" + together + " B:")[20] == 0xffffff00);
    CHECK(all(model, "mov.u32 %r2, 0; L: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r8; @%p1 bra L;" + together)[3] == ~0u);
    CHECK(all(model, "T: .branchtargets A, B, C; rem.u32 %r2, %r8, 3; brx.idx %r2, T; A: mov.u32 %r3, 1; B: mov.u32 %r3, 2; C:" + together)[5] == ~0u);
    CHECK(all(model, "setp.lt.u32 %p1, %r8, 4; @%p1 call f, (%r8);" + together, 32, "\n.func f(.reg .u32 n) { .reg .pred q; setp.eq.u32 q, n, 1; @q ret; ret; }")[9] == ~0u);
    // Half of the lanes ended within a side; those that are left meet.
    CHECK(all(model, "ld.param.u64 %rd9, [out]; mad.wide.u32 %rd9, %r9, 4, %rd9; setp.lt.u32 %p1, %r8, 8; @%p1 bra A; mov.u32 %r2, 1; bra B;\n"
                     "A: setp.lt.u32 %p2, %r8, 4; @%p2 st.global.u32 [%rd9], 7; @%p2 exit; B:" + together)[20] == 0xfffffff0);
  }
}

TEST_CASE("lanes that call themselves to different depths come back one by one, and meet") {
  const std::string f = "\n.func (.reg .u32 s) f(.reg .u32 n) { .reg .pred q; .reg .u32 m; setp.eq.u32 q, n, 0; mov.u32 s, 0; @q ret; sub.u32 m, n, 1; call (s), f, (m); add.u32 s, s, n; ret; }";
  for (const char* const model : {"gtx980", "h200"}) {
    const auto sums = all(model, "call (%r1), f, (%r8); activemask.b32 %r2; setp.ne.u32 %p1, %r2, 0xffffffff; @%p1 mov.u32 %r1, 9999;", 32, f);
    for (std::uint32_t lane = 0; lane < 32; ++lane) CHECK(sums[lane] == lane * (lane + 1) / 2);
  }
}

TEST_CASE("lanes that wait for a lane of their warp hang with a stack, and end without one, as Wong10 Listing 4") {
  const std::string body = "setp.eq.u32 %p1, %r8, 0; @%p1 st.shared.u32 [word], 0; WAIT: ld.volatile.shared.u32 %r2, [word]; setp.ne.u32 %p1, %r2, %r8; @%p1 bra WAIT;\n"
                           "add.u32 %r2, %r2, 1; st.volatile.shared.u32 [word], %r2;";
  for (const char* const model : {"gtx280", "gtx980"}) CHECK(outcome(model, body).status == gexp::device::Outcome::Status::Timeout);
  CHECK(outcome("h200", body).done());
  // The model's word decides, not its compute capability.
  CHECK(outcome(edited("gtx980", "divergence = \"stack\"", "divergence = \"independent\""), body).done());
  CHECK(outcome(edited("h200", "divergence = \"independent\"", "divergence = \"stack\""), body).status == gexp::device::Outcome::Status::Timeout);
}

TEST_CASE("with a stack a warp comes to a barrier as a whole, as Wong10 Listing 5; without one each lane does") {
  // The upper half, which jumps, reads behind its barrier what the lower half writes before its own.
  const std::string body = "setp.ge.u32 %p1, %r8, 16; mov.u32 %r5, words; rem.u32 %r4, %r8, 16; mad.lo.u32 %r5, %r4, 4, %r5; mov.u32 %r1, 0; @%p1 bra READ;\n"
                           "add.u32 %r4, %r4, 1; st.shared.u32 [%r5], %r4; bar.sync 0; bra END; READ: bar.sync 0; ld.shared.u32 %r1, [%r5]; END:";
  CHECK(all("gtx280", body)[20] == 0);
  CHECK(all("h200", body)[20] == 5);
}

TEST_CASE("each path of a warp is a barrier's arrival of its own, as Wong10 Listing 7") {
  // Warp 1 adds one between its two barriers, and one after: what each half of warp 0 reads behind its own tells which it met.
  const std::string warp1 = "ONE: bar.sync 0; add.u32 %r2, %r9, 1; mov.u32 %r3, 1; st.volatile.shared.u32 [word], %r3; bar.sync 0; bra END;\n";
  const std::string body = "setp.eq.u32 %p1, %r9, 0; @%p1 st.shared.u32 [word], 0; bar.sync 1; mov.u32 %r1, 9; setp.ge.u32 %p2, %r9, 32; @%p2 bra ONE; setp.ge.u32 %p3, %r9, 16; @%p3 bra TWO;\n"
                           "bar.sync 0; ld.volatile.shared.u32 %r1, [word]; bra END; TWO: ld.volatile.shared.u32 %r1, [word]; bar.sync 0; bra END;\n" + warp1 + "END:";
  const auto seen = all("gtx280", body, 64);
  CHECK(seen[16] == 0);  // the side that jumped met the first
  CHECK(seen[0] == 1);   // the other one the second
}

TEST_CASE("who has ended is not waited for at a barrier; who spins is") {
  for (const char* const model : {"gtx280", "h200"}) {
    CHECK(outcome(model, "setp.ge.u32 %p1, %r9, 32; @%p1 exit; bar.sync 0;", 64).done());
    const Outcome spins = outcome(model, "setp.ge.u32 %p1, %r9, 32; @%p1 bra SPIN; bar.sync 0; st.shared.u32 [word], 1; ret; SPIN: ld.volatile.shared.u32 %r1, [word]; setp.eq.u32 %p2, %r1, 0; @%p2 bra SPIN;", 64);
    CHECK(spins.status == gexp::device::Outcome::Status::Timeout);
  }
  // Lanes of the warp that waits there: as a whole it has come.
  const std::string half = "setp.lt.u32 %p1, %r9, 16; @%p1 bra A; bra B; A: bar.sync 0; B: bar.sync 1, 32;";
  CHECK(outcome("gtx980", half).done());
  CHECK(outcome("h200", "setp.lt.u32 %p1, %r9, 16; @%p1 bra A; bar.warp.sync 0xffffffff; ret; A: bar.sync 0; ret;").what.find("deadlock") != std::string::npos);
}
