// SPDX-License-Identifier: Apache-2.0
// wmma: matrices that the lanes of a warp hold between them.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "runtime/sim/float_format.h"
#include "tests/sim/support.h"

using namespace sim_test;

namespace {

using gexp::ptx::Type;

struct Product {
  const char* shape;
  int m, n, k;
  Type operand, from, to;   ///< elements of a and b, of c, of d
  int registers_a, registers_b;
  bool a_by_rows, b_by_rows, c_by_rows, d_by_rows;
};

int bytes_of(Type t) { return t == Type::Tf32 ? 4 : gexp::ptx::bits(t) / 8; }
std::string word(Type t) { return std::string(gexp::ptx::name_of(t)); }

std::uint64_t encoded(Type t, int value) {
  if (t == Type::S32) return static_cast<std::uint32_t>(value);
  if (t == Type::S8 || t == Type::U8) return static_cast<std::uint8_t>(value);
  if (t == Type::F64) return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  if (t == Type::F32 || t == Type::Tf32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return gexp::sim::encode_float(gexp::sim::format_of(t), value, 0, false);
}

/// "{%prefix0, %prefix1, …}"
std::string list(const char* prefix, int count) {
  std::vector<std::string> names;
  for (int k = 0; k < count; ++k) names.push_back(fmt::format("%{}{}", prefix, k));
  return fmt::format("{{{}}}", fmt::join(names, ", "));
}

/// A matrix in memory whose rows, or columns, lie `stride` elements apart.
struct Matrix {
  int rows, columns;
  bool by_rows;
  int stride, bytes;
  Matrix(int r, int c, bool rowwise, int element) : rows(r), columns(c), by_rows(rowwise), stride((rowwise ? c : r) + 16 / element), bytes(element) {}
  [[nodiscard]] std::size_t at(int row, int column) const { return static_cast<std::size_t>(by_rows ? row * stride + column : column * stride + row) * static_cast<std::size_t>(bytes); }
  [[nodiscard]] std::vector<std::uint8_t> empty() const { return std::vector<std::uint8_t>(static_cast<std::size_t>((by_rows ? rows : columns) * stride * bytes), 0xee); }
};

void put(std::vector<std::uint8_t>& memory, std::size_t at, std::uint64_t bits, int bytes) { std::memcpy(memory.data() + at, &bits, static_cast<std::size_t>(bytes)); }

/// What the simulated device stores, and what it should.
std::pair<std::vector<std::uint8_t>, std::vector<std::uint8_t>> multiplied(Device& device, const Product& p) {
  const int wide = p.to == Type::F64 ? 2 : p.to == Type::F16 ? 4 : 8, from = p.from == Type::F64 ? 2 : p.from == Type::F16 ? 4 : 8;
  const char* const kind = p.operand == Type::F64 ? "d" : "r";
  const auto layout = [](bool rows) { return rows ? "row" : "col"; };
  const std::string types = p.operand == Type::F16 ? fmt::format("{}.{}", word(p.to), word(p.from))
                                                   : fmt::format("{}.{}.{}.{}", word(p.to), word(p.operand), word(p.operand), word(p.from));
  Matrix a(p.m, p.k, p.a_by_rows, bytes_of(p.operand)), b(p.k, p.n, p.b_by_rows, bytes_of(p.operand)), c(p.m, p.n, p.c_by_rows, bytes_of(p.from)), d(p.m, p.n, p.d_by_rows, bytes_of(p.to));
  const auto text = module_of(".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d", fmt::format(R"(
    .reg .b32 %ra<8>; .reg .b32 %rb<8>; .reg .b32 %rc<8>; .reg .b32 %rd<8>; .reg .b32 %s; .reg .b64 %p<8>;
    .reg .f64 %da<8>; .reg .f64 %db<8>; .reg .f64 %dc<8>; .reg .f64 %dd<8>;
    ld.param.u64 %p1, [a]; ld.param.u64 %p2, [b]; ld.param.u64 %p3, [c]; ld.param.u64 %p4, [d];
    mov.u32 %s, {13}; sub.u64 %p2, %p2, 32;
    wmma.load.a.sync.aligned.{0}.{4}.global.{5} {7}, [%p1], %s;
    wmma.load.b.sync.aligned.{1}.{4}.{5} {8}, [%p2+32], {14};
    wmma.load.c.sync.aligned.{2}.{4}.global.{6} {9}, [%p3], {15};
    wmma.mma.sync.aligned.{0}.{1}.{4}.{11} {10}, {7}, {8}, {9};
    wmma.store.d.sync.aligned.{3}.{4}.global.{12} [%p4], {10}, {16};
    ret;)", layout(p.a_by_rows), layout(p.b_by_rows), layout(p.c_by_rows), layout(p.d_by_rows), p.shape, word(p.operand), word(p.from),
                                          list(fmt::format("{}a", kind).c_str(), p.registers_a), list(fmt::format("{}b", kind).c_str(), p.registers_b),
                                          list(fmt::format("{}c", kind).c_str(), from), list(fmt::format("{}d", kind).c_str(), wide), types, word(p.to),
                                          a.stride, b.stride, c.stride, d.stride));
  const bool without_sign = p.operand == Type::U8;
  const auto value = [&](int row, int column, int salt) { return (row * 7 + column * 3 + salt) % 9 - (without_sign ? 0 : 4); };
  auto in_a = a.empty(), in_b = b.empty(), in_c = c.empty(), expected = d.empty();
  for (int row = 0; row < p.m; ++row) {
    for (int at = 0; at < p.k; ++at) put(in_a, a.at(row, at), encoded(p.operand, value(row, at, 1)), a.bytes);
  }
  for (int at = 0; at < p.k; ++at) {
    for (int column = 0; column < p.n; ++column) put(in_b, b.at(at, column), encoded(p.operand, value(at, column, 5)), b.bytes);
  }
  for (int row = 0; row < p.m; ++row) {
    for (int column = 0; column < p.n; ++column) {
      int sum = value(row, column, 2);
      put(in_c, c.at(row, column), encoded(p.from, sum), c.bytes);
      for (int at = 0; at < p.k; ++at) sum += value(row, at, 1) * value(at, column, 5);
      put(expected, d.at(row, column), encoded(p.to, sum), d.bytes);
    }
  }
  std::vector<Argument> arguments;
  for (const auto* memory : {&in_a, &in_b, &in_c}) {
    arguments.push_back(gexp::device::pointer(device.allocate(memory->size(), 256)));
    device.write(arguments.back().bits, *memory);
  }
  const auto out = device.allocate(expected.size(), 256);
  device.write(out, d.empty());
  arguments.push_back(gexp::device::pointer(out));
  const auto outcome = device.launch(device.load(text), arguments, {.block = 32});
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  return {device.read<std::uint8_t>(out, expected.size()), expected};
}

}  // namespace

