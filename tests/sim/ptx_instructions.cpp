// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/support.h"

using namespace sim_test;

// Values by hand from the PTX ISA's own definitions.
namespace {

const char* const kRegisters = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;\n"
                               "ld.param.u64 %rd9, [out];\n";

/// %rd1 after `body`, which one thread runs.
std::uint64_t word(const std::string& body, const std::string& variables = {}) {
  Device device("gtx980");
  return device.run(kRegisters + ("mov.u64 %rd1, 0;\n" + body) + "\nst.global.u64 [%rd9], %rd1;\nret;", 1, {}, variables)[0];
}
/// %r1, and %h1.
std::uint32_t r1(const std::string& body, const std::string& variables = {}) { return static_cast<std::uint32_t>(word(body + "\ncvt.u64.u32 %rd1, %r1;", variables)); }
std::uint32_t h1(const std::string& body) { return r1(body + "\ncvt.u32.u16 %r1, %h1;"); }

std::string refusal(const std::string& body, const std::string& variables = {}) {
  return refusal_of(module_of(".param .u64 out", kRegisters + body, variables));
}
}  // namespace

TEST_CASE("integers: saturation, 24 bits, distances, fields and masks") {
  CHECK(r1("add.sat.s32 %r1, 0x7fffffff, 1;") == 0x7fffffff);
  CHECK(r1("sub.sat.s32 %r1, 0x80000000, 1;") == 0x80000000);
  CHECK(r1("mad.hi.sat.s32 %r1, 0x7fffffff, 0x7fffffff, 0x7fffffff;") == 0x7fffffff);
  CHECK(r1("mul24.lo.u32 %r1, 0xff000003, 0xff000005;") == 15);
  CHECK(r1("mul24.hi.u32 %r1, 0x00ffffff, 0x00ffffff;") == 0xfffffe00);
  CHECK(r1("mul24.lo.s32 %r1, 0x00ffffff, 2;") == static_cast<std::uint32_t>(-2));
  CHECK(r1("mad24.lo.u32 %r1, 3, 5, 7;") == 22);
  CHECK(r1("mad24.hi.sat.s32 %r1, 0x7fffff, 0x7fffff, 0x7fffffff;") == 0x7fffffff);
  CHECK(r1("sad.u32 %r1, 3, 10, 100;") == 107);
  CHECK(r1("sad.s32 %r1, -3, 10, 100;") == 113);
  CHECK(r1("bmsk.clamp.b32 %r1, 4, 8;") == 0xff0);
  CHECK(r1("bmsk.clamp.b32 %r1, 40, 8;") == 0);
  CHECK(r1("bmsk.clamp.b32 %r1, 28, 8;") == 0xf0000000);
  CHECK(r1("bmsk.wrap.b32 %r1, 33, 34;") == 6);
  CHECK(r1("szext.clamp.s32 %r1, 0x8, 4;") == 0xfffffff8);
  CHECK(r1("szext.clamp.u32 %r1, 0xf8, 4;") == 8);
  CHECK(r1("szext.wrap.s32 %r1, 0x81, 40;") == 0xffffff81);
  CHECK(r1("fns.b32 %r1, 0xb4, 0, 2;") == 4);
  CHECK(r1("fns.b32 %r1, 0xb4, 7, -2;") == 5);
  CHECK(r1("fns.b32 %r1, 0xb4, 3, 0;") == 0xffffffff);
  CHECK(r1("mov.u32 %r2, 4; mov.u32 %r3, 8; bfi.b32 %r1, 0xab, 0xffffffff, %r2, %r3;") == 0xfffffabf);
  CHECK(r1("prmt.b32.f4e %r1, 0x33221100, 0x77665544, 1;") == 0x44332211);
  CHECK(r1("prmt.b32.b4e %r1, 0x33221100, 0x77665544, 0;") == 0x55667700);
  CHECK(r1("prmt.b32.rc8 %r1, 0x33221100, 0x77665544, 2;") == 0x22222222);
  CHECK(r1("prmt.b32.ecl %r1, 0x33221100, 0x77665544, 2;") == 0x33222222);
  CHECK(r1("prmt.b32.ecr %r1, 0x33221100, 0x77665544, 1;") == 0x11111100);
  CHECK(r1("prmt.b32.rc16 %r1, 0x33221100, 0x77665544, 3;") == 0x33223322);
  CHECK(r1("add.u16x2 %r1, 0x0001ffff, 0x00010001;") == 0x00020000);
  CHECK(r1("min.s16x2 %r1, 0x0001ffff, 0x80000003;") == 0x8000ffff);
  CHECK(r1("min.relu.s32 %r1, -5, 3;") == 0);
  CHECK(r1("min.relu.s32 %r1, 7, 3;") == 3);
  CHECK(r1("max.relu.s32 %r1, -5, -3;") == 0);
  CHECK(r1("min.relu.s16x2 %r1, 0x0005fff0, 0x00070003;") == 0x00050000);
  CHECK(r1("max.relu.s16x2 %r1, 0xfffffff0, 0xfffe0003;") == 0x00000003);
  CHECK(r1("slct.u32.s32 %r1, 1, 2, -1;") == 2);
  CHECK(r1("slct.u32.f32 %r1, 1, 2, 0f80000000;") == 1);
  CHECK(r1("slct.u32.f32 %r1, 1, 2, 0f7FC00000;") == 2);
  CHECK(r1("set.lt.u32.s32 %r1, -1, 0;") == 0xffffffff);
  CHECK(r1("set.lt.f32.s32 %r1, -1, 0;") == 0x3f800000);
  CHECK(r1("setp.eq.u32 %p1, 0, 1; set.lt.and.u32.s32 %r1, -1, 0, %p1;") == 0);
  CHECK(r1("vadd.s32.s32.s32.sat %r1, 0x7fffffff, 1;") == 0x7fffffff);
  CHECK(r1("vabsdiff.u32.u32.u32.max %r1, 3, 10, 5;") == 7);
  CHECK(r1("cvt.sat.s8.s32 %r1, 1000;") == 127);
  CHECK(r1("cvt.sat.u8.s32 %r1, -5;") == 0);
  CHECK(r1("cvt.pack.sat.s16.s32 %r1, 70000, -70000;") == 0x7fff8000);
  CHECK(r1("cvt.pack.sat.u8.s32.b32 %r1, 300, -1, 0x1234;") == 0x1234ff00);
}

