// SPDX-License-Identifier: Apache-2.0
#include "lang/instructions.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "lang/named_rows.h"

namespace gexp::lang {
namespace {

constexpr auto kInstructions = std::to_array<Instruction>({
#define GEXP_INSTRUCTION(...) {__VA_ARGS__},
#include "lang/instructions.def"
});

/// The number behind `word` in a name: 64 behind 'n' in "m64n64k16".
std::uint32_t number_behind(std::string_view shape, char letter) {
  std::uint32_t number = 0;
  const auto at = shape.find(letter);
  if (at != std::string_view::npos) std::from_chars(shape.data() + at + 1, shape.data() + shape.size(), number);
  return number;
}

}  // namespace

Instruction::Matrices Instruction::matrices() const {
  if (!of_warpgroup()) return {};
  constexpr std::uint32_t kRowBytes = 32;  // fact: of every type; k is 32 bytes of elements
  constexpr std::string_view kSwizzled = "wgmma.sw";
  std::uint32_t swizzle = 0;
  if (name.starts_with(kSwizzled)) std::from_chars(name.data() + kSwizzled.size(), name.data() + name.size(), swizzle);
  const auto row = std::max(kRowBytes, swizzle);  // of a row that is swizzled, a product takes its first bytes
  const auto n = number_behind(name.substr(name.find(".m64") + 1), 'n');
  const std::uint32_t ones = name.ends_with("bf16") ? 0x3f803f80 : name.ends_with("f16") ? 0x3c003c00 : name.ends_with("e4m3") ? 0x38383838 : 0x01010101;
  return {name.find(".rs.") == std::string_view::npos ? 64 * row : 0, n * row, ones, swizzle};
}

std::string Instruction::text() const {
  std::string all(ptx);
  const auto begin = all.find("{%0-%");
  if (begin == std::string::npos) return all;
  std::string list;
  const auto last = number_behind(std::string_view(all).substr(begin + 3), '%');
  for (std::uint32_t k = 0; k <= last; ++k) list += (k == 0 ? "%" : ", %") + std::to_string(k);
  return all.replace(begin + 1, all.find('}', begin) - begin - 1, list);
}

std::span<const Instruction> instructions() { return kInstructions; }

const Instruction* find_instruction(std::string_view name) { return find_row(kInstructions, name); }

std::string meant_instruction(std::string_view name) { return meant_row(kInstructions, name); }

}  // namespace gexp::lang