TEST_CASE("wmma multiplies matrices of every shape, type and layout") {
  const std::vector<Product> products = {
      {"m16n16k16", 16, 16, 16, Type::F16, Type::F32, Type::F32, 8, 8, true, true, true, true},
      {"m16n16k16", 16, 16, 16, Type::F16, Type::F16, Type::F16, 8, 8, true, true, true, true},
      {"m16n16k16", 16, 16, 16, Type::F16, Type::F16, Type::F32, 8, 8, true, true, true, true},
      {"m16n16k16", 16, 16, 16, Type::F16, Type::F32, Type::F16, 8, 8, true, true, true, true},
      {"m8n32k16", 8, 32, 16, Type::F16, Type::F32, Type::F32, 8, 8, true, true, true, true},
      {"m32n8k16", 32, 8, 16, Type::F16, Type::F16, Type::F16, 8, 8, true, true, true, true},
      {"m16n16k16", 16, 16, 16, Type::Bf16, Type::F32, Type::F32, 4, 4, true, true, true, true},
      {"m8n32k16", 8, 32, 16, Type::Bf16, Type::F32, Type::F32, 2, 8, true, true, true, true},
      {"m32n8k16", 32, 8, 16, Type::Bf16, Type::F32, Type::F32, 8, 2, true, true, true, true},
      {"m16n16k16", 16, 16, 16, Type::U8, Type::S32, Type::S32, 2, 2, true, true, true, true},
      {"m8n32k16", 8, 32, 16, Type::S8, Type::S32, Type::S32, 1, 4, true, true, true, true},
      {"m32n8k16", 32, 8, 16, Type::S8, Type::S32, Type::S32, 4, 1, true, true, true, true},
      {"m16n16k8", 16, 16, 8, Type::Tf32, Type::F32, Type::F32, 4, 4, true, true, true, true},
      {"m8n8k4", 8, 8, 4, Type::F64, Type::F64, Type::F64, 1, 1, true, true, true, true},
  };
  Device device("gtx980");
  for (Product product : products) {
    for (unsigned layouts = 0; layouts < 16; ++layouts) {
      product.a_by_rows = (layouts & 1) != 0, product.b_by_rows = (layouts & 2) != 0, product.c_by_rows = (layouts & 4) != 0, product.d_by_rows = (layouts & 8) != 0;
      const auto [got, expected] = multiplied(device, product);
      CHECK_MESSAGE(got == expected, product.shape << " of " << word(product.operand) << " to " << word(product.to) << ", layouts " << layouts);
    }
  }
}

