// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "runtime/sim/ptx.h"

/// A matrix of wmma, spread over the lanes of a warp. PTX leaves open who holds what; here the elements are dealt in order: as they lie in
/// memory, of operands, and row by row, of sums, whose layout in memory an instruction chooses. So loads and stores are accesses of
/// neighbouring elements.
namespace gexp::sim {

struct Fragment {
  std::uint32_t rows = 0, columns = 0;
  bool by_rows = true;   ///< the order in which elements are dealt
  std::uint32_t bits = 32;
  std::uint32_t registers = 0;  ///< of a lane; more than are needed hold the same again

  [[nodiscard]] std::uint32_t per_lane() const { return rows * columns / 32; }
  [[nodiscard]] std::uint32_t per_register() const { return bits < 32 ? 32 / bits : 1; }
  [[nodiscard]] std::uint32_t used_registers() const { return per_lane() / per_register(); }
  struct Place {
    std::uint32_t lane, reg, shift;
  };
  [[nodiscard]] Place place(std::uint32_t row, std::uint32_t column) const {
    const std::uint32_t number = by_rows ? row * columns + column : column * rows + row, in_lane = number % per_lane();
    return {number / per_lane(), in_lane / per_register(), in_lane % per_register() * bits};
  }
};

/// What one wmma.mma multiplies, in Instruction::offset.
struct FragmentShape {
  std::uint32_t m = 0, n = 0, k = 0;
  bool a_by_rows = true, b_by_rows = true, a_signed = false, b_signed = false;
  bool half_sums = false;  ///< c is of f16

  [[nodiscard]] std::int64_t packed() const {
    return m | n << 8 | k << 16 | std::int64_t{a_by_rows} << 24 | std::int64_t{b_by_rows} << 25 | std::int64_t{a_signed} << 26 | std::int64_t{b_signed} << 27 |
           std::int64_t{half_sums} << 28;
  }
  static FragmentShape of(std::int64_t packed) {
    const auto byte = [&](int at) { return static_cast<std::uint32_t>(packed >> at & 0xff); };
    const auto flag = [&](int at) { return (packed >> at & 1) != 0; };
    return {byte(0), byte(8), byte(16), flag(24), flag(25), flag(26), flag(27), flag(28)};
  }
  [[nodiscard]] Fragment a(Type type) const { return operand(type, m, k, a_by_rows); }
  [[nodiscard]] Fragment b(Type type) const { return operand(type, k, n, b_by_rows); }
  [[nodiscard]] Fragment sums(Type type) const {
    Fragment made{m, n, true, static_cast<std::uint32_t>(bits(type)), 0};
    made.registers = made.used_registers();
    return made;
  }

 private:
  static Fragment operand(Type type, std::uint32_t rows, std::uint32_t columns, bool by_rows) {
    Fragment made{rows, columns, by_rows, static_cast<std::uint32_t>(type == Type::Tf32 ? 32 : bits(type)), 0};
    made.registers = type == Type::F16 ? 8 : made.used_registers();  // fact: of f16 every shape has 8 registers (PTX ISA, wmma.load)
    return made;
  }
};

}  // namespace gexp::sim
