// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/sim/float_format.h"
#include "runtime/sim/fragment.h"
#include "runtime/sim/wide.h"

// wmma.mma: d = a * b + c, of whole matrices that the lanes of a warp hold between them (fragment.h).
namespace gexp::sim {
namespace {

/// The bits of a matrix's elements, row by row.
std::vector<std::uint64_t> gathered(const WideCall& call, std::size_t first, const Fragment& f) {
  std::vector<std::uint64_t> all;
  all.reserve(std::size_t{f.rows} * f.columns);
  const std::uint64_t mask = f.bits == 64 ? ~0ull : (1ull << f.bits) - 1;
  for (std::uint32_t row = 0; row < f.rows; ++row) {
    for (std::uint32_t column = 0; column < f.columns; ++column) {
      const auto [lane, reg, shift] = f.place(row, column);
      all.push_back(lane < call.warp.width ? call.warp.slot(call.reads[first + reg])[lane] >> shift & mask : 0);
    }
  }
  return all;
}

double number(Type type, std::uint64_t bits) {
  if (type == Type::F64) return std::bit_cast<double>(bits);
  if (type == Type::F32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return decode_float(format_of(type), bits);
}

std::uint64_t bits_of(Type type, double value) {
  if (type == Type::F64) return std::bit_cast<std::uint64_t>(value);
  if (type == Type::F32) return single_bits(value);
  return encode_float(format_of(type), value, 0, false);
}

}  // namespace

/// PTX leaves the order and the precision of a sum open; in double, each product is fused with the sum, and rounded once at the end.
void multiply_fragments(const WideCall& call) {
  const Instruction& i = call.i;
  const FragmentShape shape = FragmentShape::of(i.offset);
  const Type of_c = i.type == Type::S32 ? Type::S32 : i.type == Type::F64 ? Type::F64 : shape.half_sums ? Type::F16 : Type::F32;
  const Fragment of_a = shape.a(i.from), of_b = shape.b(i.from), sums = shape.sums(of_c), results = shape.sums(i.type);
  const auto a = gathered(call, 0, of_a), b = gathered(call, of_a.registers, of_b);
  const auto c = gathered(call, of_a.registers + of_b.registers, sums);
  for (std::size_t k = 0; k < i.writes; ++k) each_lane(call.lanes, [&](std::uint32_t lane) { call.warp.slot(call.writes[k])[lane] = 0; });
  const auto sum_of = [&](std::uint32_t row, std::uint32_t column) -> std::uint64_t {
    const std::uint64_t* const x = &a[std::size_t{row} * shape.k];
    const std::uint64_t* const y = &b[column];
    const std::uint64_t start = c[std::size_t{row} * shape.n + column];
    if (i.type == Type::S32) {
      std::int64_t sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(start));
      for (std::uint32_t at = 0; at < shape.k; ++at) sum += byte_value(x[at], shape.a_signed) * byte_value(y[at * shape.n], shape.b_signed);
      if (i.finite) sum = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
      return static_cast<std::uint32_t>(sum);
    }
    double sum = number(of_c, start);
    for (std::uint32_t at = 0; at < shape.k; ++at) sum = std::fma(number(i.from, x[at]), number(i.from, y[at * shape.n]), sum);
    return bits_of(i.type, sum);
  };
  for (std::uint32_t row = 0; row < shape.m; ++row) {
    for (std::uint32_t column = 0; column < shape.n; ++column) {
      const auto [lane, reg, shift] = results.place(row, column);
      if ((call.lanes >> lane & 1) != 0) call.warp.slot(call.writes[reg])[lane] |= sum_of(row, column) << shift;
    }
  }
}

}  // namespace gexp::sim
