// SPDX-License-Identifier: Apache-2.0
#include "ptx/flow.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ptx/origins.h"

using namespace gexp::ptx;

namespace {

struct Kernel {
  std::string text;
  Module module;
  Flow flow;
};

/// A kernel with two pointers and a number, without scopes.
Kernel kernel(const std::string& body) {
  Kernel made;
  made.text = ".version 7.8\n.target sm_52\n.entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n" + body + "\n}\n";
  auto module = parse(made.text);
  if (!module) FAIL(module.error().message);
  made.module = std::move(*module);
  Function& f = *made.module.kernel("k");
  REQUIRE_MESSAGE(!f.wrong, (f.wrong ? f.wrong->message : ""));
  flatten(made.module, f);
  auto flow = flow_of(f);
  if (!flow) FAIL(flow.error().message);
  made.flow = std::move(*flow);
  return made;
}

using Blocks = std::vector<std::size_t>;

/// The structure of the address in the k-th access of a body to global memory; -1: unknown.
int structure(const std::string& body, std::size_t which = 0) {
  const Kernel k = kernel(body);
  const Function& f = *k.module.kernel("k");
  const Origins origins(f, {0, 1, std::nullopt});
  for (const Item& item : f.body) {
    const auto* s = item.statement();
    if (!s || !(s->opcode.text.starts_with("ld.global") || s->opcode.text.starts_with("st.global"))) continue;
    if (which-- > 0) continue;
    const auto found = origins.structure(s->operands[s->opcode.text.starts_with("st") ? 0 : 1]);
    return found ? static_cast<int>(*found) : -1;
  }
  FAIL("no such access");
  return -2;
}

const std::string kPointers = "ld.param.u64 %a, [a];\nld.param.u64 %b, [b];\nld.param.u32 %n, [n];\ncvta.to.global.u64 %ga, %a;\n";

}  // namespace

TEST_CASE("blocks end at branches and begin at labels") {
  const auto flow = kernel("mov.u32 %r1, 0;\n@%p bra $L;\nadd.s32 %r1, %r1, 1;\n$L:\n$M:\nst.global.u32 [%a], %r1;\nret;").flow;
  REQUIRE(flow.blocks.size() == 3);
  CHECK(flow.blocks[0].to == Blocks{2, 1});
  CHECK(flow.blocks[1].to == Blocks{2});
  CHECK(flow.blocks[2].to.empty());
  CHECK(flow.dominators == std::vector<std::optional<std::size_t>>{std::nullopt, 0, 0});
  CHECK(flow.loops.empty());
}

TEST_CASE("natural loops, the outer before the inner") {
  const auto flow = kernel("$A:\nadd.s32 %i, %i, 1;\n$B:\nadd.s32 %j, %j, 1;\n@%p bra $B;\n@%q bra $A;\n$C:\n@%r bra $C;\nret;").flow;
  REQUIRE(flow.loops.size() == 3);
  CHECK(flow.loops[0].header == 0);
  CHECK(flow.loops[0].blocks == Blocks{0, 1, 2});
  const auto& inner = flow.loops[1].header == 1 ? flow.loops[1] : flow.loops[2];
  CHECK(inner.blocks == Blocks{1});
  CHECK(inner.outer == std::optional<std::size_t>(0));
}

TEST_CASE("what is entered at two places is no natural loop, and what is never reached is in none") {
  CHECK(kernel("@%p bra $B;\n$A:\nadd.s32 %i, %i, 1;\n$B:\n@%q bra $A;\nret;").flow.loops.empty());
  const auto flow = kernel("ret;\n$A:\nbra $A;").flow;
  CHECK(flow.loops.empty());
  CHECK_FALSE(flow.reachable(1));
}

TEST_CASE("branch tables are followed; a label that is not there is an error") {
  const auto flow = kernel("t: .branchtargets $A, $B;\nbrx.idx %r, t;\n$A:\nret;\n$B:\nret;").flow;
  CHECK(flow.blocks[0].to == Blocks{1, 2});
  auto module = parse(".entry k() { bra $nowhere; }");
  REQUIRE(module.ok());
  const auto broken = flow_of(*module->kernel("k"));
  REQUIRE_FALSE(broken.ok());
  CHECK(broken.error().code == "E0801");
}

