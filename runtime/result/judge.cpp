// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/result/policy_names.h"

namespace gexp::result {
namespace {

using compiler::Formula;

/// The readable parts of a condition: `capacity.C = 12288 B`, for every finding that it names. `items`: what a list is made of has no value.
void observe(const Formula& formula, const compiler::Scope& scope, std::set<std::string> items, std::set<std::string>& seen, std::string& text) {
  if (formula.kind == Formula::Kind::Field || formula.kind == Formula::Kind::Name) {
    const Formula* root = &formula;
    while (root->kind == Formula::Kind::Field) root = root->operands[0].get();
    const auto name = compiler::show(formula);
    if (items.contains(root->text) || !seen.insert(name).second) return;
    const auto value = compiler::evaluate(formula, scope);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value && value->known() ? show(*value) : "undetermined");
    return;
  }
  for (const auto& loop : formula.loops) {
    for (const auto& part : {loop.from, loop.to, loop.step}) {
      if (part) observe(*part, scope, items, seen, text);
    }
    items.insert(loop.name);
  }
  for (const auto& operand : formula.operands) observe(*operand, scope, items, seen, text);
  for (const auto& argument : formula.arguments) observe(*argument.value, scope, items, seen, text);
}

/// The values at which what a condition says of a number may change: those that it is compared with, and those that it differs from, as in
/// `abs(found - expected) <= tolerance`.
void turns(const Formula& formula, const std::string& name, const compiler::Scope& scope, std::vector<double>& values) {
  using Kind = Formula::Kind;
  const auto names = [&](const auto& operand) { return compiler::show(*operand) == name; };
  const auto& operands = formula.operands;
  const bool compares = (formula.kind >= Kind::Equal && formula.kind <= Kind::GreaterEqual) || formula.kind == Kind::Within || formula.kind == Kind::InRange;
  if ((compares || formula.kind == Kind::Subtract) && std::any_of(operands.begin(), operands.end(), names)) {
    for (const auto& operand : operands) {
      if (names(operand)) continue;
      const auto other = compiler::evaluate(*operand, scope);
      if (const auto* number = other ? other->get<Number>() : nullptr) values.push_back(number->number);
    }
  }
  for (const auto& operand : operands) turns(*operand, name, scope, values);
  for (const auto& argument : formula.arguments) turns(*argument.value, name, scope, values);
}

/// A finding that is not exact, and how a condition names it.
struct Coarse {
  const infer::Finding* finding;
  std::string name, stage, field;
};

std::vector<Coarse> coarse_findings(const Formula& condition, const compiler::Scope& scope, const std::vector<infer::Finding>& found, const std::string& stage) {
  std::string text;
  std::set<std::string> named;
  observe(condition, scope, {}, named, text);
  std::vector<Coarse> coarse;
  for (const auto& finding : found) {
    if (finding.exact || finding.status != infer::Finding::Status::Found || !finding.interval) continue;
    const auto dot = finding.id.find('.');
    const auto of = finding.id.substr(0, dot), field = finding.id.substr(dot + 1);
    if (of == stage && named.contains(field)) coarse.push_back({&finding, field, "", field});
    else if (named.contains(finding.id)) coarse.push_back({&finding, finding.id, of, field});
  }
  return coarse;
}

/// Whether a condition holds whatever a finding is within its interval; nullopt where that decides.
std::optional<bool> holds_within(const Formula& condition, const compiler::Scope& scope, const Coarse& coarse) {
  const auto& interval = *coarse.finding->interval;
  std::vector<double> tried{interval.first, interval.second};
  turns(condition, coarse.name, scope, tried);
  std::erase_if(tried, [&](double value) { return !(value >= interval.first && value <= interval.second); });  // what is no number, too
  std::sort(tried.begin(), tried.end());
  const auto turning = tried.size();  // none where a stranger's interval ends before it begins
  for (std::size_t i = 1; i < turning; ++i) tried.push_back((tried[i - 1] + tried[i]) / 2);  // `> 2KiB and < 3KiB` holds between them only
  const auto dimension = coarse.finding->value.get<Number>()->dimension;
  std::optional<bool> all;
  for (const auto value : tried) {
    compiler::Names inner(&scope);
    if (coarse.stage.empty()) {
      inner.set(coarse.name, Value(value, dimension));
    } else {
      auto fields = *scope.lookup(coarse.stage)->get<Fields>();
      fields[coarse.field] = Value(value, dimension);
      inner.set(coarse.stage, Value(std::move(fields)));
    }
    const auto result = compiler::evaluate(condition, inner);
    const auto* holds = result ? result->get<bool>() : nullptr;
    if (!holds || (all && *all != *holds)) return std::nullopt;
    all = *holds;
  }
  return all;
}

}  // namespace

