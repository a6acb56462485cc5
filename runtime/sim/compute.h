// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/sim/ptx.h"

/// What each arithmetic instruction computes, on zero-extended slots (PTX ISA 8.x, chapter 9.7).
namespace gexp::sim {

std::uint64_t convert_float(const Instruction& i, std::uint64_t a);
/// Float arithmetic and comparisons.
std::uint64_t compute_float(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c);
/// The same of floats narrower than `float`, and of pairs of them.
std::uint64_t compute_small(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c);
/// Two floats to a pair of narrower ones, the first in the high half; three integers to parts of one register.
std::uint64_t convert_pair(const Instruction& i, std::uint64_t a, std::uint64_t b);
std::uint64_t convert_pack(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c);
/// A result with .sat or .relu.
double within(const Instruction& i, double value);
/// Bit-field instructions, division and the like: rare enough to live out of line.
std::uint64_t compute_rare(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c);

/// Whether a comparison of floats is true.
template <class F> bool holds(Op op, F a, F b) {
  const bool ordered = !std::isnan(a) && !std::isnan(b);
  switch (op) {
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

/// The value of an integer, as 64 bits of its own type, that is nearest in the type of the result.
std::uint64_t saturated(const Instruction& i, std::uint64_t value);

/// `a`, `b` and `c` are the instruction's operand slots' values; `op` is its operation, where that is known earlier than the rest.
[[gnu::always_inline]] inline std::uint64_t compute(Op op, const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const auto extend = [&i](std::uint64_t v) { return static_cast<std::int64_t>(v << i.shift) >> i.shift; };
  switch (op) {
    case Op::Mov: return a & i.mask;
    case Op::Add: return (a + b) & i.mask;
    case Op::Sub: return (a - b) & i.mask;
    case Op::Mul: return (a * b) & i.mask;
    case Op::Mad: return (a * b + c) & i.mask;
    case Op::MulWideU: return (a * b) & i.mask;
    case Op::MulWideS: return static_cast<std::uint64_t>(extend(a) * extend(b)) & i.mask;
    case Op::MadWideU: return (a * b + c) & i.mask;
    case Op::MadWideS: return (static_cast<std::uint64_t>(extend(a) * extend(b)) + c) & i.mask;
    case Op::And: return a & b;
    case Op::Or: return a | b;
    case Op::Xor: return a ^ b;
    case Op::Not: return ~a & i.mask;
    // Shift amounts beyond the width clamp to the width.
    case Op::Shl: return b >= 64u - i.shift ? 0 : (a << b) & i.mask;
    case Op::ShrU: return b >= 64u - i.shift ? 0 : a >> b;
    case Op::ShrS: return static_cast<std::uint64_t>(extend(a) >> (b > 63 ? 63 : b)) & i.mask;
    case Op::Selp: return (c ? a : b) & i.mask;
    case Op::Eq: return a == b;
    case Op::Ne: return a != b;
    case Op::LtU: return a < b;
    case Op::LeU: return a <= b;
    case Op::GtU: return a > b;
    case Op::GeU: return a >= b;
    case Op::LtS: return extend(a) < extend(b);
    case Op::LeS: return extend(a) <= extend(b);
    case Op::GtS: return extend(a) > extend(b);
    case Op::GeS: return extend(a) >= extend(b);
    case Op::MinU: return a < b ? a : b;
    case Op::MaxU: return a > b ? a : b;
    case Op::MinS: return extend(a) < extend(b) ? a : b;
    case Op::MaxS: return extend(a) > extend(b) ? a : b;
    case Op::CvtInt: {
      // The operand is read in its own type (shift is the operand's), cut to the result's, and signed results fill the register.
      const std::uint64_t wide = is_signed(i.from) ? static_cast<std::uint64_t>(extend(a)) : (a << i.shift) >> i.shift;
      std::uint64_t cut = (i.saturate ? saturated(i, wide) : wide) & i.mask;
      if (i.extend != 0 && (cut & (i.mask ^ (i.mask >> 1))) != 0) cut |= i.extend;
      return cut;
    }
    case Op::CvtFloat: return convert_float(i, a);
    default: return op >= Op::FAdd && op <= Op::FNan ? compute_float(i, a, b, c) : compute_rare(i, a, b, c);
  }
}

}  // namespace gexp::sim
