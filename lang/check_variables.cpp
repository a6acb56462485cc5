// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lang/check_stage.h"

/// Variables of each thread: each is declared above where it is read, so that it has a value by then.
namespace gexp::lang {

bool is_settable(const Symbol* symbol) { return symbol && symbol->kind == Symbol::Kind::Variable && symbol->settable; }

void StageChecker::declare_variable(const Word& name, std::uint32_t usable_from, bool settable, SymbolScope& names) {
  if (const auto* known = names.find(name.text); known && known->kind == Symbol::Kind::Variable) {
    auto& problem = diagnostics_.error("E0201", name.span, fmt::format("`{}` is already a variable here", name.text),
                                       settable ? fmt::format("`assign {} = …` gives it another value", name.text) : "declare it with `var` to give it several values");
    problem.notes.push_back({known->span, fmt::format("the first `{}`", name.text)});
    return;
  }
  Symbol symbol;
  symbol.kind = Symbol::Kind::Variable;
  symbol.name = name.text;
  symbol.span = name.span;
  symbol.type = plain();
  symbol.time = Time::Thread;
  symbol.usable_from = usable_from;
  symbol.settable = settable;
  names.declare(std::move(symbol), diagnostics_);
}

void StageChecker::settable(const Word& name, const Place& place) {
  const auto* symbol = place.names->find(name.text);
  if (is_settable(symbol)) return;
  const bool has_type = symbol && variable_words().has(symbol->element);
  const auto hint = fmt::format("declare it above: `var {}: {} = 0`", name.text, has_type ? symbol->element : "u32");
  auto& problem = diagnostics_.error(symbol ? "E0207" : "E0202", name.span,
                                     !symbol                                     ? fmt::format("no variable is named `{}` here", name.text)
                                     : symbol->kind == Symbol::Kind::Variable ? fmt::format("`{}` has the one value that a load gave it", name.text)
                                                                                 : fmt::format("`{}` is {}, and a variable is wanted here", name.text, describe(symbol->kind)),
                                     hint);
  if (symbol && !symbol->span.empty()) problem.notes.push_back({symbol->span, fmt::format("`{}` is declared here", name.text)});
}

void StageChecker::variable(const Op& each, const Place& place, SymbolScope& names) {
  switch (each.kind) {
    case Op::Kind::Var:
      check_word(diagnostics_, each.type, variable_words());
      expressions_.want(each.value, plain(), place, "the first value of a variable");
      declare_variable(each.variable, each.span.end, true, names);
      break;
    case Op::Kind::Assign:
      settable(each.variable, place);
      expressions_.want(each.value, plain(), place, "the value of a variable");
      break;
    case Op::Kind::Stamp:
      if (!is_settable(place.names->find(each.variable.text))) declare_variable(each.variable, each.span.end, false, names);
      break;
    default: expressions_.want(each.value, plain(), place, "what is kept");
  }
}

}  // namespace gexp::lang