namespace {

/// d of a wmma whose elements have 4 bits or one, and what the host makes of them: sums of products, or of what `combine` does to bits.
std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> multiplied_bits(const std::string& type, const std::string& combine, bool c_by_rows, bool d_by_rows, bool limits) {
  const int width = type == "b1" ? 1 : 4, k = 128 / width, pad = 2 * k;  // elements of which rows of a, and columns of b, lie apart
  const auto value = [&](int outer, int at, int salt) { return (outer * 29 + at * 13 + outer * at * 5 + salt) % 23 & ((1 << width) - 1); };
  const auto number = [&](int bits) { return type == "s4" && bits >= 8 ? bits - 16 : bits; };
  std::vector<std::uint8_t> a(static_cast<std::size_t>(8 * pad * width / 8), 0xee), b = a;
  const auto put_bits = [&](std::vector<std::uint8_t>& memory, int element, int bits) {
    auto& byte = memory[static_cast<std::size_t>(element * width / 8)];
    const int shift = element * width % 8;
    byte = static_cast<std::uint8_t>((byte & ~(((1 << width) - 1) << shift)) | bits << shift);
  };
  std::vector<std::int32_t> c(64), expected(64);
  for (int outer = 0; outer < 8; ++outer) {
    for (int at = 0; at < k; ++at) put_bits(a, outer * pad + at, value(outer, at, 3)), put_bits(b, outer * pad + at, value(outer, at, 11));
  }
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) {
      std::int64_t sum = limits ? (row % 2 == 0 ? INT32_MAX : INT32_MIN) : row * 100 - column;
      c[static_cast<std::size_t>(c_by_rows ? row * 8 + column : column * 8 + row)] = static_cast<std::int32_t>(sum);
      for (int at = 0; at < k; ++at) {
        const int x = value(row, at, 3), y = value(column, at, 11);
        sum += combine == "xor" ? x ^ y : combine == "and" ? x & y : number(x) * number(y);
      }
      if (limits) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      expected[static_cast<std::size_t>(d_by_rows ? row * 8 + column : column * 8 + row)] = static_cast<std::int32_t>(sum);
    }
  }
  Device device("h200");
  const auto copied = [&](const auto& values) {
    const auto at = device.allocate(values.size() * sizeof values[0], 256);
    device.write(at, values);
    return gexp::device::pointer(at);
  };
  const auto text = module_of(".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d", fmt::format(R"(
    .reg .b32 %r<9>; .reg .b64 %p<8>; ld.param.u64 %p1, [a]; ld.param.u64 %p2, [b]; ld.param.u64 %p3, [c]; ld.param.u64 %p4, [d]; mov.u32 %r7, {0};
    wmma.load.a.sync.aligned.row.{1}.global.{2} {{%r0}}, [%p1], %r7;
    wmma.load.b.sync.aligned.col.{1}.{2} {{%r1}}, [%p2], {0};
    wmma.load.c.sync.aligned.{3}.{1}.global.s32 {{%r2, %r3}}, [%p3];
    wmma.mma{4}.sync.aligned.row.col.{1}.s32.{2}.{2}.s32{6} {{%r4, %r5}}, {{%r0}}, {{%r1}}, {{%r2, %r3}};
    wmma.store.d.sync.aligned.{5}.{1}.global.s32 [%p4], {{%r4, %r5}}, 8;
    ret;)", pad, width == 1 ? "m8n8k128" : "m8n8k32", type, c_by_rows ? "row" : "col", combine.empty() ? "" : "." + combine + ".popc", d_by_rows ? "row" : "col", limits ? ".satfinite" : ""));
  const auto d = copied(std::vector<std::int32_t>(64, -1));
  const auto outcome = device.launch(device.load(text), {copied(a), copied(b), copied(c), d}, {.block = 32});
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  return {device.read<std::int32_t>(d.bits, 64), expected};
}

}  // namespace

