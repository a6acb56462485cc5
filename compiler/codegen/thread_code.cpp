// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/thread_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "compiler/formula/pattern.h"
#include "lang/base/budget.h"

namespace gexp::compiler {
namespace {

bool is_logic(const Formula& formula) {
  return formula.kind == Formula::Kind::And || formula.kind == Formula::Kind::Xor || formula.kind == Formula::Kind::Or || formula.kind == Formula::Kind::Not;
}

std::string between(const std::string& left, std::string_view sign, const std::string& right) {
  std::string text;
  text.reserve(left.size() + sign.size() + right.size() + 4);
  return std::move(((((((text += '(') += left) += ' ') += sign) += ' ') += right) += ')');
}

Diagnostic error(const Formula& formula, std::string code, std::string message, std::string hint = {}) {
  Diagnostic diagnostic = failure(std::move(code), std::move(message), std::move(hint));
  diagnostic.span = formula.span;
  return diagnostic;
}

}  // namespace

const char* sign_of(Formula::Kind kind) {
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
    case Formula::Kind::And: return "&";
    case Formula::Kind::Xor: return "^";
    case Formula::Kind::Or: return "|";
    case Formula::Kind::Shl: return "<<";
    case Formula::Kind::Shr: return ">>";
    default: return nullptr;
  }
}

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
  if (rounds_.empty()) return key;
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
  return varies(formula, [&](const std::string& name) {
    return variables_.contains(name) || std::find(loops_.begin(), loops_.end(), name) != loops_.end();
  });
}

bool ThreadCode::reads_variable(const Formula& formula) const {
  if (variables_.empty()) return false;
  bool reads = false;
  for_each_name(formula, [&](const std::string& name) { reads = reads || has_variable(name); });
  return reads;
}

// In a rehearsal a variable may hold what no table has an item for, so that the first item is read then.
Result<std::string> ThreadCode::item(const Formula& formula, const std::string& index) {
  auto range = this->range(formula);  // refuses an index that the pattern does not have
  if (!range) return range.error();
  const auto [table, fresh] = patterns_.try_emplace(key_of(*formula.arguments[0].value), tables_.size());
  if (fresh) {
    auto pattern = evaluate(*formula.arguments[0].value, names_);
    auto offsets = pattern ? as_pattern(*pattern, formula.span) : Result<std::shared_ptr<const Pattern>>(pattern.error());
    if (!offsets) return offsets.error();
    if (!Budget::spend_bytes((*offsets)->offsets.size() * sizeof(std::uint64_t))) return Budget::exceeded(formula.span);
    auto& words = tables_.emplace_back();
    for (const auto offset : (*offsets)->offsets) {
      words.push_back(static_cast<std::uint32_t>(offset));
      words.push_back(static_cast<std::uint32_t>(static_cast<std::uint64_t>(offset) >> 32));
    }
  }
  const bool varied = reads_variable(*formula.arguments[1].value);
  return fmt::format("((const long long*)table{})[{}]", table->second, varied ? fmt::format("pass == 1 ? {} : 0ll", index) : index);
}

Result<std::string> ThreadCode::text(const Formula& formula) {
  if (formula.kind == Formula::Kind::Name) {
    if (const auto variable = variables_.find(formula.text); variable != variables_.end()) {
      if (auto range = this->range(formula); !range) return range.error();  // of a number with a fraction
      return variable->second;
    }
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
    const bool outside = std::exchange(in_merger_, true);
    auto made = text(**merged);
    in_merger_ = outside;
    return made;
  }
  if (formula.kind == Formula::Kind::Call && formula.text == "item") {
    auto index = text(*formula.arguments[1].value);
    return index ? item(formula, *index) : index;
  }
  if (const int of = fraction(formula); of > 0 && is_condition(formula) && !is_logic(formula)) return compared(formula, of);
  if (formula.kind == Formula::Kind::Call && formula.text == "floor" && !formula.arguments.empty() && fraction(*formula.arguments[0].value) > 0) return floored(formula);
  std::vector<std::string> parts;
  parts.reserve(formula.operands.size() + formula.arguments.size());
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
  if (is_logic(formula) && formula.kind != Formula::Kind::Not && is_condition(formula)) {
    return between(parts[0], formula.kind == Formula::Kind::And ? "&&" : formula.kind == Formula::Kind::Or ? "||" : "!=", parts[1]);
  }
  if (formula.kind == Formula::Kind::Shl || formula.kind == Formula::Kind::Shr) {
    auto by = shift_of(*formula.operands[1], names_, lets_, ranges_);
    if (!by) return by.error();
  }
  if (const char* sign = sign_of(formula.kind)) return between(parts[0], sign, parts[1]);
  switch (formula.kind) {
    case Formula::Kind::Negate: return fmt::format("(-{})", parts[0]);
    case Formula::Kind::Not: return fmt::format("(!{})", parts[0]);
    case Formula::Kind::InRange: return fmt::format("({0} >= {1} && {0} <= {2})", parts[0], parts[1], parts[2]);
    case Formula::Kind::Div:
    case Formula::Kind::Mod: return divided(formula, parts[0], parts[1]);
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
               kThreadArithmetic);
}

bool ThreadCode::is_condition(const Formula& formula) const {
  switch (formula.kind) {
    case Formula::Kind::Constant: return formula.constant.get<bool>() != nullptr;
    case Formula::Kind::Name: {
      if (const auto* let = lets_.find(formula.text)) return is_condition(*let);
      const auto* value = names_.lookup(formula.text);
      return value && value->get<bool>();
    }
    case Formula::Kind::Not:
    case Formula::Kind::Within:
    case Formula::Kind::InRange:
    case Formula::Kind::Equal:
    case Formula::Kind::NotEqual:
    case Formula::Kind::Less:
    case Formula::Kind::LessEqual:
    case Formula::Kind::Greater:
    case Formula::Kind::GreaterEqual: return true;
    case Formula::Kind::And:
    case Formula::Kind::Xor:
    case Formula::Kind::Or: return is_condition(*formula.operands[0]);
    default: return false;
  }
}

Result<std::string> ThreadCode::divided(const Formula& formula, const std::string& dividend, const std::string& divisor) {
  auto range = this->range(formula);  // refuses a divisor that varies or is not above zero
  if (!range) return range.error();
  const bool rest = formula.kind == Formula::Kind::Mod;
  auto by = this->range(*formula.operands[1]);
  if (!by) return by.error();
  const auto whole = static_cast<std::uint64_t>(by->low);
  if (in_merger_ || !std::has_single_bit(whole)) return fmt::format("gexp_{}({}, {})", rest ? "mod" : "div", dividend, divisor);
  const auto value = static_cast<std::int64_t>(rest ? whole - 1 : static_cast<std::uint64_t>(std::countr_zero(whole)));
  const bool written = formula.operands[1]->kind == Formula::Kind::Constant;
  const auto operand = written ? fmt::format("{}ll", value) : argument(key_of(*formula.operands[1]) + (rest ? " mask" : " bits"), value);
  return between(dividend, rest ? "&" : ">>", operand);
}

Result<ThreadCode::Offset> ThreadCode::offset(const Formula& formula) {
  Offset made;
  if (!in_loop(formula)) {
    auto all = text(formula);
    if (!all) return all.error();
    made.rest = std::move(*all);
    return made;
  }
  if (formula.kind == Formula::Kind::Name && !variables_.contains(formula.text)) {
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
