// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "runtime/sim/wide.h"

/// Video instructions (PTX ISA 9.7.18).
namespace gexp::sim {

/// What one computes, in Instruction::offset.
struct Video {
  enum class Operation : std::uint8_t { Add, Subtract, Distance, Least, Greatest, Left, Right, Average, Equal, Unequal, Less, LessEqual, Greater, GreaterEqual, MultiplyAdd };
  enum class Second : std::uint8_t { None, Add, Least, Greatest };

  Operation operation = Operation::Add;
  Second second = Second::None;
  bool saturates = false, a_signed = false, b_signed = false, wraps = false;
  std::uint32_t parts = 1;    ///< elements of each operand, that are computed side by side: 1, 2 or 4
  std::uint32_t merged = 0;   ///< bits of the part of the third operand that the result takes; 0: all
  std::uint32_t at = 0;       ///< and where that begins
  bool plus_one = false, product_negated = false, addend_negated = false;  ///< vmad
  std::uint32_t scale = 0;    ///< vmad: the result is moved right so far

  [[nodiscard]] std::int64_t packed() const {
    const auto flag = [](bool set, int place) { return std::int64_t{set} << place; };
    return static_cast<std::int64_t>(operation) | static_cast<std::int64_t>(second) << 4 | flag(saturates, 8) | flag(a_signed, 9) | flag(b_signed, 10) | flag(wraps, 11) |
           std::int64_t{parts} << 12 | flag(plus_one, 16) | flag(product_negated, 17) | flag(addend_negated, 18) | std::int64_t{scale} << 20 | std::int64_t{merged} << 32 | std::int64_t{at} << 40;
  }
  static Video of(std::int64_t packed) {
    const auto part = [&](int place, int mask) { return static_cast<std::uint32_t>(packed >> place & mask); };
    const auto flag = [&](int place) { return part(place, 1) != 0; };
    return {static_cast<Operation>(part(0, 15)), static_cast<Second>(part(4, 15)), flag(8), flag(9), flag(10), flag(11), part(12, 15), part(32, 255), part(40, 255), flag(16), flag(17), flag(18), part(20, 255)};
  }
};

/// Operands: a, b, c. Result: d.
void compute_video(const WideCall& call);

}  // namespace gexp::sim
