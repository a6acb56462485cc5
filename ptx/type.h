// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gexp::ptx {

enum class Type : std::uint8_t {
  None, Pred, B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64, F16, Bf16, F16x2, Bf16x2, U16x2, S16x2, B128, Tf32, E4m3x2, E5m2x2,
};
int bits(Type type);  ///< 1 for Pred, 0 for None
[[nodiscard]] constexpr bool is_signed(Type t) { return (t >= Type::S8 && t <= Type::S64) || t == Type::S16x2; }
[[nodiscard]] constexpr bool is_float(Type t) { return t == Type::F32 || t == Type::F64; }
/// A float narrower than `float`, or a pair of them.
[[nodiscard]] constexpr bool is_small_float(Type t) { return (t >= Type::F16 && t <= Type::Bf16x2) || t >= Type::Tf32; }
/// Of which type each half of a packed type is; the type itself of any other.
[[nodiscard]] constexpr Type element(Type t) {
  return t == Type::F16x2 ? Type::F16 : t == Type::Bf16x2 ? Type::Bf16 : t == Type::U16x2 ? Type::U16 : t == Type::S16x2 ? Type::S16 : t;
}

/// "u32" and so on; None of what is no type.
Type type_named(std::string_view name);
std::string_view name_of(Type type);

/// What is wrong with the text of a number, and what to write.
std::string why_no_literal(std::string_view text);
/// The value of an integer or float literal in the bits of `type`; nothing if it is no literal of that type.
std::optional<std::uint64_t> literal(std::string_view text, bool minus, Type type);

}  // namespace gexp::ptx
