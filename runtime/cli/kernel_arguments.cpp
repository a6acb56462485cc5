// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/kernel_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>

#include "lang/base/files.h"
#include "lang/base/split.h"

namespace gexp::cli {
namespace {

constexpr const char* kForms = "1024, f32=2.5, u32[1024], u32[1024]=7, f32[4]=1,2,3,4, u32[1024]=index, f32[1024]=random or u8[]=@FILE";

Diagnostic wrong(const std::string& text, const std::string& why) {
  return failure("E0510", fmt::format("the argument `{}`: {}", text, why), fmt::format("write {}", kForms));
}

std::optional<ElementType> element_type(std::string_view name) {
  for (const auto& known : element_types()) {
    if (known == name) return ElementType{name[0], static_cast<std::uint32_t>(std::strtoul(known.c_str() + 1, nullptr, 10) / 8)};
  }
  return std::nullopt;
}

std::optional<double> as_float(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) return std::nullopt;
  return value;
}

/// A whole number of so many bytes, decimal or 0x…; negative ones in two's complement.
std::optional<std::uint64_t> as_whole(std::string_view text, std::uint32_t bytes, bool is_signed) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  const std::uint64_t limit = bytes == 8 ? ~0ull : (1ull << bytes * 8) - 1, half = limit / 2;
  if (negative ? value > half + 1 : value > (is_signed && !hexadecimal ? half : limit)) return std::nullopt;
  return (negative ? 0 - value : value) & limit;
}

std::optional<std::uint64_t> as_element(const std::string& text, const ElementType& type) {
  if (type.kind != 'f') return as_whole(text, type.bytes, type.kind == 's');
  const auto value = as_float(text);
  if (!value) return std::nullopt;
  return type.bytes == 4 ? std::bit_cast<std::uint32_t>(static_cast<float>(*value)) : std::bit_cast<std::uint64_t>(*value);
}

void put(std::vector<std::byte>& to, std::size_t index, const ElementType& type, std::uint64_t bits) {
  std::memcpy(to.data() + index * type.bytes, &bits, type.bytes);
}

std::uint64_t bits_at(const std::vector<std::byte>& content, std::size_t index, const ElementType& type) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, content.data() + index * type.bytes, type.bytes);
  return bits;
}

std::uint64_t number_as_bits(const ElementType& type, double number) {
  if (type.kind != 'f') return static_cast<std::uint64_t>(number);
  return type.bytes == 4 ? std::bit_cast<std::uint32_t>(static_cast<float>(number)) : std::bit_cast<std::uint64_t>(number);
}

/// What stands after the "=" of an array; `count` is 0 where the content decides it.
Result<> fill(KernelArgument& a, const std::string& with, std::uint64_t count, std::uint64_t seed, std::uint64_t most_bytes) {
  const auto room = [&](std::uint64_t elements) { return elements <= most_bytes / a.type.bytes; };
  const auto too_large = [&] { return wrong(a.text, fmt::format("more than the {} B that it may have", most_bytes)); };
  if (with.starts_with('@')) {
    auto bytes = read_regular_file(with.substr(1), most_bytes);
    if (!bytes) return wrong(a.text, bytes.error().message);
    if (bytes->size() % a.type.bytes != 0 || bytes->empty()) return wrong(a.text, fmt::format("{} B are no whole number of {}", bytes->size(), a.type.name()));
    if (count != 0 && bytes->size() != count * a.type.bytes) return wrong(a.text, fmt::format("the file has {} B, the array {}", bytes->size(), count * a.type.bytes));
    a.content.resize(bytes->size());
    std::memcpy(a.content.data(), bytes->data(), bytes->size());
    return Ok{};
  }
  const auto parts = with.empty() ? std::vector<std::string_view>{} : split(with, ',');
  std::vector<std::string> list(parts.begin(), parts.end());
  if (count == 0) count = list.size();
  if (count == 0) return wrong(a.text, "how many elements?");
  if (!room(count)) return too_large();
  a.content.resize(count * a.type.bytes);
  if (with == "index" || with == "random") {
    std::mt19937_64 random(seed);
    for (std::uint64_t k = 0; k < count; ++k) {
      const bool chance = with == "random";
      const std::uint64_t bits = !chance ? number_as_bits(a.type, static_cast<double>(k)) : a.type.kind == 'f' ? number_as_bits(a.type, static_cast<double>(random() >> 11) * 0x1p-53) : random();
      put(a.content, k, a.type, bits);
    }
    return Ok{};
  }
  if (list.size() > 1 && list.size() != count) return wrong(a.text, fmt::format("{} values for {} elements", list.size(), count));
  for (std::uint64_t k = 0; k < count && !list.empty(); ++k) {
    const auto bits = as_element(list[list.size() == 1 ? 0 : k], a.type);
    if (!bits) return wrong(a.text, fmt::format("`{}` is no {}", list[list.size() == 1 ? 0 : k], a.type.name()));
    put(a.content, k, a.type, *bits);
  }
  return Ok{};
}

}  // namespace

