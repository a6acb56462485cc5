// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "compiler/formula/formula.h"

namespace gexp::compiler {
namespace {

void collect_names(const Formula& formula, std::set<std::string> bound, std::set<std::string>& found) {
  if (formula.kind == Formula::Kind::Constant) return;
  if (formula.kind == Formula::Kind::Name && !bound.contains(formula.text)) found.insert(formula.text);
  if (formula.kind == Formula::Kind::Call && formula.text == "merger") found.insert({"tid", "lane", "warp"});  // which of them, `of` says
  for (const auto& loop : formula.loops) {
    collect_names(*loop.from, bound, found);
    if (loop.to) collect_names(*loop.to, bound, found);
    if (loop.step) collect_names(*loop.step, bound, found);
    bound.insert(loop.name);
  }
  for (const auto& operand : formula.operands) collect_names(*operand, bound, found);
  for (const auto& argument : formula.arguments) {
    collect_names(*argument.value, bound, found);
    if (argument.over) collect_names(*argument.over, bound, found);
    if (argument.where) collect_names(*argument.where, bound, found);
    if (!argument.by.empty() && !bound.contains(argument.by)) found.insert(argument.by);
  }
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

std::vector<std::string> free_names(const Formula& formula) {
  std::set<std::string> found;
  collect_names(formula, {}, found);
  return {found.begin(), found.end()};
}

}  // namespace gexp::compiler
