// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/policy_names.h"

#include "runtime/infer/same_policy.h"

namespace gexp::result {
namespace {

using compiler::Formula;

/// A name, and what it is a field of.
struct Named {
  std::string name;
  Fields of;
};

std::optional<Named> named(const Formula& formula, const char* field, const compiler::Scope& scope) {
  if (formula.kind != Formula::Kind::Field || formula.text != field) return std::nullopt;
  const auto value = compiler::evaluate(formula, scope), whole = compiler::evaluate(*formula.operands[0], scope);
  const auto* name = value ? value->get<std::string>() : nullptr;
  const auto* fields = whole ? whole->get<Fields>() : nullptr;
  return name && fields ? std::optional<Named>({*name, *fields}) : std::nullopt;
}

/// Of a finding and what a model says.
std::optional<infer::Sameness> sameness(const Formula& found, const Formula& truth, const compiler::Scope& scope) {
  const auto policy = named(found, "name", scope), known = named(truth, "replacement", scope);
  if (!policy || !known || !policy->of.contains("ways")) return std::nullopt;
  const auto* ways = policy->of.at("ways").get<Number>();
  if (!ways || ways->number < 1) return std::nullopt;
  const bool never_empty = known->of.contains("reach");  // no launch empties a TLB
  return infer::compare(policy->name, known->name, static_cast<std::size_t>(ways->number), never_empty);
}

Value holds(bool equal, infer::Sameness same) {
  if (same == infer::Sameness::NotDecided) return {};
  return Value(equal == (same == infer::Sameness::Same));
}

}  // namespace

compiler::FormulaPtr with_policies_settled(const compiler::FormulaPtr& condition, const compiler::Scope& scope) {
  const bool equal = condition->kind == Formula::Kind::Equal;
  if (equal || condition->kind == Formula::Kind::NotEqual) {
    auto same = sameness(*condition->operands[0], *condition->operands[1], scope);
    if (!same) same = sameness(*condition->operands[1], *condition->operands[0], scope);
    if (!same) return condition;
    Formula settled;
    settled.span = condition->span;
    settled.constant = holds(equal, *same);
    return std::make_shared<const Formula>(std::move(settled));
  }
  auto rewritten = *condition;
  for (auto& operand : rewritten.operands) operand = with_policies_settled(operand, scope);
  return std::make_shared<const Formula>(std::move(rewritten));
}

}  // namespace gexp::result
