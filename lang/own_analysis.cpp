// SPDX-License-Identifier: Apache-2.0
#include "lang/own_analysis.h"

#include <fmt/format.h>

#include "lang/vocabulary.h"

namespace gexp::lang {
namespace {

class Visitor {
 public:
  explicit Visitor(const std::function<void(const Expr&)>& visit) : visit_(visit) {}

  void operator()(const Member& member) const { take(member.of); }
  void operator()(const Call& call) const {
    for (const auto& argument : call.arguments) take(argument.value), take(argument.over), take(argument.where);
  }
  void operator()(const ListOf& list) const {
    for (const auto& item : list.items) take(item);
  }
  void operator()(const Comprehension& made) const {
    take(made.item);
    for (const auto& loop : made.loops) take(loop.from), take(loop.to), take(loop.step);
  }
  void operator()(const Unary& unary) const { take(unary.operand); }
  void operator()(const Binary& binary) const { take(binary.left), take(binary.right); }
  void operator()(const Within& within) const { take(within.value), take(within.tolerance), take(within.target); }
  void operator()(const InRange& range) const { take(range.value), take(range.low), take(range.high); }
  template <class Leaf> void operator()(const Leaf&) const {}

 private:
  void take(const ExprPtr& part) const {
    if (part) visit_(*part);
  }

  const std::function<void(const Expr&)>& visit_;
};

}  // namespace

void each_part(const Expr& expression, const std::function<void(const Expr&)>& visit) { std::visit(Visitor(visit), expression.node); }

bool asks_records(const Expr& expression, const NameSet& asking) {
  if (const auto* name = std::get_if<Name>(&expression.node)) return asking.contains(name->text);
  if (const auto* call = std::get_if<Call>(&expression.node)) {
    const auto* callable = find_callable(call->callee.text);
    if (!callable || callable->kind == Callable::Kind::Analysis) return true;
  }
  bool asks = false;
  each_part(expression, [&](const Expr& part) { asks = asks || asks_records(part, asking); });
  return asks;
}

std::string signature(const AnalysisDef& definition) {
  std::string arguments;
  for (const auto& each : definition.arguments) arguments += fmt::format("{}{}: {}", arguments.empty() ? "" : ", ", each.name.text, each.type.text);
  return fmt::format("{}({}) -> {}", definition.name.text, arguments, definition.type.text);
}

}  // namespace gexp::lang
