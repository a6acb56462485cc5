// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/compute.h"

#include <cfenv>
#include <limits>

namespace gexp::sim {
namespace {

/// The smaller one; a number goes before a NaN, and -0 before +0 (the host's fmin may do either).
template <class F> F least(F a, F b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class F> F greatest(F a, F b) { return -least(-a, -b); }

/// Every single-precision result that is no number has the same bits; in double precision an operand's may pass.
std::uint64_t result_of(float f) { return std::isnan(f) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(f); }
std::uint64_t result_of(double f) { return std::bit_cast<std::uint64_t>(f); }

template <class F, class U> std::uint64_t float_op(Op op, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  const F a = std::bit_cast<F>(static_cast<U>(x)), b = std::bit_cast<F>(static_cast<U>(y)), c = std::bit_cast<F>(static_cast<U>(z));
  const auto bits_of = [](F f) -> std::uint64_t { return std::bit_cast<U>(f); };
  const bool ordered = !std::isnan(a) && !std::isnan(b);
  switch (op) {
    case Op::FAdd: return result_of(a + b);
    case Op::FSub: return result_of(a - b);
    case Op::FMul: return result_of(a * b);
    case Op::FFma: return result_of(std::fma(a, b, c));
    case Op::FDiv: return result_of(a / b);
    case Op::FMin: return result_of(least(a, b));
    case Op::FMax: return result_of(greatest(a, b));
    case Op::FNeg: return result_of(-a);
    case Op::FAbs: return result_of(std::fabs(a));
    case Op::FCopySign: return bits_of(std::copysign(b, a));
    case Op::FSqrt: return result_of(std::sqrt(a));
    // Approximations on the device; here as near as the host comes.
    case Op::FRsqrt: return result_of(1 / std::sqrt(a));
    case Op::FSin: return result_of(std::sin(a));
    case Op::FCos: return result_of(std::cos(a));
    case Op::FEx2: return result_of(std::exp2(a));
    case Op::FLg2: return result_of(std::log2(a));
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

/// Sets how the host rounds, for as long as it lives. Compilers do not know of that: volatile variables on both sides hold the arithmetic.
class Rounding {
 public:
  explicit Rounding(std::uint8_t how) { std::fesetround(how == 'z' ? FE_TOWARDZERO : how == 'm' ? FE_DOWNWARD : FE_UPWARD); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;
  ~Rounding() { std::fesetround(FE_TONEAREST); }
};

/// A single-precision subnormal as a zero of its sign.
std::uint64_t flushed(std::uint64_t a) { return (a & 0x7f800000u) == 0 ? a & 0x80000000u : a; }

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

/// dp4a: four products of bytes; dp2a: two of a's halves with b's low or high two bytes.
std::uint64_t dot(std::uint64_t a, std::uint64_t b, std::uint64_t c, int parts, std::int64_t flags) {
  const int width = 32 / parts;
  const auto part = [](std::uint64_t from, int at, int bits, bool with_sign) {
    const std::uint64_t top = from << (64 - bits - at);
    return with_sign ? static_cast<std::uint64_t>(static_cast<std::int64_t>(top) >> (64 - bits)) : top >> (64 - bits);
  };
  for (int k = 0; k < parts; ++k) {
    const int byte = k + (flags & kDotHigh ? 2 : 0);
    c += part(a, k * width, width, flags & kDotSignedA) * part(b, 8 * byte, 8, flags & kDotSignedB);
  }
  return c;
}

std::uint64_t reverse(std::uint64_t a, int width) {
  std::uint64_t result = 0;
  for (int i = 0; i < width; ++i) result |= ((a >> i) & 1) << (width - 1 - i);
  return result;
}

}  // namespace

std::uint64_t compute_float(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (i.inexact != 0) {
    const Rounding rounding(i.inexact);
    Instruction plain = i;
    plain.inexact = 0;
    volatile std::uint64_t x = a, y = b, z = c;
    volatile std::uint64_t result = compute_float(plain, x, y, z);
    return result;
  }
  if (i.flush && i.type == Type::F32) {
    Instruction plain = i;
    plain.flush = false;
    const std::uint64_t result = compute_float(plain, flushed(a), flushed(b), flushed(c));
    return i.op >= Op::FEq ? result : flushed(result);
  }
  return i.type == Type::F64 ? float_op<double, std::uint64_t>(i.op, a, b, c) : float_op<float, std::uint32_t>(i.op, a, b, c);
}

std::uint64_t convert_float(const Instruction& i, std::uint64_t a) {
  if (i.inexact != 0) {
    const Rounding rounding(i.inexact);
    Instruction plain = i;
    plain.inexact = 0;
    volatile std::uint64_t x = a;
    volatile std::uint64_t result = convert_float(plain, x);
    return result;
  }
  if (i.flush) {
    Instruction plain = i;
    plain.flush = false;
    const std::uint64_t result = convert_float(plain, i.from == Type::F32 ? flushed(a) : a);
    return i.type == Type::F32 ? flushed(result) : result;
  }
  double value = 0;
  if (i.from == Type::F64) value = std::bit_cast<double>(a);
  else if (i.from == Type::F32) value = std::bit_cast<float>(static_cast<std::uint32_t>(a));
  else if (is_signed(i.from)) value = static_cast<double>(static_cast<std::int64_t>(a << i.shift) >> i.shift);
  else value = static_cast<double>((a << i.shift) >> i.shift);
  if (i.type == Type::F64 && !i.round) return result_of(value);
  if (i.type == Type::F32 && !i.round) {
    // From a 64-bit integer straight to float: through double would round twice.
    if (i.from == Type::U64) return std::bit_cast<std::uint32_t>(static_cast<float>(a));
    if (i.from == Type::S64) return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(a)));
    return result_of(static_cast<float>(value));
  }
  switch (i.round) {
    case 'n': value = std::nearbyint(value); break;
    case 'm': value = std::floor(value); break;
    case 'p': value = std::ceil(value); break;
    default: value = std::trunc(value);
  }
  if (i.type == Type::F64) return result_of(value);
  if (i.type == Type::F32) return result_of(static_cast<float>(value));
  // NaN becomes 0, but the highest bit alone where either side has 64 bits; out of range clamps to the nearest value of the type.
  const int width = bits(i.type);
  if (std::isnan(value)) return i.from == Type::F64 || width == 64 ? 1ull << (width - 1) : 0;
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
    // The place of the highest bit that differs from the sign; with a shift asked for, how far it is from the top.
    case Op::FindS: case Op::FindU: {
      const std::uint64_t field = i.op == Op::FindS && extend(a) < 0 ? ~a & i.mask : a;
      if (field == 0) return 0xffffffffu;
      const auto place = static_cast<std::uint64_t>(63 - std::countl_zero(field));
      return i.offset != 0 ? static_cast<std::uint64_t>(width - 1) - place : place;
    }
    case Op::Brev: return reverse(a, width);
    case Op::Dot2: return dot(a, b, c, 2, i.offset) & i.mask;
    case Op::Dot4: return dot(a, b, c, 4, i.offset) & i.mask;
    case Op::Prmt: return permute(a, b, c);
    default: return 0;
  }
}

}  // namespace gexp::sim
