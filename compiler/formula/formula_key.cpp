// SPDX-License-Identifier: Apache-2.0
#include "compiler/formula/formula_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lang/base/sha256.h"
#include "lang/base/units.h"

namespace gexp::compiler {
namespace {

/// With its length before it, so that no text can look like two others.
std::string field(const std::string& text) { return std::to_string(text.size()) + ":" + text; }

/// As fmt writes it; whole numbers, which most are, without its search for the shortest digits.
std::string number_text(double number) {
  const bool whole = std::abs(number) < 1e15 && number == std::trunc(number) && !(number == 0 && std::signbit(number));
  return whole ? std::to_string(static_cast<std::int64_t>(number)) : fmt::format("{}", number);
}

std::string pattern_key(const Pattern& pattern) {
  Sha256 hash;
  hash.add(fmt::format("{} {} ", pattern.threads, pattern.steps));
  for (const auto offset : pattern.offsets) hash.add(fmt::format("{} ", offset));
  for (const auto& segment : pattern.segments) hash.add_field(segment.label).add(fmt::format("{} ", segment.first));
  return "pattern " + hash.hex();
}

struct ValueKey {
  std::string operator()(std::monostate) const { return "unknown"; }
  std::string operator()(const Number& n) const { return number_text(n.number) + " " + name(n.dimension); }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(const std::string& text) const { return "\"" + field(text); }
  std::string operator()(const List& list) const {
    std::string text = "[";
    for (const auto& item : list) text += value_key(item) + ",";
    return text + "]";
  }
  std::string operator()(const Fields& fields) const {
    std::string text = "{";
    for (const auto& [name, item] : fields) text += field(name) + value_key(item) + ",";
    return text + "}";
  }
  std::string operator()(const std::shared_ptr<const Pattern>& pattern) const {
    return pattern ? pattern_key(*pattern) : "no pattern";
  }
};

/// The name at the root of `a.b.c`; null where it is none.
const Formula* root_of(const Formula& formula, std::vector<std::string>& path) {
  const auto* at = &formula;
  for (; at->kind == Formula::Kind::Field; at = at->operands[0].get()) path.push_back(at->text);
  std::reverse(path.begin(), path.end());
  return at->kind == Formula::Kind::Name ? at : nullptr;
}

}  // namespace

std::string value_key(const Value& value) { return "(" + std::visit(ValueKey{}, value.of) + ")"; }

std::string FormulaKeys::key(const FormulaPtr& formula) {
  std::string text;
  add(formula, text);
  return text;
}

void FormulaKeys::add(const FormulaPtr& formula, std::string& text) {
  if (formula) add(*formula, text);
  else text += '-';
}

void FormulaKeys::named(const std::string& root, const std::vector<std::string>& path, std::string& text) {
  auto bound = bound_.size();
  while (bound > 0 && bound_[bound - 1] != root) --bound;
  if (bound > 0) (text += '$') += std::to_string(bound - 1);
  else if (meaning_(root, path, text)) return;
  else text += root;
  for (const auto& part : path) (text += '.') += part;
}

void FormulaKeys::call(const Formula& formula, std::string& text) {
  text += field(formula.text);
  for (const auto& argument : formula.arguments) {
    ((text += '(') += field(argument.label)) += ' ';
    add(argument.value, text);
    text += ' ';
    add(argument.over, text);
    ((text += ' ') += field(argument.by)) += ' ';
    add(argument.where, text);
    text += ')';
  }
}

void FormulaKeys::comprehension(const Formula& formula, std::string& text) {
  for (const auto& loop : formula.loops) {
    text += '(';
    add(loop.from, text);
    text += ' ';
    add(loop.to, text);
    text += ' ';
    add(loop.step, text);
    text += ')';
    bind(loop.name);  // later loops and the item see it
  }
  add(*formula.operands[0], text);
  for (std::size_t i = 0; i < formula.loops.size(); ++i) unbind();
}

void FormulaKeys::add(const Formula& formula, std::string& text) {
  using Kind = Formula::Kind;
  if (formula.kind == Kind::Constant) return void(text += value_key(formula.constant));
  std::vector<std::string> path;
  const auto* root = formula.kind == Kind::Field ? root_of(formula, path) : nullptr;
  ((text += '(') += std::to_string(static_cast<int>(root ? Kind::Name : formula.kind))) += ' ';
  switch (formula.kind) {
    case Kind::Name:
      named(formula.text, {}, text);
      break;
    case Kind::Field:
      if (root) {
        named(root->text, path, text);
      } else {
        add(*formula.operands[0], text);
        (text += '.') += formula.text;
      }
      break;
    case Kind::Call:
      call(formula, text);
      break;
    case Kind::Comprehension:
      comprehension(formula, text);
      break;
    default:
      for (const auto& operand : formula.operands) {
        add(*operand, text);
        text += ' ';
      }
  }
  text += ')';
}

}  // namespace gexp::compiler
