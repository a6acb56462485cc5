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
void add_field(std::string_view field, std::string& text) { ((text += std::to_string(field.size())) += ':') += field; }

/// As fmt writes it; whole numbers, which most are, without its search for the shortest digits.
void add_number(double number, std::string& text) {
  const bool whole = std::abs(number) < 1e15 && number == std::trunc(number) && !(number == 0 && std::signbit(number));
  text += whole ? std::to_string(static_cast<std::int64_t>(number)) : fmt::format("{}", number);
}

std::string pattern_key(const Pattern& pattern) {
  Sha256 hash;
  hash.add(fmt::format("{} {} ", pattern.threads, pattern.steps));
  for (const auto offset : pattern.offsets) hash.add(fmt::format("{} ", offset));
  for (const auto& segment : pattern.segments) hash.add_field(segment.label).add(fmt::format("{} ", segment.first));
  return "pattern " + hash.hex();
}

struct ValueKey {
  std::string& text;
  void operator()(std::monostate) const { text += "unknown"; }
  void operator()(const Number& n) const { add_number(n.number, text), (text += ' ') += name(n.dimension); }
  void operator()(bool flag) const { text += flag ? "true" : "false"; }
  void operator()(const std::string& value) const { add_field(value, text += '"'); }
  void operator()(const List& list) const {
    text += '[';
    for (const auto& item : list) add_value_key(item, text), text += ',';
    text += ']';
  }
  void operator()(const Fields& fields) const {
    text += '{';
    for (const auto& [name, item] : fields) add_field(name, text), add_value_key(item, text), text += ',';
    text += '}';
  }
  void operator()(const std::shared_ptr<const Pattern>& pattern) const { text += pattern ? pattern_key(*pattern) : "no pattern"; }
};

/// The name at the root of `a.b.c`; null where it is none.
const Formula* root_of(const Formula& formula, std::vector<std::string>& path) {
  const auto* at = &formula;
  for (; at->kind == Formula::Kind::Field; at = at->operands[0].get()) path.push_back(at->text);
  std::reverse(path.begin(), path.end());
  return at->kind == Formula::Kind::Name ? at : nullptr;
}

}  // namespace

void add_value_key(const Value& value, std::string& text) {
  text += '(';
  std::visit(ValueKey{text}, value.of);
  text += ')';
}

std::string value_key(const Value& value) {
  std::string text;
  add_value_key(value, text);
  return text;
}

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
  add_field(formula.text, text);
  for (const auto& argument : formula.arguments) {
    add_field(argument.label, text += '(');
    text += ' ';
    add(argument.value, text);
    text += ' ';
    add(argument.over, text);
    add_field(argument.by, text += ' ');
    text += ' ';
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
  if (formula.kind == Kind::Constant) return add_value_key(formula.constant, text);
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