TEST_CASE("of modifiers that exclude each other one stands") {
  CHECK(has(refusal("atom.shared::cta.global.add.u32 %r1, [%rd1], 1;"), "'atom.shared::cta.global.add.u32' names 2 memory spaces where one belongs"));
  CHECK(has(refusal("red.global.shared.add.u32 [%rd1], 1;"), "names 2 memory spaces"));
  CHECK(has(refusal("ld.global.shared.u32 %r1, [%rd1];"), "names 2 memory spaces"));
  CHECK(has(refusal("ld.shared::cta.shared::cluster.u32 %r1, [%rd1];"), "names 2 memory spaces"));
  CHECK(has(refusal("st.local.global.u32 [%rd1], %r1;"), "names 2 memory spaces"));
  CHECK(has(refusal("cvta.to.global.shared.u64 %rd1, %rd2;"), "names 2 memory spaces"));
  CHECK(has(refusal("mbarrier.inval.shared.shared::cta.b64 [%rd1];"), "names 2 memory spaces"));
  CHECK(has(refusal("atom.global.add.min.u32 %r1, [%rd1], 1;"), "unknown instruction"));
  CHECK(has(refusal("mul.lo.hi.u32 %r1, %r2, %r3;"), "unknown instruction"));
  CHECK(has(refusal("mul24.lo.hi.u32 %r1, %r2, %r3;"), "unknown instruction"));
  CHECK(has(refusal("cp.async.ca.cg.shared.global [%rd1], [%rd2], 16;"), "unknown instruction"));
  CHECK(has(refusal("isspacep.global.shared %p1, %rd1;"), "unknown instruction"));
  CHECK(has(refusal("setp.lt.gt.u32 %p1, %r1, %r2;"), "unknown instruction"));
  CHECK(refusal("atom.shared::cta.add.u32 %r1, [%rd1], 1; atom.global.add.u32 %r1, [%rd1], 1; cp.async.ca.shared::cta.global [%rd1], [%rd2], 16;") == "accepted");
}

