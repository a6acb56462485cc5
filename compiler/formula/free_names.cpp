// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "compiler/formula/formula.h"

namespace gexp::compiler {
namespace {

void collect_names(const Formula& formula, std::set<std::string> bound, std::set<std::string>& found) {
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

}  // namespace

std::vector<std::string> free_names(const Formula& formula) {
  std::set<std::string> found;
  collect_names(formula, {}, found);
  return {found.begin(), found.end()};
}

}  // namespace gexp::compiler
