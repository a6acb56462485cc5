// SPDX-License-Identifier: Apache-2.0
#include "compiler/formula/function.h"

#include <bit>
#include <cmath>
#include <numeric>

#include "lang/instructions.h"

namespace gexp::compiler::evaluation {
namespace {

constexpr double kLargestExact = 9007199254740992.0;  // 2^53: beyond it a double skips integers

/// In floating point: the product of two whole numbers may be larger than an integer.
double least_multiple(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  return std::fabs(static_cast<double>(a / std::gcd(a, b)) * static_cast<double>(b));
}

bool whole(double number) { return number == std::floor(number) && std::fabs(number) <= kLargestExact; }

}  // namespace

Result<Value> combine_bits(const Formula& formula, Number a, Number b) {
  using Kind = Formula::Kind;
  constexpr double kMostShift = 53;
  const bool shift = formula.kind == Kind::Shl || formula.kind == Kind::Shr;
  for (const auto& [number, operand] : {std::pair{a, 0}, std::pair{b, 1}}) {
    if (whole(number.number)) continue;
    return error("E0404", formula.operands[static_cast<std::size_t>(operand)]->span,
                 fmt::format("bits are those of a whole number, not of {}", show(number.number, number.dimension)), "floor(x) and round(x) are whole");
  }
  if (shift && (b.number < 0 || b.number > kMostShift)) {
    return error("E0404", formula.operands[1]->span, fmt::format("a shift is by 0 to {} bits, not by {}", kMostShift, b.number),
                 b.number < 0 ? "`shr` shifts the other way" : "");
  }
  const auto x = static_cast<std::int64_t>(a.number), y = static_cast<std::int64_t>(b.number);
  const auto dimension = a.dimension.none() && !shift ? b.dimension : a.dimension;
  switch (formula.kind) {
    case Kind::And: return Value(static_cast<double>(x & y), dimension);
    case Kind::Xor: return Value(static_cast<double>(x ^ y), dimension);
    case Kind::Or: return Value(static_cast<double>(x | y), dimension);
    case Kind::Shr: return Value(static_cast<double>(x >> y), dimension);
    default: break;
  }
  const double shifted = std::ldexp(a.number, static_cast<int>(y));
  if (!whole(shifted)) return error("E0404", formula.span, fmt::format("{} shl {} is more than 2^53", a.number, y), "shift by less");
  return Value(shifted, dimension);
}

Result<Value> call_function(const Formula& call, const std::vector<Evaluated>& arguments) {
  if (call.text == "structure") {  // what an analysis of one's own gives by several names; no spec writes it
    Fields fields;
    for (const auto& argument : arguments) fields[argument.label] = argument.value;
    return Value(std::move(fields));
  }
  std::vector<Number> numbers;
  for (const auto& argument : arguments) {
    if (!argument.value.known()) return Value();
    if (const auto* list = argument.value.get<List>(); list && arguments.size() == 1 && call.text != "count") {
      for (const auto& item : *list) {
        if (const auto* n = item.get<Number>()) numbers.push_back(*n);
      }
    } else if (const auto* n = argument.value.get<Number>()) {
      numbers.push_back(*n);
    }
  }
  const auto& name = call.text;
  if (name == "count" && arguments.size() == 1) {
    if (const auto* list = arguments[0].value.get<List>()) return Value(static_cast<double>(list->size()));
    if (const auto* pattern = arguments[0].value.get<std::shared_ptr<const Pattern>>()) {
      return Value(static_cast<double>((*pattern)->steps));
    }
    return wrong_kind(call, arguments[0].value, "a list or a pattern");
  }
  if (name == "needs" && arguments.size() == 1) {
    const auto* text = arguments[0].value.get<std::string>();
    if (!text) return wrong_kind(call, arguments[0].value, "the name of an instruction");
    const auto* instruction = lang::find_instruction(*text);
    if (!instruction) return error("E0404", call.span, fmt::format("`{}` is no instruction of `alu`", *text), "docs/language/alu.md lists them");
    return Value(static_cast<double>(instruction->compute));
  }
  if (name == "item" && arguments.size() == 2 && !numbers.empty()) {
    auto pattern = as_pattern(arguments[0].value, call.span);
    if (!pattern) return pattern.error();
    const double at = numbers[0].number, count = static_cast<double>((*pattern)->offsets.size());
    if (at != std::floor(at) || at < 0 || at >= count) {
      return error("E0404", call.span, fmt::format("there is no item {} of {}", at, count), "items are counted from 0; `mod count(p)` begins again behind the last one");
    }
    return Value(static_cast<double>((*pattern)->offsets[static_cast<std::size_t>(at)]), kBytes);
  }
  if (numbers.empty()) return error("E0403", call.span, fmt::format("{} needs a number", name), "give it a list that is not empty");
  const Number first = numbers[0];
  if (name == "min" || name == "max") {
    Number best = first;
    for (const auto& n : numbers) {
      if (name == "min" ? n.number < best.number : n.number > best.number) best = n;
    }
    return Value(best);
  }
  if (name == "abs") return Value(std::fabs(first.number), first.dimension);
  if (name == "floor") return Value(std::floor(first.number), first.dimension);
  if (name == "ceil") return Value(std::ceil(first.number), first.dimension);
  if (name == "round") return Value(std::round(first.number), first.dimension);
  if (name == "log2") {
    if (first.number <= 0) return error("E0404", call.span, "log2 needs a number above zero", fmt::format("write `{}`, say", "log2(max(1, x))"));
    return Value(std::log2(first.number));
  }
  if (name == "popcount") {
    if (first.number != std::floor(first.number) || first.number < 0 || first.number > kLargestExact) {
      return error("E0404", call.span, "popcount needs a whole number from zero on", "floor(x) and round(x) are whole");
    }
    return Value(static_cast<double>(std::popcount(static_cast<std::uint64_t>(first.number))));
  }
  if (name == "gcd" || name == "lcm") {
    if (numbers.size() != 2) return error("E0403", call.span, fmt::format("{} needs two numbers", name));
    for (const auto& n : numbers) {
      if (n.number != std::floor(n.number) || std::fabs(n.number) > kLargestExact) {
        return error("E0404", call.span, fmt::format("{} needs whole numbers", name), "floor(x) and round(x) are whole");
      }
    }
    const auto a = static_cast<std::int64_t>(numbers[0].number);
    const auto b = static_cast<std::int64_t>(numbers[1].number);
    return Value(name == "gcd" ? static_cast<double>(std::gcd(a, b)) : least_multiple(a, b), first.dimension);
  }
  return error("E0405", call.span, fmt::format("{} is no function of values", name));
}

}  // namespace gexp::compiler::evaluation
