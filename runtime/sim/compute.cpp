// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/compute.h"

#include <limits>

namespace gexp::sim {
namespace {

template <class F, class U> std::uint64_t float_op(Op op, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  const F a = std::bit_cast<F>(static_cast<U>(x)), b = std::bit_cast<F>(static_cast<U>(y)), c = std::bit_cast<F>(static_cast<U>(z));
  const bool ordered = !std::isnan(a) && !std::isnan(b);
  const auto bits_of = [](F f) -> std::uint64_t { return std::bit_cast<U>(f); };
  switch (op) {
    case Op::FAdd: return bits_of(a + b);
    case Op::FSub: return bits_of(a - b);
    case Op::FMul: return bits_of(a * b);
    case Op::FFma: return bits_of(std::fma(a, b, c));
    case Op::FDiv: return bits_of(a / b);
    case Op::FMin: return bits_of(std::fmin(a, b));
    case Op::FMax: return bits_of(std::fmax(a, b));
    case Op::FNeg: return bits_of(-a);
    case Op::FAbs: return bits_of(std::fabs(a));
    case Op::FSqrt: return bits_of(std::sqrt(a));
    case Op::FEq: return a == b;
    case Op::FNe: return ordered && a != b;
    case Op::FLt: return a < b;
    case Op::FLe: return a <= b;
    case Op::FGt: return a > b;
    case Op::FGe: return a >= b;
    case Op::FEqu: return !ordered || a == b;
    case Op::FNeu: return !ordered || a != b;
    case Op::FLtu: return !ordered || a < b;
    case Op::FLeu: return !ordered || a <= b;
    case Op::FGtu: return !ordered || a > b;
    case Op::FGeu: return !ordered || a >= b;
    case Op::FNum: return ordered;
    default: return !ordered;  // FNan
  }
}

std::uint64_t high_signed(std::int64_t a, std::int64_t b, int width) {
  __extension__ using wide = __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(a) * b) >> width);
}

std::uint64_t high_unsigned(std::uint64_t a, std::uint64_t b, int width) {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(a) * b) >> width);
}

std::uint64_t permute(std::uint64_t a, std::uint64_t b, std::uint64_t selector) {
  const std::uint64_t bytes = (a & 0xffffffffu) | (b << 32);
  std::uint64_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = static_cast<unsigned>(selector >> (4 * i)) & 15u;
    std::uint64_t byte = (bytes >> (8 * (s & 7))) & 0xff;
    if (s & 8) byte = (byte & 0x80) ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

std::uint64_t reverse(std::uint64_t a, int width) {
  std::uint64_t result = 0;
  for (int i = 0; i < width; ++i) result |= ((a >> i) & 1) << (width - 1 - i);
  return result;
}

}  // namespace

std::uint64_t compute_float(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return i.type == Type::F64 ? float_op<double, std::uint64_t>(i.op, a, b, c) : float_op<float, std::uint32_t>(i.op, a, b, c);
}

std::uint64_t convert_float(const Instruction& i, std::uint64_t a) {
  double value = 0;
  if (i.from == Type::F64) value = std::bit_cast<double>(a);
  else if (i.from == Type::F32) value = std::bit_cast<float>(static_cast<std::uint32_t>(a));
  else if (is_signed(i.from)) value = static_cast<double>(static_cast<std::int64_t>(a << i.shift) >> i.shift);
  else value = static_cast<double>((a << i.shift) >> i.shift);
  if (i.type == Type::F64 && !i.round) return std::bit_cast<std::uint64_t>(value);
  if (i.type == Type::F32 && !i.round) {
    // From a 64-bit integer straight to float: through double would round twice.
    if (i.from == Type::U64) return std::bit_cast<std::uint32_t>(static_cast<float>(a));
    if (i.from == Type::S64) return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(a)));
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  switch (i.round) {
    case 'n': value = std::nearbyint(value); break;
    case 'm': value = std::floor(value); break;
    case 'p': value = std::ceil(value); break;
    default: value = std::trunc(value);
  }
  if (i.type == Type::F64) return std::bit_cast<std::uint64_t>(value);
  if (i.type == Type::F32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return 0;
  // Out of range clamps to the nearest value of the type.
  const int width = bits(i.type);
  if (is_signed(i.type)) {
    const double limit = std::ldexp(1.0, width - 1);
    if (value >= limit) return (1ull << (width - 1)) - 1;
    if (value < -limit) return (1ull << (width - 1)) & i.mask;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & i.mask;
  }
  if (value <= 0) return 0;
  if (value >= std::ldexp(1.0, width)) return i.mask;
  return static_cast<std::uint64_t>(value) & i.mask;
}

