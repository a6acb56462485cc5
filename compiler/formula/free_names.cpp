// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>

#include "compiler/formula/formula.h"

namespace gexp::compiler {
namespace {

using NameVisitor = std::function<void(const std::string&)>;
using Bound = std::vector<std::string_view>;  // by loops around

void visit_names(const Formula& formula, Bound& bound, const NameVisitor& visit) {
  const auto look = [&](const FormulaPtr& part) {
    if (part) visit_names(*part, bound, visit);
  };
  const auto read = [&](const std::string& name) {
    if (std::find(bound.begin(), bound.end(), name) == bound.end()) visit(name);
  };
  static const std::string kOfMerger[] = {"tid", "lane", "warp"};  // which of them, `of` says
  const auto outside = bound.size();
  if (formula.kind == Formula::Kind::Name) read(formula.text);
  if (formula.kind == Formula::Kind::Call && formula.text == "merger") std::for_each(std::begin(kOfMerger), std::end(kOfMerger), visit);
  for (const auto& loop : formula.loops) {
    look(loop.from), look(loop.to), look(loop.step);
    bound.push_back(loop.name);
  }
  for (const auto& operand : formula.operands) look(operand);
  for (const auto& argument : formula.arguments) {
    look(argument.value), look(argument.over), look(argument.where);
    if (!argument.by.empty()) read(argument.by);
  }
  bound.resize(outside);
}

void collect_dotted(const Formula& formula, std::vector<std::string>& found) {
  const auto look = [&](const FormulaPtr& part) {
    if (part) collect_dotted(*part, found);
  };
  if (formula.kind == Formula::Kind::Name) found.push_back(formula.text);
  const bool of_name = formula.kind == Formula::Kind::Field && formula.operands[0]->kind == Formula::Kind::Name;
  if (of_name) found.push_back(formula.operands[0]->text + "." + formula.text);
  for (const auto& operand : formula.operands) look(operand);
  for (const auto& argument : formula.arguments) look(argument.value), look(argument.over), look(argument.where);
  for (const auto& loop : formula.loops) look(loop.from), look(loop.to), look(loop.step);
}

}  // namespace

std::vector<std::string> dotted_names(const Formula& formula) {
  std::vector<std::string> found;
  collect_dotted(formula, found);
  return found;
}

void for_each_name(const Formula& formula, const std::function<void(const std::string&)>& visit) {
  Bound bound;
  visit_names(formula, bound, visit);
}

std::vector<std::string> free_names(const Formula& formula) {
  std::vector<std::string> found;
  for_each_name(formula, [&](const std::string& name) { found.push_back(name); });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace gexp::compiler
