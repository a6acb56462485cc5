// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/lengths.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "compiler/formula/pattern.h"

// A pattern of a million steps takes long to make and its length does not: constructors and comprehensions are counted by their
// arguments, and only what is left is evaluated.
namespace gexp::compiler {
namespace {

Count known(const Value& value) {
  if (const auto* pattern = value.get<std::shared_ptr<const Pattern>>()) return static_cast<double>((*pattern)->steps);
  const auto* list = value.get<List>();
  return list ? Count(static_cast<double>(list->size())) : std::nullopt;
}

FormulaPtr argument(const Formula& call, const std::string& label, std::size_t position) {
  for (const auto& each : call.arguments) {
    if (!label.empty() && each.label == label) return each.value;
  }
  return position < call.arguments.size() ? call.arguments[position].value : nullptr;
}

}  // namespace

Count number(const FormulaPtr& formula, const Scope& scope, double otherwise) {
  if (!formula) return otherwise;
  const auto value = evaluate(*formula, scope);
  const auto* n = value ? value->get<Number>() : nullptr;
  return n && std::isfinite(n->number) ? Count(n->number) : std::nullopt;
}

Count Lengths::named(const std::string& name) const {
  for (const auto* bindings : {&stage_.bindings, &program_.lets}) {
    for (const auto& binding : *bindings) {
      if (binding.name == name) return of(*binding.formula);
    }
  }
  const auto* value = scope_.lookup(name);
  return value ? known(*value) : std::nullopt;
}

Count Lengths::of(const Formula& formula) const {
  if (formula.kind == Formula::Kind::Name) return named(formula.text);
  if (formula.kind == Formula::Kind::List) return static_cast<double>(formula.operands.size());
  if (formula.kind == Formula::Kind::Comprehension) return comprehension(formula);
  if (formula.kind == Formula::Kind::Call) {
    const auto& name = formula.text;
    if (name == "uniform") {
      const auto stride = number(argument(formula, "stride", 0), scope_, 0), span = number(argument(formula, "span", 1), scope_, 0);
      return stride && span && *stride > 0 ? Count(std::ceil(*span / *stride)) : std::nullopt;
    }
    if (name == "bank") return 1;
    if (name == "nonuniform") return sum(formula);
    const auto times = name == "repeat" ? number(argument(formula, "", 1), scope_, 1) : Count(1);
    if (name == "shuffle" || name == "repeat") {
      const auto source = argument(formula, "", 0);
      const auto length = source ? of(*source) : std::nullopt;
      return length && times ? Count(*length * *times) : std::nullopt;
    }
  }
  return by_making(formula);
}

Count Lengths::by_making(const Formula& formula) const {
  const auto value = evaluate(formula, scope_);
  const auto length = value ? known(*value) : std::nullopt;
  made_ += length.value_or(0);
  return length;
}

Count Lengths::sum(const Formula& call) const {
  double all = 0;
  for (const auto& part : call.arguments) {
    const auto length = of(*part.value);
    if (!length) return std::nullopt;
    all += *length;
  }
  return all;
}

Count Lengths::comprehension(const Formula& formula) const {
  double all = 1;
  std::vector<std::string> bound;
  for (const auto& loop : formula.loops) {
    for (const auto& part : {loop.from, loop.to, loop.step}) {
      if (!part) continue;
      const auto names = free_names(*part);
      if (std::find_first_of(names.begin(), names.end(), bound.begin(), bound.end()) == names.end()) continue;
      return by_making(formula);  // an inner loop follows an outer one
    }
    bound.push_back(loop.name);
    if (!loop.to) {
      const auto length = of(*loop.from);
      if (!length) return std::nullopt;
      all *= *length;
      continue;
    }
    const auto from = number(loop.from, scope_, 0), to = number(loop.to, scope_, 0), step = number(loop.step, scope_, 1);
    if (!from || !to || !step || *step <= 0) return std::nullopt;
    all *= std::max(0.0, std::floor((*to - *from) / *step) + 1);
  }
  return all;
}

}  // namespace gexp::compiler
