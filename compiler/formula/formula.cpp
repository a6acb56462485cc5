// SPDX-License-Identifier: Apache-2.0
#include "compiler/formula/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lang/base/budget.h"
#include "compiler/formula/function.h"
#include "compiler/formula/pattern.h"
#include "compiler/formula/thread_range.h"

namespace gexp::compiler {
namespace {

using evaluation::error;
using evaluation::wrong_kind;

constexpr std::int64_t kMaxListItems = kMaxPatternSteps;
constexpr int kMaxListDepth = 64;

Diagnostic division_by_zero(const Formula& formula) {
  const auto& divisor = *formula.operands[1];
  return error("E0402", formula.span, divisor.kind == Formula::Kind::Constant ? "division by zero" : fmt::format("division by zero: `{}` is 0", show(divisor)),
               "`skip` leaves such points of a sweep out, `require` refuses such parameters");
}

/// Bytes that a copy of a value takes besides the value itself.
std::uint64_t heap_bytes(const Value& value) {
  std::uint64_t bytes = 0;
  if (const auto* text = value.get<std::string>()) bytes = text->size();
  if (const auto* list = value.get<List>()) {
    for (const auto& item : *list) bytes += sizeof(Value) + heap_bytes(item);
  }
  if (const auto* fields = value.get<Fields>()) {
    for (const auto& [name, field] : *fields) bytes += 2 * sizeof(Value) + heap_bytes(field);
  }
  return bytes;
}

/// Whether lists lie in lists no deeper than so many levels: what copies, shows and compares a value recurses.
bool shallow(const List& list, int levels = kMaxListDepth) {
  return std::all_of(list.begin(), list.end(), [&](const Value& item) {
    const auto* inner = item.get<List>();
    return !inner || (levels > 1 && shallow(*inner, levels - 1));
  });
}

Result<Value> list_of(List items, Span span) {
  if (!shallow(items)) return error("E0406", span, fmt::format("lists lie in this list more than {} deep", kMaxListDepth), "a list of lists tells as much");
  return Value(std::move(items));
}

Result<Value> copy(const Value& value, Span span) {
  if (const auto bytes = heap_bytes(value); bytes > 0 && !Budget::spend_bytes(bytes)) return Budget::exceeded(span);
  return value;
}

/// One binary operation on two numbers; dimensions were checked before, so only values can be wrong.
Result<Value> arithmetic(const Formula& formula, Number a, Number b) {
  using Kind = Formula::Kind;
  const bool zero_divisor = b.number == 0;
  switch (formula.kind) {
    case Kind::Add: return Value(a.number + b.number, a.dimension.none() ? b.dimension : a.dimension);
    case Kind::Subtract: return Value(a.number - b.number, a.dimension.none() ? b.dimension : a.dimension);
    case Kind::Multiply: return Value(a.number * b.number, a.dimension * b.dimension);
    case Kind::Divide:
      if (zero_divisor) return division_by_zero(formula);
      return Value(a.number / b.number, a.dimension / b.dimension);
    case Kind::Div:
      if (zero_divisor) return division_by_zero(formula);
      return Value(std::floor(a.number / b.number), a.dimension / b.dimension);
    case Kind::Mod:
      if (zero_divisor) return division_by_zero(formula);
      return Value(a.number - b.number * std::floor(a.number / b.number), a.dimension);
    default: return evaluation::combine_bits(formula, a, b);
  }
}

bool same(const Value& a, const Value& b) {
  const auto* x = a.get<Number>();
  const auto* y = b.get<Number>();
  if (x && y) return x->number == y->number;  // a plain 0 equals 0 of any unit; other mixtures do not pass the checker
  const auto* list_a = a.get<List>();
  const auto* list_b = b.get<List>();
  if (list_a && list_b) {
    return std::equal(list_a->begin(), list_a->end(), list_b->begin(), list_b->end(), same);
  }
  return a == b;
}

Result<Value> compare(const Formula& formula, const Value& a, const Value& b) {
  using Kind = Formula::Kind;
  if (formula.kind == Kind::Equal) return Value(same(a, b));
  if (formula.kind == Kind::NotEqual) return Value(!same(a, b));
  const auto* x = a.get<Number>();
  const auto* y = b.get<Number>();
  if (!x) return wrong_kind(formula, a, "a number");
  if (!y) return wrong_kind(formula, b, "a number");
  switch (formula.kind) {
    case Kind::Less: return Value(x->number < y->number);
    case Kind::LessEqual: return Value(x->number <= y->number);
    case Kind::Greater: return Value(x->number > y->number);
    default: return Value(x->number >= y->number);
  }
}

Result<Value> evaluate_call(const Formula& call, const Scope& scope) {
  if (call.text == "unique") {  // counted over all threads when the point was planned
    const auto* counted = scope.lookup(show(call));
    return counted ? *counted : Value();
  }
  if (call.text == "merger") {
    auto merged = merger_formula(call, scope);
    if (!merged) return merged.error();
    return evaluate(**merged, scope);
  }
  if (auto answer = scope.call(call)) return std::move(*answer);
  std::vector<Evaluated> arguments;
  for (const auto& argument : call.arguments) {
    auto value = evaluate(*argument.value, scope);
    if (!value) return value;
    if (!value->known()) return Value();
    arguments.push_back({argument.label, std::move(*value)});
  }
  if (auto pattern = construct_pattern(call.text, arguments, call.span)) return std::move(*pattern);
  return evaluation::call_function(call, arguments);
}

/// The formula with values for names that it reads.
FormulaPtr with_values(const FormulaPtr& formula, const Names& names) {
  if (!formula || formula->kind == Formula::Kind::Comprehension) return formula;  // a comprehension may have the same names
  if (formula->kind == Formula::Kind::Name) {
    const auto found = names.values().find(formula->text);
    if (found == names.values().end()) return formula;
  }
  auto made = std::make_shared<Formula>(*formula);
  if (made->kind == Formula::Kind::Name) made->kind = Formula::Kind::Constant, made->constant = names.values().at(formula->text);
  for (auto& operand : made->operands) operand = with_values(operand, names);
  for (auto& argument : made->arguments) argument.value = with_values(argument.value, names), argument.where = with_values(argument.where, names);
  return made;
}

/// The variables of a comprehension. Who answers a call knows other names, so what a `where` reads of these it is given as values.
class LoopNames final : public Scope {
 public:
  explicit LoopNames(const Scope& outer) : outer_(outer) {}
  void set(const std::string& name, Value value) { own_.set(name, std::move(value)); }
  [[nodiscard]] const Value* lookup(const std::string& name) const override {
    const auto* value = own_.lookup(name);
    return value ? value : outer_.lookup(name);
  }
  [[nodiscard]] std::optional<Result<Value>> call(const Formula& call) const override {
    const auto selects = [](const Formula::Argument& argument) { return argument.where != nullptr; };
    if (std::none_of(call.arguments.begin(), call.arguments.end(), selects)) return outer_.call(call);
    Formula given = call;
    for (auto& argument : given.arguments) argument.where = with_values(argument.where, own_);
    return outer_.call(given);
  }

