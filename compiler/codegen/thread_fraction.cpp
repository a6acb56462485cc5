// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>

#include "compiler/codegen/thread_code.h"

// Numbers with a fraction, which variables of the types f32 and f64 hold. Nothing is claimed of their values, so they reach an offset as whole
// numbers alone, by `floor`. A number that is the same for all threads is written as its bits, so that no rounding comes in between.
namespace gexp::compiler {
namespace {

const char* float_type(int bytes) { return bytes == 4 ? "float" : "double"; }

}  // namespace

Result<std::string> ThreadCode::fraction_text(const Formula& formula, int bytes) {
  if (!varies(formula, lets_, ranges_)) {
    auto value = evaluate(formula, names_);
    if (!value) return value.error();
    const auto* n = value->get<Number>();
    if (!n) return thread_error(formula, fmt::format("a number is wanted here, not {}", gexp::show(*value)), "write 0.5, say");
    const auto bits = bytes == 4 ? std::int64_t{std::bit_cast<std::int32_t>(static_cast<float>(n->number))} : std::bit_cast<std::int64_t>(n->number);
    const auto text = formula.kind == Formula::Kind::Constant ? fmt::format("{}ll", bits) : argument(fmt::format("{} f{}", key_of(formula), 8 * bytes), bits);
    return bytes == 4 ? fmt::format("__int_as_float((int){})", text) : fmt::format("__longlong_as_double({})", text);
  }
  if (formula.kind == Formula::Kind::Name) {
    if (fraction(formula) > 0 && variables_.contains(formula.text)) return fmt::format("({}){}", float_type(bytes), variables_.at(formula.text));
    if (const auto* let = ranges_.contains(formula.text) ? nullptr : lets_.find(formula.text)) return fraction_text(*let, bytes);
  }
  std::vector<std::string> parts;
  const auto part = [&](const Formula& inner) -> std::optional<Diagnostic> {
    auto made = fraction_text(inner, bytes);
    if (!made) return made.error();
    parts.push_back(std::move(*made));
    return std::nullopt;
  };
  switch (formula.kind) {
    case Formula::Kind::Add:
    case Formula::Kind::Subtract:
    case Formula::Kind::Multiply:
    case Formula::Kind::Divide:
    case Formula::Kind::Negate:
      for (const auto& operand : formula.operands) {
        if (auto problem = part(*operand)) return *problem;
      }
      if (formula.kind == Formula::Kind::Negate) return fmt::format("(-{})", parts[0]);
      return fmt::format("({} {} {})", parts[0], formula.kind == Formula::Kind::Divide ? "/" : sign_of(formula.kind), parts[1]);
    case Formula::Kind::Call:
      if (formula.text != "min" && formula.text != "max") break;
      for (const auto& argument : formula.arguments) {
        if (auto problem = part(*argument.value)) return *problem;
      }
      for (std::size_t i = 1; i < parts.size(); ++i) parts[0] = fmt::format("f{}{}({}, {})", formula.text, bytes == 4 ? "f" : "", parts[0], parts[i]);
      return parts[0];
    default: break;
  }
  if (fraction(formula) > 0) {
    return thread_error(formula, fmt::format("a thread cannot compute `{}` of numbers with a fraction", show(formula)), "use + - * / min max; `floor(x)` makes whole numbers");
  }
  auto whole = text(formula);
  return whole ? Result<std::string>(fmt::format("({}){}", float_type(bytes), *whole)) : whole;
}

Result<std::string> ThreadCode::compared(const Formula& formula, int bytes) {
  std::vector<std::string> parts;
  for (const auto& operand : formula.operands) {
    auto made = fraction_text(*operand, bytes);
    if (!made) return made;
    parts.push_back(std::move(*made));
  }
  if (formula.kind == Formula::Kind::InRange) return fmt::format("({0} >= {1} && {0} <= {2})", parts[0], parts[1], parts[2]);
  if (const char* between = sign_of(formula.kind)) return fmt::format("({} {} {})", parts[0], between, parts[1]);
  return thread_error(formula, fmt::format("a thread cannot compute `{}`", show(formula)), "compare with < <= > >= == != in");
}

Result<std::string> ThreadCode::floored(const Formula& formula) {
  const auto& of = *formula.arguments[0].value;
  const int bytes = fraction(of);
  auto made = fraction_text(of, bytes);
  return made ? Result<std::string>(fmt::format("__{}2ll_rd({})", float_type(bytes), *made)) : made;
}

}  // namespace gexp::compiler
