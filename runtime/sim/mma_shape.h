// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

/// What one mma multiplies, and which lane holds which element of it, as PTX ISA 9.7.14.5 lays fragments out.
namespace gexp::sim {

enum class MmaElement : std::uint8_t { F64, F32, S32, Tf32, F16, Bf16, E4m3, E5m2, U8, S8, U4, S4, B1 };

std::optional<MmaElement> mma_element(std::string_view word);
std::uint32_t mma_bits(MmaElement element);

struct MmaShape {
  std::uint32_t m = 0, n = 0, k = 0;
  MmaElement a = MmaElement::F16, b = MmaElement::F16, c = MmaElement::F32, d = MmaElement::F32;
  bool a_by_rows = true, b_by_rows = false;  ///< Quads alone take the other orders
  bool exclusive = false;                    ///< of single bits: xor, where else it is and

  /// Where an element is: a lane, one of its registers, and a bit of that.
  struct Place {
    std::uint32_t lane, reg, shift;
  };

  /// "m16n8k16".
  void name(std::string_view word);
  /// Whether the PTX ISA has such an instruction.
  [[nodiscard]] bool exists() const;
  /// m8n8k4 of halves: four products at once, each of 8 lanes, which lie 16 apart in two quads.
  [[nodiscard]] bool quads() const { return k == 4 && a == MmaElement::F16; }
  [[nodiscard]] std::uint32_t registers_of_a() const { return registers(a, m * k); }
  [[nodiscard]] std::uint32_t registers_of_b() const { return registers(b, k * n); }
  [[nodiscard]] std::uint32_t registers_of_sums(MmaElement element) const { return registers(element, m * n); }
  /// `product`: which of the four, of quads.
  [[nodiscard]] Place place_of_a(std::uint32_t row, std::uint32_t at, std::uint32_t product) const;
  [[nodiscard]] Place place_of_b(std::uint32_t at, std::uint32_t column, std::uint32_t product) const;
  [[nodiscard]] Place place_of_sum(MmaElement element, std::uint32_t row, std::uint32_t column, std::uint32_t product) const;

  [[nodiscard]] std::int64_t packed() const;
  static MmaShape of(std::int64_t packed);

 private:
  [[nodiscard]] std::uint32_t registers(MmaElement element, std::uint32_t elements) const;
};

}  // namespace gexp::sim