TEST_CASE("wmma multiplies matrices of 4 bits and of single bits") {
  for (unsigned layouts = 0; layouts < 4; ++layouts) {
    const bool c_by_rows = (layouts & 1) != 0, d_by_rows = (layouts & 2) != 0;
    for (const auto& [type, combine, limits] : {std::tuple{"u4", "", false}, {"s4", "", false}, {"u4", "", true}, {"s4", "", true}, {"b1", "xor", false}, {"b1", "and", false}}) {
      const auto [got, expected] = multiplied_bits(type, combine, c_by_rows, d_by_rows, limits);
      CHECK_MESSAGE(got == expected, type << " " << combine << (limits ? ", satfinite" : "") << ", layouts " << layouts);
    }
  }
}

TEST_CASE("wmma of matrices that no device multiplies is refused") {
  Device device("gtx980");
  const auto refused = [&](const std::string& instruction) {
    const auto text = module_of(".param .u64 out", ".reg .b32 %r<40>; .reg .b64 %p<4>;\n" + instruction + "\nret;");
    const auto kernel = device.backend().load({gexp::device::Target::Form::Ptx, text, "k"});
    return !kernel.ok() && kernel.error().code == "E0801";
  };
  const auto eight = list("r", 8);
  CHECK(refused(fmt::format("wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {}, [%p1];", eight)));
  CHECK(refused("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1}, [%p1];"));
  CHECK(refused(fmt::format("wmma.load.c.sync.aligned.row.m8n8k4.global.f32 {}, [%p1];", eight)));
  CHECK(refused(fmt::format("wmma.mma.sync.aligned.row.m16n16k16.f32.f32 {0}, {0}, {0}, {0};", eight)));
  CHECK(refused(fmt::format("wmma.mma.sync.aligned.row.col.m16n16k16.f32.u8.u8.f32 {0}, {{%r0, %r1}}, {{%r0, %r1}}, {0};", eight)));
  CHECK(refused("wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r0}, [%p1];"));
  CHECK(refused("wmma.load.a.sync.aligned.row.m8n8k128.global.s4 {%r0}, [%p1];"));
  CHECK(refused("wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.u4.s32 {%r0, %r1}, {%r2}, {%r3}, {%r0, %r1};"));
  CHECK(refused("wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32 {%r0, %r1}, {%r2}, {%r3}, {%r0, %r1};"));
  CHECK(refused("wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0, %r1}, {%r2}, {%r3}, {%r0, %r1};"));
  CHECK_FALSE(refused(fmt::format("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {0}, {0}, {0}, {0};", eight)));
}
