// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
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

/// The numbers, each whole and within the element's type.
Result<std::vector<std::int64_t>> numbers_of(const Memory& memory, const Scope& scope) {
  auto value = evaluate(*memory.holds, scope);
  if (!value) return value.error();
  std::vector<std::int64_t> numbers;
  const auto* pattern = value->get<std::shared_ptr<const Pattern>>();
  const auto* list = value->get<List>();
  const auto bytes = memory_bytes(memory, scope);
  if (!bytes) return bytes.error();
  const auto room = *bytes / static_cast<std::uint64_t>(memory.element_bytes);
  const auto count = pattern ? (*pattern)->offsets.size() : list ? list->size() : 0;
  if (count == 0) return error(memory, "a memory holds a list of whole numbers, and this one is empty or none", "write `holds [3, 1, 2]`, or a list of a used file");
  if (count > room) return error(memory, fmt::format("`{}` has {} elements, and {} are to be in them", memory.name, room, count), fmt::format("make it longer: `[{}]`", count));
  if (!Budget::spend_bytes(count * sizeof(std::int64_t))) return Budget::exceeded(memory.holds->span);
  const int bits = 8 * memory.element_bytes;
  const bool with_sign = memory.element.starts_with('s');
  const double low = with_sign ? -std::ldexp(1, bits - 1) : 0, high = std::min(9007199254740992.0, std::ldexp(1, with_sign ? bits - 1 : bits) - 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* number = pattern ? nullptr : (*list)[i].get<Number>();
    const double each = pattern ? static_cast<double>((*pattern)->offsets[i]) : number ? number->number : NAN;
    if (!(each >= low && each <= high) || each != std::floor(each)) {
      return error(memory, fmt::format("item {} is {}, and `{}` holds whole numbers from {} to {}", i, pattern ? fmt::format("{}", each) : show((*list)[i]), memory.name, low, high),
                   each != std::floor(each) ? "write whole numbers: `floor(x)` and `round(x)` are" : each < 0 && !with_sign ? fmt::format("an element `s{}` has a sign", bits) : "choose an element that holds it, such as u64");
    }
    numbers.push_back(static_cast<std::int64_t>(each));
  }
  return numbers;
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
  for (std::size_t i = 0; i < numbers->size(); ++i) std::memcpy(contents.data() + i * width, &(*numbers)[i], width);  // the low byte comes first here and on a GPU
  return contents;
}

Result<Range> contents_range(const Memory& memory, const Scope& scope) {
  auto numbers = numbers_of(memory, scope);
  if (!numbers) return numbers.error();
  const auto bytes = memory_bytes(memory, scope);
  if (bytes && numbers->size() < *bytes / static_cast<std::uint64_t>(memory.element_bytes)) numbers->push_back(0);
  const auto [low, high] = std::minmax_element(numbers->begin(), numbers->end());
  std::uint64_t grid = 0;
  for (const auto number : *numbers) grid = std::gcd(grid, static_cast<std::uint64_t>(number - *low));
  return Range{static_cast<double>(*low), static_cast<double>(*high), grid};
}

}  // namespace gexp::compiler