std::uint64_t compute_rare(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const int width = 64 - i.shift;
  const auto extend = [&i](std::uint64_t v) { return static_cast<std::int64_t>(v << i.shift) >> i.shift; };
  switch (i.op) {
    case Op::MulHiS: return high_signed(extend(a), extend(b), width) & i.mask;
    case Op::MulHiU: return high_unsigned(a, b, width) & i.mask;
    case Op::MadHiS: return (high_signed(extend(a), extend(b), width) + c) & i.mask;
    case Op::MadHiU: return (high_unsigned(a, b, width) + c) & i.mask;
    // Division by zero is unspecified in PTX; hardware gives all ones.
    case Op::DivU: return b == 0 ? i.mask : a / b;
    case Op::RemU: return b == 0 ? a : a % b;
    case Op::DivS:
      if (b == 0) return i.mask;
      if (extend(b) == -1) return (0 - a) & i.mask;
      return static_cast<std::uint64_t>(extend(a) / extend(b)) & i.mask;
    case Op::RemS:
      if (b == 0) return a;
      if (extend(b) == -1) return 0;
      return static_cast<std::uint64_t>(extend(a) % extend(b)) & i.mask;
    case Op::AbsS: return extend(a) < 0 ? (0 - a) & i.mask : a;
    case Op::Neg: return (0 - a) & i.mask;
    case Op::Cnot: return a == 0;
    case Op::Lop3: {
      std::uint64_t result = 0;
      for (unsigned k = 0; k < 8; ++k) {
        if (!(static_cast<std::uint64_t>(i.offset) >> k & 1)) continue;
        result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
      }
      return result & i.mask;
    }
    case Op::FunnelL: case Op::FunnelLWrap: {
      const std::uint64_t n = i.op == Op::FunnelLWrap ? c & 31 : (c > 32 ? 32 : c);
      return (((b << 32 | a) << n) >> 32) & i.mask;
    }
    case Op::FunnelR: case Op::FunnelRWrap: {
      const std::uint64_t n = i.op == Op::FunnelRWrap ? c & 31 : (c > 32 ? 32 : c);
      return ((b << 32 | a) >> n) & i.mask;
    }
    case Op::BfeU: case Op::BfeS: {
      const unsigned from = b & 0xff, length = c & 0xff;
      if (length == 0) return 0;
      const std::uint64_t sign = i.op == Op::BfeS && (a >> (std::min<unsigned>(from + length, static_cast<unsigned>(width)) - 1) & 1);
      std::uint64_t field = from >= 64 ? 0 : a >> from;
      if (length < 64) field &= (1ull << length) - 1;
      const unsigned valid = from >= static_cast<unsigned>(width) ? 0 : std::min<unsigned>(length, static_cast<unsigned>(width) - from);
      if (sign) field |= valid >= 64 ? 0 : ~0ull << valid;
      return field & i.mask;
    }
    case Op::Bfi: {  // a into b at position c; the length is the instruction's offset
      const unsigned from = c & 0xff, length = static_cast<unsigned>(i.offset) & 0xff;
      if (length == 0 || from >= static_cast<unsigned>(width)) return b;
      const std::uint64_t field = (length >= 64 ? ~0ull : (1ull << length) - 1) << from;
      return ((b & ~field) | ((a << from) & field)) & i.mask;
    }
    case Op::Popc: return static_cast<std::uint64_t>(std::popcount(a));
    case Op::Clz: return static_cast<std::uint64_t>(std::countl_zero(a) - i.shift);
    case Op::Brev: return reverse(a, width);
    case Op::Prmt: return permute(a, b, c);
    default: return 0;
  }
}

}  // namespace gexp::sim