 private:
  const Scope& outer_;
  Names own_;
};

/// Nested loops of a comprehension, outermost first.
class Comprehender {
 public:
  Comprehender(const Formula& formula, const Scope& scope) : formula_(formula), names_(scope) {}

  Result<Value> run() {
    if (auto problem = loop(0)) return std::move(*problem);
    if (unknown_) return Value();
    return list_of(std::move(items_), formula_.span);
  }

 private:
  std::optional<Diagnostic> loop(std::size_t depth) {
    if (depth == formula_.loops.size()) {
      auto item = evaluate(*formula_.operands[0], names_);
      if (!item) return item.error();
      unknown_ = unknown_ || !item->known();
      if (!Budget::spend_bytes(sizeof(Value))) return Budget::exceeded(formula_.span);
      items_.push_back(std::move(*item));
      if (static_cast<std::int64_t>(items_.size()) > kMaxListItems) {
        return error("E0406", formula_.span, fmt::format("this list has more than {} items", kMaxListItems), "take a larger step or a smaller interval");
      }
      return std::nullopt;
    }
    const auto& with = formula_.loops[depth];
    auto from = evaluate(*with.from, names_);
    if (!from) return from.error();
    if (!from->known()) { unknown_ = true; return std::nullopt; }
    if (!with.to) return over_list(depth, *from);
    auto to = evaluate(*with.to, names_);
    if (!to) return to.error();
    Result<Value> step = with.step ? evaluate(*with.step, names_) : Result<Value>(Value(1.0));
    if (!step) return step.error();
    const auto* low = from->get<Number>();
    const auto* high = to->get<Number>();
    const auto* by = step->get<Number>();
    if (!low || !high || !by) { unknown_ = true; return std::nullopt; }
    if (!std::isfinite(low->number) || !std::isfinite(high->number) || !std::isfinite(by->number)) {
      return error("E0406", formula_.span, "an interval that is not finite");
    }
    if (by->number <= 0) return error("E0407", with.step ? with.step->span : formula_.span, "a step must be above zero", "leave `step` out for steps of one");
    if ((high->number - low->number) / by->number > static_cast<double>(kMaxListItems)) {
      return error("E0406", formula_.span, fmt::format("this list has more than {} items", kMaxListItems), "take a larger step or a smaller interval");
    }
    const auto dimension = low->dimension.none() ? high->dimension : low->dimension;
    for (std::int64_t i = 0;; ++i) {
      const double value = low->number + by->number * static_cast<double>(i);
      if (value > high->number || unknown_) break;
      if (!Budget::tick()) return Budget::exceeded(formula_.span);
      names_.set(with.name, Value(value, dimension));
      if (auto problem = loop(depth + 1)) return problem;
    }
    return std::nullopt;
  }

