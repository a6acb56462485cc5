// SPDX-License-Identifier: Apache-2.0
// Several values in one register: video instructions, pairs of singles, registers of 128 bits, atomic vectors.
#include "tests/sim/support.h"

using namespace sim_test;

namespace {

/// The one word that `text` leaves in %r1, or the two of %d1.
std::uint64_t packed_word(const std::string& text, const std::string& variables = {}) {
  Device device("h200");
  return device.run(".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b128 %q<5>; .reg .f32 %f<9>; .reg .b64 %o; ld.param.u64 %o, [out]; mov.b64 %d1, 0;\n" + text + "\nst.global.u64 [%o], %d1; ret;", 1, {}, variables)[0];
}
std::uint32_t single(const std::string& text) { return static_cast<std::uint32_t>(packed_word(text + " cvt.u64.u32 %d1, %r1;")); }

std::string refused(const std::string& text) {
  Device device("h200");
  const auto id = device.backend().load({gexp::device::Target::Form::Ptx, module_of("", ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b128 %q<5>; .reg .f32 %f<9>; " + text + " ret;"), "k"});
  return id.ok() ? "" : id.error().message;
}

}  // namespace

TEST_CASE("video instructions take parts of registers, and put their result into one") {
  CHECK(single("mov.u32 %r2, 0x80ff7f01; vadd.s32.s32.s32 %r1, %r2.b2, %r2.b1;") == 0x7e);  // -1 + 127
  CHECK(single("mov.u32 %r2, 0x80ff7f01; vadd.u32.u32.u32 %r1, %r2.b2, %r2.b1;") == 0x17e);
  CHECK(single("mov.u32 %r2, 0x80ff7f01; vsub.s32.s32.u32 %r1, %r2.h1, %r2.h0;") == 0xffff01fe);  // -32513 - 32513
  CHECK(single("mov.u32 %r2, 0x80ff7f01; mov.u32 %r3, 0x11223344; vadd.u32.u32.u32 %r1.b1, %r2.b2, %r2.b1, %r3;") == 0x11227e44);
  CHECK(single("mov.u32 %r2, 0x80ff7f01; mov.u32 %r3, 0x11223344; vadd.u32.u32.u32.sat %r1.b1, %r2.b2, %r2.b1, %r3;") == 0x1122ff44);
  CHECK(single("mov.u32 %r2, 5; mov.u32 %r3, 0x11223344; vmin.s32.s32.s32 %r1.h1, -3, %r2, %r3;") == 0xfffd3344);
  CHECK(single("vset.s32.s32.lt %r1, -1, 1;") == 1);
  CHECK(single("vset.u32.u32.lt %r1, -1, 1;") == 0);
  CHECK(single("vset.u32.u32.ge.add %r1, 7, 7, 40;") == 41);
}

TEST_CASE("vmad negates a product or an addend, adds one, and moves the sum right") {
  CHECK(single("vmad.u32.u32.u32 %r1, 0xffffffff, 0xffffffff, 5;") == 6);
  CHECK(single("vmad.u32.u32.u32.sat %r1, 0xffffffff, 0xffffffff, 5;") == 0xffffffff);
  CHECK(single("mov.u32 %r2, 7; vmad.s32.u32.u32 %r1, -%r2, 3, 1;") == static_cast<std::uint32_t>(-20));
  CHECK(single("mov.u32 %r2, 50; vmad.s32.u32.u32 %r1, 7, 3, -%r2;") == static_cast<std::uint32_t>(-29));
  CHECK(refused("add.u32 %r1, -%r2, %r3;").find("with an operand of a form that is not supported") != std::string::npos);
  CHECK(refused("vadd.u32.u32.u32 %r1, -%r2, %r3;").find("with an operand of a form that is not supported") != std::string::npos);
  CHECK(single("vmad.s32.s32.s32.sat %r1, 0x7fffffff, -2, 0;") == 0x80000000);
  CHECK(single("vmad.u32.u32.u32.po.shr7 %r1, 256, 3, 127;") == 7);  // (768 + 127 + 1) / 128
  CHECK(single("vmad.s32.s32.s32.shr15 %r1, -65536, 2, 0;") == static_cast<std::uint32_t>(-4));
}

TEST_CASE("two halfwords or four bytes side by side") {
  CHECK(single("vadd4.u32.u32.u32 %r1, 0x01ff7f80, 0x01020304, 0;") == 0x02018284);
  CHECK(single("vadd4.u32.u32.u32.sat %r1, 0x01ff7f80, 0x01020304, 0;") == 0x02ff8284);
  CHECK(single("vadd4.s32.s32.s32.sat %r1, 0x01ff7f80, 0x010203f0, 0;") == 0x02017f80);
  CHECK(single("vsub2.s32.s32.s32 %r1, 0x00010000, 0x00020001, 0;") == 0xffffffff);
  CHECK(single("vabsdiff4.u32.u32.u32.add %r1, 0x01ff0a00, 0x03000b05, 1000;") == 1000 + 2 + 255 + 1 + 5);
  CHECK(single("vavrg4.u32.u32.u32 %r1, 0x00010203, 0x01010304, 0;") == 0x01010304);
  CHECK(single("vavrg2.s32.s32.s32 %r1, 0xfffe0001, 0xffff0002, 0;") == 0xfffe0002);  // -3 / 2 down, 3 / 2 up
  CHECK(single("vmax2.s32.s32.s32 %r1, 0xffff0001, 0x0000fffe, 0;") == 0x00000001);
  CHECK(single("vset4.u32.u32.lt %r1, 0x01020304, 0x02020205, 0;") == 0x01000001);
  CHECK(single("vset4.u32.u32.lt.add %r1, 0x01020304, 0x02020205, 10;") == 12);
}

TEST_CASE("two singles in a register of 64 bits; the least and the greatest of three") {
  const std::string pair = "mov.b64 %d2, {0f3f800000, 0f40000000}; mov.b64 %d3, {0f40400000, 0f40800000}; mov.b64 %d4, {0f3f000000, 0fbf800000};\n";  // 1 2, 3 4, 0.5 -1
  CHECK(packed_word(pair + "add.rn.f32x2 %d1, %d2, %d3;") == 0x40c0000040800000);
  CHECK(packed_word(pair + "sub.f32x2 %d1, %d2, %d3;") == 0xc0000000c0000000);
  CHECK(packed_word(pair + "mul.rz.ftz.f32x2 %d1, %d2, %d3;") == 0x4100000040400000);
  CHECK(packed_word(pair + "fma.rn.f32x2 %d1, %d2, %d3, %d4;") == 0x40e0000040600000);
  CHECK(single("min.f32 %f1, 0f3f800000, 0fbf800000, 0f40000000; mov.b32 %r1, %f1;") == 0xbf800000);
  CHECK(single("max.f32 %f1, 0f3f800000, 0f7fc00000, 0f40000000; mov.b32 %r1, %f1;") == 0x40000000);
  CHECK(single("max.NaN.f32 %f1, 0f3f800000, 0f7fc00000, 0f40000000; mov.b32 %r1, %f1;") == 0x7fffffff);
  CHECK(single("max.abs.f32 %f1, 0f3f800000, 0fc0800000, 0f40000000; mov.b32 %r1, %f1;") == 0x40800000);
  CHECK(refused("min.abs.f32 %f1, %f2, %f3;").find("unknown instruction") != std::string::npos);
  CHECK(refused("max.f64 %d1, %d2, %d3, %d4;").find("unknown instruction") != std::string::npos);
}

TEST_CASE("registers of 128 bits are moved, loaded, stored and exchanged whole") {
  const char* const memory = ".global .align 16 .u64 g[4] = {1, 2, 3, 4};";
  CHECK(packed_word("mov.b128 %q1, {7, 9}; mov.b128 %q2, %q1; mov.b128 {%d2, %d3}, %q2; mad.lo.u64 %d1, %d3, 100, %d2;") == 907);
  CHECK(packed_word("mov.u64 %d4, g; ld.global.b128 %q1, [%d4+16]; st.global.b128 [%d4], %q1; ld.global.v2.u64 {%d2, %d3}, [%d4]; mad.lo.u64 %d1, %d3, 100, %d2;", memory) == 403);
  CHECK(packed_word("mov.u64 %d4, g; mov.b128 %q1, {8, 9}; atom.global.exch.b128 %q2, [%d4], %q1; mov.b128 {%d2, %d3}, %q2; mad.lo.u64 %d1, %d3, 100, %d2; ld.global.u64 %d2, [%d4+8];\n"
             "mad.lo.u64 %d1, %d2, 10000, %d1;", memory) == 90201);
  const std::string exchange = "mov.u64 %d4, g; mov.b128 %q1, {1, 2}; mov.b128 %q3, {8, 9}; ";
  CHECK(packed_word(exchange + "atom.relaxed.gpu.global.cas.b128 %q2, [%d4], %q1, %q3; ld.global.v2.u64 {%d2, %d3}, [%d4]; mad.lo.u64 %d1, %d3, 100, %d2;", memory) == 908);
  CHECK(packed_word(exchange + "mov.b128 %q1, {1, 3}; atom.global.cas.b128 %q2, [%d4], %q1, %q3; ld.global.v2.u64 {%d2, %d3}, [%d4]; mad.lo.u64 %d1, %d3, 100, %d2;", memory) == 201);
}

TEST_CASE("atomic operations on vectors") {
  const char* const memory = ".global .align 16 .f32 g[4] = {0f3f800000, 0f40000000, 0f40400000, 0f40800000};\n.global .align 16 .u32 h[2] = {0x3c004000, 0x42004400};";
  CHECK(packed_word("mov.u64 %d4, g; red.global.add.v4.f32 [%d4], {0f3f800000, 0f3f800000, 0f3f800000, 0f3f800000}; ld.global.u64 %d1, [%d4+8];", memory) == 0x40a0000040800000);
  CHECK(packed_word("mov.u64 %d4, g; atom.global.add.v2.f32 {%f1, %f2}, [%d4], {0f3f800000, 0f3f800000}; mov.b64 %d1, {%f1, %f2};", memory) == 0x400000003f800000);
  CHECK(packed_word("mov.u64 %d4, h; red.relaxed.gpu.global.add.noftz.v2.f16x2 [%d4], {0x3c003c00, 0x3c003c00}; ld.global.u64 %d1, [%d4];", memory) == 0x4400450040004200);
  CHECK(refused("red.global.add.v2.f32 [%d4], {%f1};").find("wrong number of elements") != std::string::npos);
}

TEST_CASE("a float of too few or too many digits is no number, and the message says how many there are") {
  for (const char* const text : {"mov.f32 %f1, 0f0;", "mov.f32 %f1, 0f3f8000000;", "add.f32 %f1, %f2, 0F3f80;"}) CHECK(refused(text).find("stand 8 hexadecimal digits") != std::string::npos);
  CHECK(refused("mov.b64 %d1, 0d12;").find("'0d12' is no number: behind 0d stand 16 hexadecimal digits, the bits of a float of 64 bits (PTX line ") != std::string::npos);
  CHECK(refused("mov.u32 %r1, 08;").find("'08' is no number (PTX line") != std::string::npos);
  Device device("h200");
  const auto id = device.backend().load({gexp::device::Target::Form::Ptx, module_of("", "ret;", ".global .f32 g[2] = {0f3f800000, 0f1};"), "k"});
  REQUIRE_FALSE(id.ok());
  CHECK(id.error().message.find("'0f1' is no number: behind 0f stand 8 hexadecimal digits") != std::string::npos);
}
