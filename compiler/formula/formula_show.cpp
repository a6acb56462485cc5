// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/formula/formula.h"

namespace gexp::compiler {
namespace {

const char* word(Formula::Kind kind) {
  using Kind = Formula::Kind;
  switch (kind) {
    case Kind::Add: return "+";
    case Kind::Subtract: return "-";
    case Kind::Multiply: return "*";
    case Kind::Divide: return "/";
    case Kind::Div: return "div";
    case Kind::Mod: return "mod";
    case Kind::Shl: return "shl";
    case Kind::Shr: return "shr";
    case Kind::Equal: return "==";
    case Kind::NotEqual: return "!=";
    case Kind::Less: return "<";
    case Kind::LessEqual: return "<=";
    case Kind::Greater: return ">";
    case Kind::GreaterEqual: return ">=";
    case Kind::And: return "and";
    case Kind::Xor: return "xor";
    case Kind::Or: return "or";
    case Kind::Else: return "??";
    default: return "?";
  }
}

std::string show_argument(const Formula::Argument& argument) {
  std::string text = argument.label.empty() ? "" : argument.label + ": ";
  text += show(*argument.value);
  if (argument.over) text += " over " + show(*argument.over);
  if (!argument.by.empty()) text += " by " + argument.by;
  if (argument.where) text += " where " + show(*argument.where);
  return text;
}

std::string grouped(const Formula& formula) {
  return formula.operands.size() > 1 && formula.kind != Formula::Kind::List ? "(" + show(formula) + ")" : show(formula);
}

}  // namespace

std::string show(const Formula& formula) {
  using Kind = Formula::Kind;
  const auto part = [&](std::size_t i) { return grouped(*formula.operands[i]); };
  switch (formula.kind) {
    case Kind::Constant: return show(formula.constant);
    case Kind::Name: return formula.text;
    case Kind::Field: return part(0) + "." + formula.text;
    case Kind::Call: {
      std::string text = formula.text + "(";
      for (std::size_t i = 0; i < formula.arguments.size(); ++i) {
        text += (i ? ", " : "") + show_argument(formula.arguments[i]);
      }
      return text + ")";
    }
    case Kind::List: {
      std::string text = "[";
      for (std::size_t i = 0; i < formula.operands.size(); ++i) text += (i ? ", " : "") + show(*formula.operands[i]);
      return text + "]";
    }
    case Kind::Comprehension: {
      std::string text = "[" + show(*formula.operands[0]);
      for (const auto& loop : formula.loops) {
        text += fmt::format(" for {} in {}", loop.name, show(*loop.from));
        if (loop.to) text += ".." + show(*loop.to);
        if (loop.step) text += " step " + show(*loop.step);
      }
      return text + "]";
    }
    case Kind::Negate: return "-" + part(0);
    case Kind::Not: return "not " + part(0);
    case Kind::Within: return fmt::format("{} within {} of {}", part(0), part(1), part(2));
    case Kind::InRange: return fmt::format("{} in {}..{}", part(0), part(1), part(2));
    default: return fmt::format("{} {} {}", part(0), word(formula.kind), part(1));
  }
}

}  // namespace gexp::compiler