  std::optional<Diagnostic> over_list(std::size_t depth, const Value& list) {
    const auto& with = formula_.loops[depth];
    if (const auto* pattern = list.get<std::shared_ptr<const Pattern>>()) {
      for (const auto offset : (*pattern)->offsets) {
        names_.set(with.name, Value(static_cast<double>(offset), kBytes));
        if (auto problem = loop(depth + 1)) return problem;
      }
      return std::nullopt;
    }
    const auto* items = list.get<List>();
    if (!items) return error("E0401", with.from->span, fmt::format("a list or an interval is wanted here, not {}", show(list)));
    for (const auto& item : *items) {
      auto copied = copy(item, with.from->span);
      if (!copied) return copied.error();
      names_.set(with.name, std::move(*copied));
      if (auto problem = loop(depth + 1)) return problem;
    }
    return std::nullopt;
  }

  const Formula& formula_;
  LoopNames names_;
  List items_;
  bool unknown_ = false;
};

/// Of conditions, or of the bits of numbers: what the operands are tells.
Result<Value> evaluate_logic(const Formula& formula, const Scope& scope) {
  const bool conjunction = formula.kind == Formula::Kind::And, exclusion = formula.kind == Formula::Kind::Xor;
  bool unknown = false, odd = false;
  std::optional<Number> left;
  for (const auto& operand : formula.operands) {
    auto value = evaluate(*operand, scope);
    if (!value) return value;
    if (!value->known()) { unknown = true; continue; }
    if (const auto* number = value->get<Number>(); number && (left || operand == formula.operands[0] || unknown)) {
      if (unknown) return Value();
      if (left) return evaluation::combine_bits(formula, *left, *number);
      left = *number;
      continue;
    }
    const auto* flag = value->get<bool>();
    if (!flag) return wrong_kind(*operand, *value, "a condition");
    odd = odd != *flag;
    if (!exclusion && *flag != conjunction) return Value(*flag);  // false decides an `and`, true an `or`, whatever is unknown
  }
  return unknown || left ? Value() : Value(exclusion ? odd : conjunction);
}

}  // namespace

const Value* Names::lookup(const std::string& name) const {
  if (const auto found = values_.find(name); found != values_.end()) return &found->second;
  return parent_ ? parent_->lookup(name) : nullptr;
}

std::optional<Result<Value>> Names::call(const Formula& call) const {
  return parent_ ? parent_->call(call) : std::nullopt;
}

Result<Value> evaluate(const Formula& formula, const Scope& scope) {
  using Kind = Formula::Kind;
  if (!Budget::spend(1)) return Budget::exceeded(formula.span);
  switch (formula.kind) {
    case Kind::Constant: return copy(formula.constant, formula.span);
    case Kind::Name: {
      const Value* value = scope.lookup(formula.text);
      if (!value) return error("E0408", formula.span, fmt::format("`{}` has no value here", formula.text));
      return copy(*value, formula.span);
    }
    case Kind::Call: return evaluate_call(formula, scope);
    case Kind::Field: {
      if (formula.operands[0]->kind != Kind::Name) break;
      const Value* whole = scope.lookup(formula.operands[0]->text);  // not copied: a used file may hold long lists
      const auto* fields = whole ? whole->get<Fields>() : nullptr;
      if (!fields) break;
      const auto found = fields->find(formula.text);
      return found == fields->end() ? Value() : found->second;
    }
    case Kind::Comprehension: return Comprehender(formula, scope).run();
    case Kind::And:
    case Kind::Xor:
    case Kind::Or: return evaluate_logic(formula, scope);
    default: break;
  }
  std::vector<Value> values;
  values.reserve(formula.operands.size());
  for (const auto& operand : formula.operands) {
    auto value = evaluate(*operand, scope);
    if (!value) return value;
    if (formula.kind == Kind::Else && value->known()) return value;  // the left side when it is known, else the right
    values.push_back(std::move(*value));
  }
  if (formula.kind == Kind::Else) return values.back();
  for (const auto& value : values) {
    if (!value.known() && formula.kind != Kind::List) return Value();
  }
  switch (formula.kind) {
    case Kind::Field: {
      if (const auto* list = values[0].get<List>(); list && formula.text == "count") return Value(static_cast<double>(list->size()));
      const auto* fields = values[0].get<Fields>();
      if (!fields) return wrong_kind(formula, values[0], "a value with fields");
      const auto found = fields->find(formula.text);
      return found == fields->end() ? Result<Value>(Value()) : copy(found->second, formula.span);
    }
    case Kind::List: return list_of(std::move(values), formula.span);
    case Kind::Negate: {
      const auto* n = values[0].get<Number>();
      if (!n) return wrong_kind(formula, values[0], "a number");
      return Value(-n->number, n->dimension);
    }
    case Kind::Not: {
      const auto* flag = values[0].get<bool>();
      if (!flag) return wrong_kind(formula, values[0], "a condition");
      return Value(!*flag);
    }
    case Kind::Equal:
    case Kind::NotEqual:
    case Kind::Less:
    case Kind::LessEqual:
    case Kind::Greater:
    case Kind::GreaterEqual: return compare(formula, values[0], values[1]);
    default: break;
  }
  std::vector<Number> numbers;
  numbers.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto* n = values[i].get<Number>();
    if (!n) return wrong_kind(*formula.operands[i], values[i], "a number");
    numbers.push_back(*n);
  }
  if (formula.kind == Kind::Within) {
    return Value(std::fabs(numbers[0].number - numbers[2].number) <= numbers[1].number * std::fabs(numbers[2].number));
  }
  if (formula.kind == Kind::InRange) {
    return Value(numbers[0].number >= numbers[1].number && numbers[0].number <= numbers[2].number);
  }
  return arithmetic(formula, numbers[0], numbers[1]);
}

Formula call_of(const std::string& function, const Formula& argument) {
  Formula call;
  call.kind = Formula::Kind::Call;
  call.span = argument.span;
  call.text = function;
  call.arguments.push_back({"", std::make_shared<Formula>(argument), nullptr, "", nullptr});
  return call;
}

}  // namespace gexp::compiler