bool selects(const std::string& selector, const device::DeviceInfo& device) {
  if (selector == device.selector || selector == device.name) return true;
  return selector == fmt::format("sm_{}{}", device.compute_major, device.compute_minor) && device.kind != "simulated";
}

bool applies(const compiler::Expectation& expectation, const compiler::Scope& scope, const device::DeviceInfo& device) {
  const auto& on = expectation.on;
  if (!on.empty() && std::none_of(on.begin(), on.end(), [&](const std::string& s) { return selects(s, device); })) return false;
  if (!expectation.where) return true;
  const auto here = compiler::evaluate(*expectation.where, scope);
  const auto* holds = here ? here->get<bool>() : nullptr;
  return !holds || *holds;
}

Judgement judge(const compiler::Expectation& expectation, const compiler::Scope& scope, const device::DeviceInfo& device,
                const std::vector<infer::Finding>& found, const std::string& stage) {
  Judgement judgement;
  judgement.text = expectation.text;
  judgement.from = expectation.from;
  if (!applies(expectation, scope, device)) {
    judgement.status = Judgement::Status::NotHere;
    return judgement;
  }
  const auto reads = compiler::free_names(*expectation.condition);
  if (std::find(reads.begin(), reads.end(), "model") != reads.end() && !scope.lookup("model")) {
    judgement.status = Judgement::Status::NotHere;  // a device of which nobody knows the structure
    return judgement;
  }
  std::set<std::string> seen;
  observe(*expectation.condition, scope, {}, seen, judgement.observed);
  const auto condition = with_names_settled(expectation.condition, scope);
  const auto value = compiler::evaluate(*condition, scope);
  const auto* holds = value ? value->get<bool>() : nullptr;
  for (const auto& coarse : holds ? coarse_findings(*condition, scope, found, stage) : std::vector<Coarse>{}) {
    if (holds_within(*condition, scope, coarse)) continue;
    holds = nullptr;
    const auto dimension = coarse.finding->value.get<Number>()->dimension;
    judgement.observed += fmt::format("; {} is between {} and {}, told no finer", coarse.name, show(coarse.finding->interval->first, dimension),
                                      show(coarse.finding->interval->second, dimension));
  }
  if (!holds) {
    // What is expected to fail may do so by not being found.
    judgement.status = expectation.xfail.empty() ? Judgement::Status::Unknown : Judgement::Status::ExpectedFail;
    if (!value) judgement.observed = value.error().message;
  } else if (expectation.xfail.empty()) {
    judgement.status = *holds ? Judgement::Status::Pass : Judgement::Status::Fail;
  } else {
    judgement.status = *holds ? Judgement::Status::UnexpectedPass : Judgement::Status::ExpectedFail;
  }
  return judgement;
}

Result<compiler::Names> findings_scope(const compiler::Program& program, const RunResult& result) {
  auto scope = compiler::file_scope(program);
  if (!scope) return scope.error();
  for (const auto& stage : program.stages) {
    Fields fields;
    for (const auto& finding : result.findings) {
      if (finding.id.starts_with(stage.name + ".")) fields[finding.id.substr(stage.name.size() + 1)] = finding.value;
    }
    scope->set(stage.name, Value(std::move(fields)));
  }
  return scope;
}

}  // namespace gexp::result
