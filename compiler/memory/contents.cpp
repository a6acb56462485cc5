// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "compiler/formula/pattern.h"
#include "compiler/plan/expand.h"
#include "lang/base/budget.h"

namespace gexp::compiler {
namespace {

Diagnostic error(const Memory& memory, std::string message, std::string hint) {
  Diagnostic diagnostic = failure("E0131", std::move(message), std::move(hint));
  diagnostic.span = memory.holds->span;
  return diagnostic;
}

/// What an element can hold: whole numbers of so many bits, or with a fraction what its type reaches.
struct Domain {
  bool whole = true;
  double low = 0, high = 0;
};
Domain domain_of(const Memory& memory) {
  if (memory.element == "f32") return {false, -std::numeric_limits<float>::max(), std::numeric_limits<float>::max()};
  if (memory.element == "f64") return {false, std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
  const int bits = 8 * memory.element_bytes;
  const bool with_sign = memory.element.starts_with('s');
  return {true, with_sign ? -std::ldexp(1, bits - 1) : 0, std::min(9007199254740992.0, std::ldexp(1, with_sign ? bits - 1 : bits) - 1)};
}

/// The numbers, each within the element's type. Whole ones are below 2^53, so that double holds them.
Result<std::vector<double>> numbers_of(const Memory& memory, const Scope& scope) {
  auto value = evaluate(*memory.holds, scope);
  if (!value) return value.error();
  std::vector<double> numbers;
  const auto* pattern = value->get<std::shared_ptr<const Pattern>>();
  const auto* list = value->get<List>();
  const auto bytes = memory_bytes(memory, scope);
  if (!bytes) return bytes.error();
  const auto room = *bytes / static_cast<std::uint64_t>(memory.element_bytes);
  const auto count = pattern ? (*pattern)->offsets.size() : list ? list->size() : 0;
  if (count == 0) return error(memory, "a memory holds a list of numbers, and this one is empty or none", "write `holds [3, 1, 2]`, or a list of a used file");
  if (count > room) return error(memory, fmt::format("`{}` has {} elements, and {} are to be in them", memory.name, room, count), fmt::format("make it longer: `[{}]`", count));
  if (!Budget::spend_bytes(count * sizeof(double))) return Budget::exceeded(memory.holds->span);
  const auto [whole, low, high] = domain_of(memory);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* number = pattern ? nullptr : (*list)[i].get<Number>();
    const double each = pattern ? static_cast<double>((*pattern)->offsets[i]) : number ? number->number : NAN;
    const bool fraction = whole && each != std::floor(each);
    if (!(each >= low && each <= high) || fraction) {
      return error(memory, fmt::format("item {} is {}, and `{}` holds {}numbers from {} to {}", i, pattern ? fmt::format("{}", each) : show((*list)[i]), memory.name, whole ? "whole " : "", low, high),
                   fraction                               ? "write whole numbers: `floor(x)` and `round(x)` are; or choose an element f32 or f64"
                   : whole && each < 0 && low == 0        ? fmt::format("an element `s{}` has a sign", 8 * memory.element_bytes)
                   : memory.element == "f32"              ? "an element f64 reaches further"
                                                          : "choose an element that holds it, such as u64");
    }
    numbers.push_back(each);
  }
  return numbers;
}

/// The low byte comes first here and on a GPU.
template <class T> void put(std::byte* to, double number, std::size_t width) {
  const auto value = static_cast<T>(number);
  std::memcpy(to, &value, width);
}

}  // namespace

Result<std::vector<std::byte>> memory_contents(const Memory& memory, const Scope& scope) {
  auto numbers = numbers_of(memory, scope);
  if (!numbers) return numbers.error();
  const auto width = static_cast<std::size_t>(memory.element_bytes);
  auto bytes = memory_bytes(memory, scope);
  if (!bytes) return bytes.error();
  if (!Budget::spend_bytes(*bytes)) return Budget::exceeded(memory.holds->span);
  std::vector<std::byte> contents(*bytes);
  const auto write = memory.element == "f64" ? put<double> : memory.element == "f32" ? put<float> : put<std::int64_t>;
  for (std::size_t i = 0; i < numbers->size(); ++i) write(contents.data() + i * width, (*numbers)[i], width);
  return contents;
}

Result<Range> contents_range(const Memory& memory, const Scope& scope) {
  auto numbers = numbers_of(memory, scope);
  if (!numbers) return numbers.error();
  const auto bytes = memory_bytes(memory, scope);
  if (bytes && numbers->size() < *bytes / static_cast<std::uint64_t>(memory.element_bytes)) numbers->push_back(0);
  const auto [low, high] = std::minmax_element(numbers->begin(), numbers->end());
  std::uint64_t grid = 0;
  for (const auto number : *numbers) {
    if (domain_of(memory).whole) grid = std::gcd(grid, static_cast<std::uint64_t>(static_cast<std::int64_t>(number) - static_cast<std::int64_t>(*low)));
  }
  return Range{*low, *high, grid};
}

}  // namespace gexp::compiler
