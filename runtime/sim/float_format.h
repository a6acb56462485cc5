// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "runtime/sim/ptx.h"

/// Floats narrower than `float`, by way of double, which holds each of them exactly.
namespace gexp::sim {

struct FloatFormat {
  int exponent_bits, mantissa_bits;
  bool infinite;        ///< has infinities; else the highest exponent is one of numbers, and all ones are NaN
  int moved;            ///< bits below it in the register (tf32)
  std::uint32_t nan;    ///< what every NaN result is
};

/// Of f16, bf16, tf32, e4m3x2 and e5m2x2 (of one of two).
const FloatFormat& format_of(Type type);

double decode_float(const FloatFormat& format, std::uint64_t bits);
/// Rounded once. `how`: 0 to nearest even, 'a' to nearest, ties away from zero, 'z' 'm' 'p'. `finite`: what is out of range becomes
/// the largest number.
std::uint64_t encode_float(const FloatFormat& format, double value, std::uint8_t how, bool finite);

/// a * b + c, for a product that double holds exactly, rounded to odd: to round it again to fewer bits is to round once.
double fused_to_odd(double a, double b, double c);
/// An integer, rounded to odd where double has too few bits.
double integer_to_odd(std::uint64_t magnitude, bool negative);

}  // namespace gexp::sim