TEST_CASE("a long chain of blocks and deep nests take no time") {
  std::string chain, deep, ends;
  for (int i = 0; i < 20000; ++i) chain += fmt::format("$C{}:\nadd.s32 %i, %i, 1;\n@%p bra $C0;\n", i);
  CHECK(kernel(chain + "ret;").flow.loops.size() == 1);
  for (int i = 0; i < 300; ++i) deep += fmt::format("$D{}:\nadd.s32 %i, %i, 1;\n", i), ends = fmt::format("@%p bra $D{};\n", i) + ends;
  CHECK(kernel(deep + ends + "ret;").flow.loops.size() == 300);
}

TEST_CASE("a name of a scope is the scope's own") {
  const Kernel k = kernel(".reg .b32 t, %r<4>;\n{\n.reg .b32 t, %r<2>;\nmov.b32 t, %r1;\n$L:\nadd.s32 %r3, t, %r1;\n@%p bra $L;\n}\n"
                          "{\n.reg .v2 .u32 t;\n$L:\nmov.b32 %r2, t.x;\nbra $L;\n}");
  std::vector<std::string> lines;
  for (const Item& item : k.module.kernel("k")->body) lines.push_back(print(item));
  CHECK(lines == std::vector<std::string>{".reg .b32 t, %r<4>;", ".reg .b32 t$s1, %r$s1_<2>;", "mov.b32 t$s1, %r$s1_1;", "$L$s1:",
                                          "add.s32 %r3, t$s1, %r$s1_1;", "@%p bra $L$s1;", ".reg .v2 .u32 t$s2;", "$L$s2:",
                                          "mov.b32 %r2, t$s2.x;", "bra $L$s2;"});
}

TEST_CASE("addresses keep the parameter that they are made of") {
  CHECK(structure(kPointers + "ld.global.u32 %r1, [%ga+4];") == 0);
  CHECK(structure(kPointers + "st.global.u32 [%b], %r1;") == 1);
  CHECK(structure(kPointers + "mul.wide.u32 %rd1, %n, 4;\nadd.s64 %rd2, %ga, %rd1;\nst.global.u32 [%rd2], %r1;") == 0);
  CHECK(structure(kPointers + "mad.wide.u32 %rd2, %tid.x, 4, %b;\nst.global.u32 [%rd2], %r1;") == 1);
  // A pointer that a loop moves along; an index that was read.
  CHECK(structure(kPointers + "mov.u64 %p1, %b;\n$L:\nld.global.u32 %r1, [%p1];\nadd.s64 %p1, %p1, 4;\n@%p bra $L;\nret;") == 1);
  CHECK(structure(kPointers + "ld.global.u64 %x, [%ga];\nadd.s64 %y, %b, %x;\nst.global.u32 [%y], %r1;", 1) == 1);
  // The distance of two addresses of one structure is a number.
  CHECK(structure(kPointers + "add.s64 %e, %ga, 64;\nsub.s64 %x, %e, %ga;\nadd.s64 %y, %b, %x;\nst.global.u32 [%y], %r1;") == 1);
}

TEST_CASE("what may be any address is unknown") {
  for (const char* made : {"selp.b64 %x, %ga, %b, %p;",                                   // either
                           "add.s64 %x, %ga, %b;", "sub.s64 %d, %b, %ga;\nadd.s64 %x, %ga, %d;",  // b after all
                           "and.b64 %x, %ga, -16;", "ld.global.u64 %x, [%ga];",           // a pointer that memory holds
                           "mov.b64 {%lo, %hi}, %ga;\nmov.b64 %x, {%lo, %hi};", "mov.u64 %x, variable;", "cvt.u32.u64 %w, %ga;\ncvt.u64.u32 %x, %w;",
                           "mov.u64 %x, %ga;\n@%p mov.u64 %x, %b;", "mov.u64 %x, %ga;\ncall (%x), f, (%r1);", "mov.u64 %x, 4096;"}) {
    const std::size_t which = std::string_view(made).starts_with("ld.global") ? 1 : 0;
    CHECK_MESSAGE(structure(kPointers + made + "\nst.global.u32 [%x], %r1;", which) == -1, made);
  }
  // Part of a pointer is not a pointer.
  CHECK(structure("ld.param.u32 %w, [a];\ncvt.u64.u32 %x, %w;\nst.global.u32 [%x], %r1;") == -1);
  CHECK(structure("ld.param.u64 %x, [a+4];\nst.global.u32 [%x], %r1;") == -1);
}