std::string ElementType::name() const { return fmt::format("{}{}", kind, bytes * 8); }

std::vector<std::string> element_types() { return {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64"}; }

Result<KernelArgument> read_kernel_argument(const std::string& text, std::uint64_t seed, std::uint64_t most_bytes) {
  KernelArgument a;
  a.text = text;
  const std::size_t equals = text.find('='), bracket = text.substr(0, equals).find('[');
  if (equals == std::string::npos && bracket == std::string::npos) return a;  // a plain number: the parameter says of which type
  const std::string name = text.substr(0, std::min(equals, bracket));
  const auto type = element_type(name);
  if (!type) return wrong(text, fmt::format("`{}` is no type; there are {}", name, fmt::join(element_types(), ", ")));
  a.type = *type, a.typed = true;
  const std::string with = equals == std::string::npos ? std::string() : text.substr(equals + 1);
  if (bracket == std::string::npos) {
    const auto bits = as_element(with, a.type);
    if (!bits) return wrong(text, fmt::format("`{}` is no {}", with, a.type.name()));
    a.content.resize(a.type.bytes);
    put(a.content, 0, a.type, *bits);
    return a;
  }
  a.is_array = true;
  const std::size_t close = text.find(']', bracket), after = std::min(equals, text.size());
  if (close == std::string::npos || close + 1 != after) return wrong(text, "`[` begins the number of elements, and `]` ends it");
  const std::string number = text.substr(bracket + 1, close - bracket - 1);
  const auto count = number.empty() ? std::optional<std::uint64_t>(0) : as_whole(number, 8, false);
  if (!count || (!number.empty() && *count == 0)) return wrong(text, fmt::format("`{}` is no number of elements", number));
  if (auto filled = fill(a, with, *count, seed, most_bytes); !filled) return filled.error();
  return a;
}

Result<std::uint64_t> value_for(const KernelArgument& argument, std::uint32_t bytes, bool is_float) {
  if (argument.typed) {
    if (argument.type.bytes != bytes) return wrong(argument.text, fmt::format("it has {} B, the kernel's parameter {}", argument.type.bytes, bytes));
    return bits_at(argument.content, 0, argument.type);
  }
  const auto bits = as_element(argument.text, {is_float ? 'f' : argument.text.starts_with('-') ? 's' : 'u', bytes});
  if (!bits) return wrong(argument.text, fmt::format("it is no {} of {} B, which the kernel's parameter is", is_float ? "floating-point number" : "whole number", bytes));
  return *bits;
}

std::string show_elements(const ElementType& type, const std::vector<std::byte>& content, std::size_t first, std::size_t count) {
  std::string shown;
  const std::size_t all = content.size() / type.bytes, end = std::min(all, first + count);
  for (std::size_t k = first; k < end; ++k) {
    const std::uint64_t bits = bits_at(content, k, type);
    if (k > first) shown += ' ';
    if (type.kind == 'f') shown += type.bytes == 4 ? fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits))) : fmt::format("{}", std::bit_cast<double>(bits));
    else if (type.kind == 's') shown += fmt::format("{}", static_cast<std::int64_t>(bits << (64 - type.bytes * 8)) >> (64 - type.bytes * 8));
    else shown += fmt::format("{}", bits);
  }
  return end < all ? shown + " …" : shown;
}

Change changed(const ElementType& type, const std::vector<std::byte>& before, const std::vector<std::byte>& after) {
  Change change;
  for (std::size_t k = 0; k < before.size() / type.bytes; ++k) {
    if (bits_at(before, k, type) == bits_at(after, k, type)) continue;
    if (change.elements++ == 0) change.first = k;
  }
  return change;
}

}  // namespace gexp::cli
