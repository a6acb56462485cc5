// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/policy_names.h"

#include <algorithm>
#include <bit>

#include "runtime/infer/bit_basis.h"
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

using infer::BitBasis;

/// Functions of address bits, as a field of a finding or of a model says them; of none of these bits beyond `top`.
std::vector<BitBasis::Mask> masks_up_to(const Fields& of, const char* field, int top) {
  std::vector<BitBasis::Mask> masks;
  const auto mask_of = [top](const Value& value) {
    const auto* bit = value.get<Number>();
    return bit && bit->number >= 0 && bit->number <= top ? BitBasis::Mask{1} << static_cast<int>(bit->number) : 0;
  };
  const auto at = of.find(field);
  const auto* rows = at == of.end() ? nullptr : at->second.get<List>();
  for (const auto& row : rows ? *rows : List{}) {
    const auto* parts = row.get<List>();
    BitBasis::Mask mask = parts ? 0 : mask_of(row);
    for (const auto& part : parts ? *parts : List{}) mask ^= mask_of(part);
    masks.push_back(mask);
  }
  return masks;
}

BitBasis functions_up_to(const Fields& of, int top) {
  BitBasis basis;
  for (const auto mask : masks_up_to(of, "bits", top)) basis.add(mask);
  return basis;
}

/// The highest address bit in which the walked lines that a finding names differ, -1 where it names none.
int highest_bit(const Fields& found) {
  const auto at = found.find("members");
  const auto* members = at == found.end() ? nullptr : at->second.get<List>();
  double last = 0;
  for (const auto& member : members ? *members : List{}) last = std::max(last, member.get<Number>() ? member.get<Number>()->number : 0);
  return last >= 1 && last < 0x1p62 ? std::bit_width(static_cast<std::uint64_t>(last)) - 1 : -1;
}

/// What a finding and a model have a field of, where a condition compares both in that field.
std::optional<std::pair<Fields, Fields>> compared_in(const char* field, const Formula& found, const Formula& truth, const compiler::Scope& scope) {
  if (found.kind != Formula::Kind::Field || truth.kind != Formula::Kind::Field || found.text != field || truth.text != field) return std::nullopt;
  const auto one = compiler::evaluate(*found.operands[0], scope), other = compiler::evaluate(*truth.operands[0], scope);
  const auto* of_found = one ? one->get<Fields>() : nullptr;
  const auto* of_truth = other ? other->get<Fields>() : nullptr;
  return of_found && of_truth ? std::optional(std::pair(*of_found, *of_truth)) : std::nullopt;
}

/// Of groups that have turns: whether both divide the lines of a set alike. What chooses the set is the same for all of them. Bits beyond the
/// highest one that the finding names are taken for those in which no line differed.
std::optional<bool> same_groups(const Formula& found, const Formula& truth, const compiler::Scope& scope) {
  const auto fields = compared_in("groups", found, truth, scope);
  if (!fields) return std::nullopt;
  const auto masks = masks_up_to(fields->first, "groups", 62);
  int top = -1;
  for (const auto mask : masks) top = std::max(top, static_cast<int>(std::bit_width(mask)) - 1);
  const auto known = masks_up_to(fields->second, "groups", top);
  if (masks.empty() || known.empty()) return std::nullopt;
  const auto set = functions_up_to(fields->second, top);
  return std::equal(masks.begin(), masks.end(), known.begin(), known.end(), [&](auto one, auto other) { return set.reduce(one) == set.reduce(other); });
}

/// Of a finding's functions and a model's: whether they choose the same sets among the lines that were walked. nullopt where the condition
/// is about something else, where either has no such functions, or where the walk reached fewer sets than there are.
std::optional<bool> same_functions(const Formula& found, const Formula& truth, const compiler::Scope& scope) {
  auto fields = compared_in("bits", found, truth, scope);
  if (!fields) fields = compared_in("mapping", found, truth, scope);
  if (!fields || !fields->first.contains("members")) return std::nullopt;
  const auto by_bits = [](const Fields& of) {
    const auto mapping = of.find("mapping");
    const auto* word = mapping == of.end() ? nullptr : mapping->second.get<std::string>();
    return word && (*word == "bits" || *word == "xor");
  };
  const int top = highest_bit(fields->first);
  if (top < 0 || !by_bits(fields->first) || !by_bits(fields->second)) return std::nullopt;
  const auto known = functions_up_to(fields->second, top);
  if (known.size() < functions_up_to(fields->second, 62).size()) return std::nullopt;
  return functions_up_to(fields->first, 62).rows() == known.rows();
}

}  // namespace

compiler::FormulaPtr with_names_settled(const compiler::FormulaPtr& condition, const compiler::Scope& scope) {
  const bool equal = condition->kind == Formula::Kind::Equal;
  if (equal || condition->kind == Formula::Kind::NotEqual) {
    const auto &one = *condition->operands[0], &other = *condition->operands[1];
    auto same = sameness(one, other, scope);
    if (!same) same = sameness(other, one, scope);
    std::optional<bool> functions;
    for (const auto settled : {same_functions, same_groups}) {
      if (!same && !functions) functions = settled(one, other, scope);
      if (!same && !functions) functions = settled(other, one, scope);
    }
    if (!same && !functions) return condition;
    Formula settled;
    settled.span = condition->span;
    settled.constant = same ? holds(equal, *same) : Value(equal == *functions);
    return std::make_shared<const Formula>(std::move(settled));
  }
  auto rewritten = *condition;
  for (auto& operand : rewritten.operands) operand = with_names_settled(operand, scope);
  return std::make_shared<const Formula>(std::move(rewritten));
}

}  // namespace gexp::result
