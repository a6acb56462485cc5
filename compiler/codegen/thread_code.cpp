// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/thread_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lang/base/budget.h"

namespace gexp::compiler {
namespace {


Diagnostic error(const Formula& formula, std::string code, std::string message, std::string hint = {}) {
  Diagnostic diagnostic = failure(std::move(code), std::move(message), std::move(hint));
  diagnostic.span = formula.span;
  return diagnostic;
}

const char* sign(Formula::Kind kind) {
  switch (kind) {
    case Formula::Kind::Add: return "+";
    case Formula::Kind::Subtract: return "-";
    case Formula::Kind::Multiply: return "*";
    case Formula::Kind::Equal: return "==";
    case Formula::Kind::NotEqual: return "!=";
    case Formula::Kind::Less: return "<";
    case Formula::Kind::LessEqual: return "<=";
    case Formula::Kind::Greater: return ">";
    case Formula::Kind::GreaterEqual: return ">=";
    case Formula::Kind::And: return "&&";
    case Formula::Kind::Or: return "||";
    default: return nullptr;
  }
}

}  // namespace

void ThreadCode::set_round(const std::string& variable, double round) {
  names_.set(variable, Value(round));
  rounds_[variable] = round;
}

void ThreadCode::end_loop() {
  ranges_.erase(loops_.back());
  loops_.pop_back();
}

std::string ThreadCode::argument(const std::string& key, std::int64_t value) {
  auto found = std::find(keys_.begin(), keys_.end(), key);
  if (found == keys_.end()) {
    keys_.push_back(key);
    values_.push_back(value);
    found = keys_.end() - 1;
  }
  return fmt::format("a{}", found - keys_.begin());
}

std::string ThreadCode::key_of(const Formula& formula) const {
  std::string key = show(formula);
  for (const auto& name : free_names(formula)) {
    if (const auto round = rounds_.find(name); round != rounds_.end()) key += fmt::format(" {}={}", name, round->second);
  }
  return key;
}

Result<std::string> ThreadCode::whole_argument(const Formula& formula, std::int64_t low, std::int64_t high, const char* what, std::int64_t* value) {
  auto evaluated = evaluate(formula, names_);
  if (!evaluated) return evaluated.error();
  const auto* n = evaluated->get<Number>();
  if (!n || n->number != std::floor(n->number) || n->number < static_cast<double>(low) || n->number > static_cast<double>(high)) {
    return error(formula, "E0418", fmt::format("{} is {}: a whole number from {} to {} is wanted", what, gexp::show(*evaluated), low, high));
  }
  if (value) *value = static_cast<std::int64_t>(n->number);
  return argument(key_of(formula), static_cast<std::int64_t>(n->number));
}

bool ThreadCode::in_loop(const Formula& formula) const {
  Ranges loops;
  for (const auto& name : loops_) loops[name] = {};
  ThreadLets none;
  return varies(formula, none, loops);
}

Result<std::string> ThreadCode::text(const Formula& formula) {
  if (formula.kind == Formula::Kind::Name) {
    if (ranges_.contains(formula.text)) return formula.text;
    if (const auto* let = lets_.find(formula.text)) return text(*let);
  }
  if (!varies(formula, lets_, ranges_)) {
    auto value = evaluate(formula, names_);
    if (!value) return value.error();
    if (const auto* flag = value->get<bool>()) return argument(key_of(formula), *flag ? 1 : 0);
    auto range = this->range(formula);  // says what is wrong with a value that is no whole number
    if (!range) return range.error();
    if (formula.kind == Formula::Kind::Constant) return fmt::format("{}ll", static_cast<std::int64_t>(range->low));
    return argument(key_of(formula), static_cast<std::int64_t>(range->low));
  }
  if (formula.kind == Formula::Kind::Call && formula.text == "merger") {
    auto merged = merger_formula(formula, names_);
    if (!merged) return merged.error();
    return text(**merged);
  }
  std::vector<std::string> parts;
  std::size_t bytes = 0;
  for (const auto& operand : formula.operands) {
    auto part = text(*operand);
    if (!part) return part;
    bytes += part->size();
    parts.push_back(std::move(*part));
  }
  for (const auto& each : formula.arguments) {
    auto part = text(*each.value);
    if (!part) return part;
    bytes += part->size();
    parts.push_back(std::move(*part));
  }
  if (!Budget::spend_bytes(bytes)) return Budget::exceeded(formula.span);  // a let stands for its formula, and so can double at every use
  if (const char* between = sign(formula.kind)) return fmt::format("({} {} {})", parts[0], between, parts[1]);
  switch (formula.kind) {
    case Formula::Kind::Negate: return fmt::format("(-{})", parts[0]);
    case Formula::Kind::Not: return fmt::format("(!{})", parts[0]);
    case Formula::Kind::InRange: return fmt::format("({0} >= {1} && {0} <= {2})", parts[0], parts[1], parts[2]);
    case Formula::Kind::Div:
    case Formula::Kind::Mod: {
      auto range = this->range(formula);  // refuses a divisor that varies or is not above zero
      if (!range) return range.error();
      return fmt::format("gexp_{}({}, {})", formula.kind == Formula::Kind::Div ? "div" : "mod", parts[0], parts[1]);
    }
    case Formula::Kind::Call:
      if (formula.text == "min" || formula.text == "max") {
        std::string all = parts[0];
        for (std::size_t i = 1; i < parts.size(); ++i) all = fmt::format("gexp_{}({}, {})", formula.text, all, parts[i]);
        return all;
      }
      break;
    default: break;
  }
  return error(formula, "E0428", fmt::format("a thread cannot compute `{}`", show(formula)),
               "use + - * div mod min max merger of whole numbers");
}

Result<ThreadCode::Offset> ThreadCode::offset(const Formula& formula) {
  Offset made;
  if (!in_loop(formula)) {
    auto all = text(formula);
    if (!all) return all.error();
    made.rest = std::move(*all);
    return made;
  }
  if (formula.kind == Formula::Kind::Name) {
    made.rest = "0ll";
    made.slopes = {{formula.text, "1ll"}};
    return made;
  }
  const bool plus = formula.kind == Formula::Kind::Add, minus = formula.kind == Formula::Kind::Subtract;
  if (plus || minus) {
    auto left = offset(*formula.operands[0]);
    if (!left) return left;
    auto right = offset(*formula.operands[1]);
    if (!right) return right;
    if (left->affine && right->affine) {
      made.rest = fmt::format("({} {} {})", left->rest, plus ? "+" : "-", right->rest);
      made.slopes = left->slopes;
      for (const auto& [name, slope] : right->slopes) {
        const auto same = std::find_if(made.slopes.begin(), made.slopes.end(), [&, &wanted = name](const auto& s) { return s.first == wanted; });
        if (same == made.slopes.end()) made.slopes.emplace_back(name, plus ? slope : fmt::format("(-{})", slope));
        else same->second = fmt::format("({} {} {})", same->second, plus ? "+" : "-", slope);
      }
      return made;
    }
  }
  if (formula.kind == Formula::Kind::Multiply) {
    const bool left_loops = in_loop(*formula.operands[0]);
    if (!left_loops || !in_loop(*formula.operands[1])) {
      auto sum = offset(*formula.operands[left_loops ? 0 : 1]);
      if (!sum) return sum;
      auto factor = text(*formula.operands[left_loops ? 1 : 0]);
      if (!factor) return factor.error();
      if (sum->affine) {
        made.rest = fmt::format("({} * {})", sum->rest, *factor);
        for (auto& [name, slope] : sum->slopes) made.slopes.emplace_back(name, fmt::format("({} * {})", slope, *factor));
        return made;
      }
    }
  }
  auto all = text(formula);
  if (!all) return all.error();
  made.rest = std::move(*all);
  made.affine = false;
  return made;
}

}  // namespace gexp::compiler
