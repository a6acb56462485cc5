// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/float_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace gexp::sim {
namespace {

constexpr FloatFormat kF16{5, 10, true, 0, 0x7fff}, kBf16{8, 7, true, 0, 0x7fff}, kTf32{8, 10, true, 13, 0x7fffffff};
constexpr FloatFormat kE4m3{4, 3, false, 0, 0x7f}, kE5m2{5, 2, true, 0, 0x7f};

int bias(const FloatFormat& f) { return (1 << (f.exponent_bits - 1)) - 1; }

/// The bits of the largest number, without its sign.
std::uint64_t largest(const FloatFormat& f) {
  const std::uint64_t all = (1ull << (f.exponent_bits + f.mantissa_bits)) - 1;
  return f.infinite ? all - (1ull << f.mantissa_bits) : all - 1;
}

/// `value` moved towards `error`'s sign or away from zero's parity so that its last bit is 1: what was lost stays visible.
double to_odd(double value, double error) {
  if (error == 0 || (std::bit_cast<std::uint64_t>(value) & 1) != 0) return value;
  return std::nextafter(value, error > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
}

}  // namespace

const FloatFormat& format_of(Type type) {
  switch (element(type)) {
    case Type::Bf16: return kBf16;
    case Type::Tf32: return kTf32;
    case Type::E4m3x2: return kE4m3;
    case Type::E5m2x2: return kE5m2;
    default: return kF16;
  }
}

double decode_float(const FloatFormat& f, std::uint64_t bits) {
  bits >>= f.moved;
  const std::uint64_t mantissa = bits & ((1ull << f.mantissa_bits) - 1);
  const int exponent = static_cast<int>(bits >> f.mantissa_bits & ((1ull << f.exponent_bits) - 1));
  const bool negative = (bits >> (f.exponent_bits + f.mantissa_bits) & 1) != 0;
  const int highest = (1 << f.exponent_bits) - 1;
  double value = 0;
  if (exponent == highest && f.infinite) {
    value = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == highest && mantissa == (1ull << f.mantissa_bits) - 1) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    const std::uint64_t digits = exponent == 0 ? mantissa : mantissa | 1ull << f.mantissa_bits;
    value = std::ldexp(static_cast<double>(digits), std::max(exponent, 1) - bias(f) - f.mantissa_bits);
  }
  return negative ? -value : value;
}

std::uint64_t encode_float(const FloatFormat& f, double value, std::uint8_t how, bool finite) {
  if (std::isnan(value)) return f.nan;
  const bool negative = std::signbit(value);
  const double size = std::fabs(value);
  const std::uint64_t most = largest(f), sign = negative ? 1ull << (f.exponent_bits + f.mantissa_bits) : 0;
  std::uint64_t bits = most + 1;
  bool beyond = std::isinf(size);
  if (!beyond && size != 0) {
    const int first = 1 - bias(f), exponent = std::max(std::ilogb(size), first);
    const double scaled = std::ldexp(size, f.mantissa_bits - exponent);
    const double whole = std::floor(scaled), rest = scaled - whole;
    const bool odd = std::fmod(whole, 2) != 0;
    bool up = false;
    switch (how) {
      case 'z': break;
      case 'm': up = negative && rest > 0; break;
      case 'p': up = !negative && rest > 0; break;
      case 'a': up = rest >= 0.5; break;
      default: up = rest > 0.5 || (rest == 0.5 && odd);
    }
    bits = (static_cast<std::uint64_t>(exponent - first) << f.mantissa_bits) + static_cast<std::uint64_t>(whole) + up;
    beyond = bits > most;
  } else if (size == 0) {
    bits = 0;
  }
  if (beyond) {
    // Rounded towards zero nothing grows beyond the largest number, but an infinity stays one.
    const bool stays = finite || !f.infinite || (!std::isinf(size) && (how == 'z' || (how == 'm' && !negative) || (how == 'p' && negative)));
    bits = stays ? most : most + 1;
  }
  return (sign | bits) << f.moved;
}

double fused_to_odd(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double from_c = sum - product, error = (product - (sum - from_c)) + (c - from_c);  // Knuth's TwoSum
  return to_odd(sum, error);
}

double integer_to_odd(std::uint64_t magnitude, bool negative) {
  int moved = 0;
  while (magnitude >> 53 != 0) magnitude = magnitude >> 1 | (magnitude & 1), ++moved;
  const double value = std::ldexp(static_cast<double>(magnitude), moved);
  return negative ? -value : value;
}

}  // namespace gexp::sim
