// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/compute.h"

#include <cfenv>
#include <limits>

#include "runtime/sim/float_format.h"

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
    case Op::FTanh: return result_of(std::tanh(a));
    default: return holds(op, a, b);
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

/// testp: 0 finite, 1 infinite, 2 a number, 3 not a number, 4 normal, 5 subnormal.
template <class F> std::uint64_t of_class(std::int64_t which, F a) {
  switch (which) {
    case 0: return std::isfinite(a);
    case 1: return std::isinf(a);
    case 2: return !std::isnan(a);
    case 3: return std::isnan(a);
    case 4: return std::isnormal(a);
    default: return std::fpclassify(a) == FP_SUBNORMAL;
  }
}

/// With .sat, .NaN or .xorsign.abs: the plain operation between what they change of its operands and of its result.
std::uint64_t compute_modified(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  Instruction plain = i;
  plain.saturate = plain.nan = plain.magnitude = false;
  const bool wide = i.type == Type::F64;
  const auto value = [wide](std::uint64_t bits) -> double { return wide ? std::bit_cast<double>(bits) : std::bit_cast<float>(static_cast<std::uint32_t>(bits)); };
  if (i.nan && (std::isnan(value(a)) || std::isnan(value(b)))) return wide ? 0x7fffffffffffffffull : 0x7fffffffu;
  const std::uint64_t sign = wide ? 1ull << 63 : 1ull << 31, negative = i.magnitude ? (a ^ b) & sign : 0;
  if (i.magnitude) a &= ~sign, b &= ~sign;
  const std::uint64_t result = compute_float(plain, a, b, c);
  if (i.magnitude && !std::isnan(value(result))) return result | negative;
  if (!i.saturate) return result;
  const double kept = within(i, value(result));
  return wide ? std::bit_cast<std::uint64_t>(kept) : std::bit_cast<std::uint32_t>(static_cast<float>(kept));
}

}  // namespace

std::uint64_t compute_float(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (is_small_float(i.type)) return compute_small(i, a, b, c);
  if (i.op == Op::FTest) return i.type == Type::F64 ? of_class(i.offset, std::bit_cast<double>(a)) : of_class(i.offset, std::bit_cast<float>(static_cast<std::uint32_t>(a)));
  if (i.saturate || i.nan || i.magnitude) return compute_modified(i, a, b, c);
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

namespace {

double read_float(const Instruction& i, std::uint64_t a) {
  if (is_small_float(i.from)) return decode_float(format_of(i.from), a);
  if (i.from == Type::F64) return std::bit_cast<double>(a);
  if (i.from == Type::F32) return std::bit_cast<float>(static_cast<std::uint32_t>(a));
  const std::int64_t value = static_cast<std::int64_t>(a << i.shift) >> i.shift;
  if (is_signed(i.from)) return is_small_float(i.type) ? integer_to_odd(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value), value < 0) : static_cast<double>(value);
  return is_small_float(i.type) ? integer_to_odd((a << i.shift) >> i.shift, false) : static_cast<double>((a << i.shift) >> i.shift);
}

double to_integral(std::uint8_t how, double value) {
  switch (how) {
    case 'n': return std::nearbyint(value);
    case 'm': return std::floor(value);
    case 'p': return std::ceil(value);
    default: return std::trunc(value);
  }
}

/// An integral value in an integer type, clamped. NaN becomes 0, but the highest bit alone where either side has 64 bits.
std::uint64_t to_integer(const Instruction& i, double value) {
  const int width = bits(i.type);
  if (std::isnan(value)) return i.from == Type::F64 || width == 64 ? 1ull << (width - 1) : 0;
  if (is_signed(i.type)) {
    const double limit = std::ldexp(1.0, width - 1);
    const std::uint64_t whole = value >= limit   ? (1ull << (width - 1)) - 1
                                : value < -limit ? 1ull << (width - 1)
                                                 : static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & i.mask;
    return (whole & (i.mask ^ (i.mask >> 1))) != 0 ? whole | i.extend : whole;
  }
  if (value <= 0) return 0;
  if (value >= std::ldexp(1.0, width)) return i.mask;
  return static_cast<std::uint64_t>(value) & i.mask;
}

}  // namespace

std::uint64_t convert_float(const Instruction& i, std::uint64_t a) {
  if (i.flush) {
    Instruction plain = i;
    plain.flush = false;
    const std::uint64_t result = convert_float(plain, i.from == Type::F32 ? flushed(a) : a);
    return i.type == Type::F32 ? flushed(result) : result;
  }
  if (is_small_float(i.type)) {
    const double value = read_float(i, a);
    return encode_float(format_of(i.type), within(i, i.round ? to_integral(i.round, value) : value), i.inexact, i.finite);
  }
  if (i.saturate && is_float(i.type)) {
    Instruction plain = i;
    plain.saturate = false;
    const std::uint64_t result = convert_float(plain, a);
    return i.type == Type::F64 ? std::bit_cast<std::uint64_t>(within(i, std::bit_cast<double>(result)))
                               : std::bit_cast<std::uint32_t>(static_cast<float>(within(i, std::bit_cast<float>(static_cast<std::uint32_t>(result)))));
  }
  if (i.inexact != 0) {
    const Rounding rounding(i.inexact);
    Instruction plain = i;
    plain.inexact = 0;
    volatile std::uint64_t x = a;
    volatile std::uint64_t result = convert_float(plain, x);
    return result;
  }
  double value = read_float(i, a);
  if (i.round) value = to_integral(i.round, value);
  if (i.type == Type::F64) return result_of(value);
  if (i.type != Type::F32) return to_integer(i, value);
  // From a 64-bit integer straight to float: through double would round twice.
  if (i.from == Type::U64) return std::bit_cast<std::uint32_t>(static_cast<float>(a));
  if (i.from == Type::S64) return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(a)));
  return result_of(static_cast<float>(value));
}

}  // namespace gexp::sim