TEST_CASE("extended precision: carries between instructions") {
  CHECK(word("add.cc.u32 %r1, 0xffffffff, 1; addc.u32 %r2, 0, 0; mov.b64 %rd1, {%r1, %r2};") == 1ull << 32);
  CHECK(word("sub.cc.u32 %r1, 0, 1; subc.cc.u32 %r2, 5, 0; mov.b64 %rd1, {%r1, %r2};") == 0x4'ffffffffull);
  CHECK(word("mad.lo.cc.u32 %r1, 0xffffffff, 0xffffffff, 0xffffffff; madc.hi.u32 %r2, 0xffffffff, 0xffffffff, 0; mov.b64 %rd1, {%r1, %r2};") ==
        0xffffffffull * 0xffffffffull + 0xffffffffull);
  CHECK(word("add.cc.u64 %rd2, 0xffffffffffffffff, 1; addc.u64 %rd1, 0, 0;") == 1);
  CHECK(word("mad.hi.cc.s64 %rd1, -1, 3, 0; addc.u64 %rd2, 0, 0;") == ~0ull);
  CHECK(has(refusal("add.cc.u16 %h1, %h2, %h3;"), "unknown instruction"));
  CHECK(has(refusal("add.sat.u32 %r1, %r2, %r3;"), "unknown instruction"));
}

TEST_CASE("floats: saturation, NaN, signs and classes") {
  const auto f1 = [](const std::string& body) { return r1(body + " mov.b32 %r1, %f1;"); };
  CHECK(f1("add.sat.f32 %f1, 0f3f800000, 0f3f800000;") == 0x3f800000);
  CHECK(f1("sub.sat.f32 %f1, 0f00000000, 0f3f800000;") == 0);
  CHECK(f1("mul.sat.f32 %f1, 0f7fc00000, 0f3f800000;") == 0);
  CHECK(f1("min.NaN.f32 %f1, 0f7fc00000, 0f3f800000;") == 0x7fffffff);
  CHECK(f1("min.xorsign.abs.f32 %f1, 0fc0000000, 0f3f800000;") == 0xbf800000);
  CHECK(f1("cvt.sat.f32.f32 %f1, 0fbf800000;") == 0);
  CHECK(r1("testp.subnormal.f32 %p1, 0f00000001; selp.u32 %r1, 1, 0, %p1;") == 1);
  CHECK(r1("testp.normal.f32 %p1, 0f00000001; selp.u32 %r1, 1, 0, %p1;") == 0);
  CHECK(r1("cvt.rna.tf32.f32 %r1, 0f3f801000;") == 0x3f802000);
  CHECK(r1("cvt.rn.tf32.f32 %r1, 0f3f801000;") == 0x3f800000);
}

TEST_CASE("halves: one rounding each, alone and in pairs") {
  CHECK(h1("mov.b16 %h2, 0x3c00; mov.b16 %h3, 0x1000; add.rn.f16 %h1, %h2, %h3;") == 0x3c00);  // 1 + 2^-11: to even
  CHECK(h1("mov.b16 %h2, 0x3c01; mov.b16 %h3, 0x1000; add.f16 %h1, %h2, %h3;") == 0x3c02);
  CHECK(h1("mov.b16 %h2, 0x7bff; mov.b16 %h3, 0x7bff; add.f16 %h1, %h2, %h3;") == 0x7c00);
  CHECK(h1("mov.b16 %h2, 0x0001; mov.b16 %h3, 0x3800; mul.f16 %h1, %h2, %h3;") == 0);
  CHECK(h1("mov.b16 %h2, 0x0001; mov.b16 %h3, 0x0001; add.ftz.f16 %h1, %h2, %h3;") == 0);
  // 1 - 2^-11 is half-way; the third operand, far below, decides.
  CHECK(h1("mov.b16 %h2, 0x3c00; mov.b16 %h3, 0x1000; mov.b16 %h4, 0x3c00; fma.rn.f16 %h1, %h2, %h3, %h4;") == 0x3c00);
  CHECK(h1("mov.b16 %h2, 0x3c01; mov.b16 %h3, 0x1000; mov.b16 %h4, 0x3c00; fma.rn.f16 %h1, %h2, %h3, %h4;") == 0x3c01);
  CHECK(h1("mov.b16 %h2, 0xbc00; mov.b16 %h3, 0x3c00; mov.b16 %h4, 0; fma.rn.relu.f16 %h1, %h2, %h3, %h4;") == 0);
  CHECK(h1("mov.b16 %h2, 0x4000; mov.b16 %h3, 0x4000; mul.sat.f16 %h1, %h2, %h3;") == 0x3c00);
  CHECK(h1("mov.b16 %h2, 0x7e00; mov.b16 %h3, 0x3c00; max.NaN.f16 %h1, %h2, %h3;") == 0x7fff);
  CHECK(h1("mov.b16 %h2, 0x3f80; mov.b16 %h3, 0x3b80; add.bf16 %h1, %h2, %h3;") == 0x3f80);
  CHECK(r1("add.f16x2 %r1, 0x3c004000, 0x3c003c00;") == 0x40004200);
  CHECK(r1("neg.bf16x2 %r1, 0x3f80bf80;") == 0xbf803f80);
  CHECK(r1("set.gt.f16x2.f16x2 %r1, 0x40003c00, 0x3c004000;") == 0x3c000000);
  CHECK(r1("setp.gt.f16x2 %p1|%p2, 0x40003c00, 0x3c004000; selp.u32 %r2, 1, 0, %p1; selp.u32 %r3, 2, 0, %p2; or.b32 %r1, %r2, %r3;") == 2);
  CHECK(r1("mov.b16 %h2, 0x3c00; mov.b16 %h3, 0xbc00; setp.lt.f16 %p1, %h3, %h2; selp.u32 %r1, 1, 0, %p1;") == 1);
}

TEST_CASE("narrow operands of wide results; tables of bits with a predicate") {
  CHECK(r1("mov.b16 %h2, 0x3c00; add.f32.f16 %f1, %h2, 0f33800000; mov.b32 %r1, %f1;") == 0x3f800000);
  CHECK(r1("mov.b16 %h2, 0x3c00; add.rp.f32.f16 %f1, %h2, 0f33800000; mov.b32 %r1, %f1;") == 0x3f800001);
  CHECK(r1("mov.b16 %h2, 0x3f80; mov.b16 %h3, 0x4000; fma.rn.f32.bf16 %f1, %h2, %h3, 0f3f800000; mov.b32 %r1, %f1;") == 0x40400000);
  CHECK(r1("setp.eq.u32 %p1, 0, 1; lop3.or.b32 %r2|%p2, 12, 10, 0, 0xc0, %p1; selp.u32 %r1, %r2, 0, %p2;") == 8);
  CHECK(r1("setp.eq.u32 %p1, 0, 1; lop3.and.b32 %r2|%p2, 12, 10, 0, 0xc0, %p1; selp.u32 %r1, 1, 5, %p2;") == 5);
}

TEST_CASE("conversions between floats of all widths") {
  CHECK(h1("cvt.rn.f16.f32 %h1, 0f3f801000;") == 0x3c00);
  CHECK(h1("cvt.rp.f16.f32 %h1, 0f3f801000;") == 0x3c01);
  CHECK(h1("cvt.rn.f16.f64 %h1, 0d3ff0020000000001;") == 0x3c01);  // through f32 it would be 0x3c00
  CHECK(h1("cvt.rz.f16.f32 %h1, 0f7f7fffff;") == 0x7bff);
  CHECK(h1("cvt.rn.f16.f32 %h1, 0f7f7fffff;") == 0x7c00);
  CHECK(h1("cvt.rn.f16.f32 %h1, 0fffc00000;") == 0x7fff);
  CHECK(h1("cvt.rn.bf16.u64 %h1, 0x8080000000000001;") == 0x5f01);
  CHECK(h1("cvt.rn.f16.s32 %h1, -3;") == 0xc200);
  CHECK(r1("mov.b16 %h2, 0x0001; cvt.f32.f16 %f1, %h2; mov.b32 %r1, %f1;") == 0x33800000);
  CHECK(r1("mov.b16 %h2, 0xc500; cvt.rzi.s32.f16 %r1, %h2;") == static_cast<std::uint32_t>(-5));
  CHECK(h1("cvt.rn.satfinite.e4m3x2.f32 %h1, 0f7f800000, 0fc3e00000;") == 0x7efe);
  CHECK(h1("cvt.rn.satfinite.e4m3x2.f32 %h1, 0f7fc00000, 0f3b000000;") == 0x7f01);
  CHECK(h1("cvt.rn.satfinite.e5m2x2.f32 %h1, 0f7f800000, 0f3f800000;") == 0x7b3c);
  CHECK(h1("cvt.rn.satfinite.relu.e5m2x2.f32 %h1, 0fbf800000, 0f3f800000;") == 0x003c);
  CHECK(r1("mov.b16 %h2, 0x7e01; cvt.rn.f16x2.e4m3x2 %r1, %h2;") == 0x5f001800);
  CHECK(h1("cvt.rn.satfinite.e4m3x2.f16x2 %h1, 0x3c00bc00;") == 0x38b8);
  CHECK(has(refusal("cvt.s32.f32 %r1, %f1;"), "unknown instruction"));
  CHECK(has(refusal("cvt.rn.e4m3x2.f32 %h1, %f1, %f2;"), "unknown instruction"));
}

TEST_CASE("functions: values and bytes pass, recursion keeps registers, pointers choose") {
  const char* const factorial = ".func (.reg .u32 r) fact(.reg .u32 n) { .reg .pred p; .reg .u32 m; setp.le.u32 p, n, 1; @p mov.u32 r, 1; @p ret; sub.u32 m, n, 1;\n"
                                "call (r), fact, (m); mul.lo.u32 r, r, n; ret; }";
  CHECK(r1("call (%r1), fact, (10);", factorial) == 3628800);
  // Each call has its own local variable, whose address another may get.
  const char* const sum = ".func add(.param .b64 to, .param .b32 n) { .reg .u64 a; .reg .u32 v, w; ld.param.u64 a, [to]; ld.param.u32 v, [n]; ld.u32 w, [a]; add.u32 w, w, v;\n"
                          "st.u32 [a], w; ret; }\n"
                          ".func (.param .b32 out) total(.param .b32 n) { .local .u32 mine; .reg .u64 a; .reg .u32 v, w; .reg .pred p; .param .b64 p0; .param .b32 p1; .param .b32 p2; .param .b32 r0;\n"
                          "st.local.u32 [mine], 0; mov.u64 a, mine; cvta.local.u64 a, a; ld.param.u32 v, [n]; st.param.b64 [p0], a; st.param.b32 [p1], v; call add, (p0, p1);\n"
                          "setp.gt.u32 p, v, 0; @!p bra DONE; sub.u32 v, v, 1; st.param.b32 [p2], v; call (r0), total, (p2); ld.param.u32 w, [r0];\n"
                          "st.param.b32 [p1], w; call add, (p0, p1);\nDONE: ld.local.u32 v, [mine]; st.param.b32 [out], v; ret; }";
  CHECK(r1("{ .param .b32 p; .param .b32 r; st.param.b32 [p], 100; call (r), total, (p); ld.param.u32 %r1, [r]; }", sum) == 5050);
  const char* const two = ".func (.reg .u32 r) one() { mov.u32 r, 11; ret; }\n.func (.reg .u32 r) two() { mov.u32 r, 22; ret; }\n.global .u64 table[2] = {one, two};";
  CHECK(r1("ld.global.u64 %rd2, [table+8]; call (%r1), %rd2, (), P; P: .callprototype (.reg .u32 _) _ ();", two) == 22);
  CHECK(r1("mov.u64 %rd2, one; call (%r1), %rd2, ();", two) == 11);
  CHECK(r1("T: .branchtargets A, B; brx.idx 1, T; A: mov.u32 %r1, 1; bra C; B: mov.u32 %r1, 2;\nC:") == 2);
}

TEST_CASE("functions that never end, or are none, are faults") {
  Device device("gtx980");
  const std::string forever = ".func f(.reg .u32 n) { call f, (n); ret; }";
  const auto told = [&](const std::string& body, const std::string& variables) {
    return device.launch(device.load(module_of(".param .u64 out", kRegisters + body, variables)), {{0, 8}}, {.block = 32}).what;
  };
  CHECK(has(told("call f, (1);", forever), "nested too deeply"));
  CHECK(has(told("mov.u64 %rd2, 5; call %rd2, ();", ""), "no function"));
  CHECK(has(told("T: .branchtargets A; brx.idx 7, T;\nA: ret;", ""), "beyond its table"));
}

TEST_CASE("variables hold addresses of variables; vectors are registers; parameters have addresses") {
  CHECK(word("ld.const.u64 %rd2, [p+8]; ld.u32 %r1, [%rd2]; cvt.u64.u32 %rd1, %r1;", ".const .u32 x[3] = {7, 8, 9};\n.const .u64 p[2] = {x, generic(x)+4};") == 8);
  CHECK(r1(".reg .v2 .u32 v; mov.v2.u32 v, {3, 4}; mov.v2.u32 v, {v.y, v.x}; shl.b32 %r1, v.x, 8; or.b32 %r1, %r1, v.y;") == 0x403);
  CHECK(word("mov.b64 %rd2, out; cvta.param.u64 %rd2, %rd2; ld.u64 %rd3, [%rd2]; sub.u64 %rd1, %rd3, %rd9;") == 0);
  CHECK(r1("mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2; isspacep.shared %p1, %rd2; isspacep.global %p2, %rd2; selp.u32 %r1, 1, 0, %p1; @%p2 add.u32 %r1, %r1, 2;",
           ".shared .u32 s[4];") == 1);
}

TEST_CASE("barriers in shared memory hear of copies by cp.async; what only tunes a kernel changes nothing") {
  const char* const variables = ".shared .align 16 .b8 s[64]; .global .align 16 .b32 g[4] = {11, 12, 13, 14};";
  const std::string begin = "mov.u32 %r2, s; mbarrier.init.shared.b64 [%r2], 1; mov.u64 %rd2, g; cp.async.ca.shared.global [%r2+16], [%rd2], 16;";
  const std::string tells = "mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0; selp.u32 %r1, 1, 0, %p1;";
  CHECK(r1(begin + tells, variables) == 0);
  CHECK(r1(begin + "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];" + tells, variables) == 1);
  CHECK(r1(begin + "cp.async.mbarrier.arrive.shared.b64 [%r2];" + tells, variables) == 0);
  CHECK(r1(begin + "cp.async.mbarrier.arrive.shared.b64 [%r2]; mbarrier.arrive.shared.b64 %rd3, [%r2];" + tells, variables) == 1);
  CHECK(r1(begin + "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2]; ld.shared.u32 %r1, [%r2+24];", variables) == 13);
  const std::string three = "mov.u32 %r2, s; mbarrier.init.shared.b64 [%r2], 3; mbarrier.arrive.shared.b64 %rd2, [%r2]; mbarrier.arrive.noComplete.shared.b64 %rd3, [%r2], 1;";
  CHECK(r1(three + "mbarrier.pending_count.b64 %r1, %rd2;", variables) == 3);
  CHECK(r1(three + "mbarrier.pending_count.b64 %r1, %rd3;", variables) == 2);
  CHECK(r1("setmaxnreg.dec.sync.aligned.u32 40; griddepcontrol.wait; griddepcontrol.launch_dependents; mov.u32 %r1, 5;") == 5);
}

TEST_CASE("where a variable is managed, and which sides a cluster does not have") {
  CHECK(r1("ld.global.u32 %r1, [g];", ".global .attribute(.managed) .align 4 .u32 g = 4;") == 4);
  CHECK(r1("mov.u32 %r1, %cluster_ctaid.y; mov.u32 %r2, %cluster_nctaid.z; add.u32 %r1, %r1, %r2;") == 1);
}
