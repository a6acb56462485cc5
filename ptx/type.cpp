// SPDX-License-Identifier: Apache-2.0
#include "ptx/type.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace gexp::ptx {

int bits(Type type) {
  switch (type) {
    case Type::None: return 0;
    case Type::Pred: return 1;
    case Type::B8: case Type::U8: case Type::S8: return 8;
    case Type::B16: case Type::U16: case Type::S16: case Type::F16: case Type::Bf16: case Type::E4m3x2: case Type::E5m2x2: return 16;
    case Type::B64: case Type::U64: case Type::S64: case Type::F64: return 64;
    case Type::B128: return 128;
    default: return 32;
  }
}

namespace {

constexpr std::pair<std::string_view, Type> kTypes[] = {
    {"pred", Type::Pred}, {"b8", Type::B8}, {"b16", Type::B16}, {"b32", Type::B32}, {"b64", Type::B64}, {"u8", Type::U8},
    {"u16", Type::U16}, {"u32", Type::U32}, {"u64", Type::U64}, {"s8", Type::S8}, {"s16", Type::S16}, {"s32", Type::S32},
    {"s64", Type::S64}, {"f32", Type::F32}, {"f64", Type::F64},
    {"f16", Type::F16}, {"bf16", Type::Bf16}, {"f16x2", Type::F16x2}, {"bf16x2", Type::Bf16x2}, {"u16x2", Type::U16x2},
    {"s16x2", Type::S16x2}, {"b128", Type::B128}, {"tf32", Type::Tf32}, {"e4m3x2", Type::E4m3x2}, {"e5m2x2", Type::E5m2x2}};

}  // namespace

Type type_named(std::string_view name) {
  for (const auto& [word, type] : kTypes) {
    if (word == name) return type;
  }
  return Type::None;
}

std::string_view name_of(Type of) {
  for (const auto& [word, type] : kTypes) {
    if (type == of) return word;
  }
  return {};
}

std::optional<std::uint64_t> literal(std::string_view text, bool minus, Type type) {
  std::uint64_t value = 0;
  const bool single = text.starts_with("0f") || text.starts_with("0F");
  if (single || text.starts_with("0d") || text.starts_with("0D")) {
    // fact: all bits of the number are written (PTX ISA 4.5.2).
    if (text.size() != (single ? 10u : 18u)) return std::nullopt;
    const auto parsed = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
    if (minus) value ^= single ? 1ull << 31 : 1ull << 63;
    return value;
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    base = text[1] == 'x' || text[1] == 'X' ? 16 : text[1] == 'b' || text[1] == 'B' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  if (text.size() > 1 && text.back() == 'U') text.remove_suffix(1);
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  if (minus) value = 0 - value;
  const int width = bits(type);
  return width == 0 || width == 64 ? value : value & ((1ull << width) - 1);
}

std::string why_no_literal(std::string_view text) {
  const auto begins = [&](std::string_view lower, std::string_view upper) { return text.starts_with(lower) || text.starts_with(upper); };
  const int digits = begins("0f", "0F") ? 8 : begins("0d", "0D") ? 16 : 0;
  if (digits == 0) return fmt::format("'{}' is no number", text);
  return fmt::format("'{}' is no number: behind {} stand {} hexadecimal digits, the bits of a float of {} bits", text, text.substr(0, 2), digits, digits * 4);
}

}  // namespace gexp::ptx
