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

std::string FormulaKeys::key(const FormulaPtr& formula) { return formula ? key(*formula) : "-"; }

std::string FormulaKeys::named(const std::string& root, const std::vector<std::string>& path) {
  std::string rest;
  for (const auto& part : path) rest += "." + part;
  for (auto i = bound_.size(); i-- > 0;) {
    if (bound_[i] == root) return fmt::format("${}{}", i, rest);
  }
  if (auto meaning = meaning_(root, path)) return std::move(*meaning);
  return root + rest;
}

std::string FormulaKeys::call(const Formula& formula) {
  std::string text = field(formula.text);
  for (const auto& argument : formula.arguments) {
    text += fmt::format("({} {} {} {} {})", field(argument.label), key(argument.value), key(argument.over),
                        field(argument.by), key(argument.where));
  }
  return text;
}

std::string FormulaKeys::comprehension(const Formula& formula) {
  std::string text;
  for (const auto& loop : formula.loops) {
    text += fmt::format("({} {} {})", key(loop.from), key(loop.to), key(loop.step));
    bind(loop.name);  // later loops and the item see it
  }
  text += key(*formula.operands[0]);
  for (std::size_t i = 0; i < formula.loops.size(); ++i) unbind();
  return text;
}

std::string FormulaKeys::key(const Formula& formula) {
  using Kind = Formula::Kind;
  const auto wrapped = [&](const std::string& inner) {
    return "(" + std::to_string(static_cast<int>(formula.kind)) + " " + inner + ")";
  };
  std::vector<std::string> path;
  switch (formula.kind) {
    case Kind::Constant:
      return value_key(formula.constant);
    case Kind::Name:
      return wrapped(named(formula.text, {}));
    case Kind::Field:
      if (const auto* root = root_of(formula, path))
        return "(" + std::to_string(static_cast<int>(Kind::Name)) + " " + named(root->text, path) + ")";
      return wrapped(key(*formula.operands[0]) + "." + formula.text);
    case Kind::Call:
      return wrapped(call(formula));
    case Kind::Comprehension:
      return wrapped(comprehension(formula));
    default:
      break;
  }
  std::string text;
  for (const auto& operand : formula.operands) text += key(*operand) + " ";
  return wrapped(text);
}

}  // namespace gexp::compiler
