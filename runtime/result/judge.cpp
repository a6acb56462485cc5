// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

}  // namespace

bool selects(const std::string& selector, const device::DeviceInfo& device) {
  if (selector == device.selector || selector == device.name) return true;
  return selector == fmt::format("sm_{}{}", device.compute_major, device.compute_minor) && device.kind != "simulated";
}

Judgement judge(const compiler::Expectation& expectation, const compiler::Scope& scope, const device::DeviceInfo& device) {
  Judgement judgement;
  judgement.text = expectation.text;
  judgement.from = expectation.from;
  const auto& on = expectation.on;
  if (!on.empty() && std::none_of(on.begin(), on.end(), [&](const std::string& s) { return selects(s, device); })) {
    judgement.status = Judgement::Status::NotHere;
    return judgement;
  }
  if (expectation.where) {
    const auto here = compiler::evaluate(*expectation.where, scope);
    const auto* holds = here ? here->get<bool>() : nullptr;
    if (holds && !*holds) {
      judgement.status = Judgement::Status::NotHere;
      return judgement;
    }
  }
  const auto reads = compiler::free_names(*expectation.condition);
  if (std::find(reads.begin(), reads.end(), "model") != reads.end() && !scope.lookup("model")) {
    judgement.status = Judgement::Status::NotHere;  // a device of which nobody knows the structure
    return judgement;
  }
  std::set<std::string> seen;
  observe(*expectation.condition, scope, {}, seen, judgement.observed);
  const auto value = compiler::evaluate(*expectation.condition, scope);
  const auto* holds = value ? value->get<bool>() : nullptr;
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

const char* word(Judgement::Status status) {
  switch (status) {
    case Judgement::Status::Pass: return "pass";
    case Judgement::Status::Fail: return "fail";
    case Judgement::Status::Unknown: return "unknown";
    case Judgement::Status::ExpectedFail: return "xfail";
    case Judgement::Status::UnexpectedPass: return "xpass";
    case Judgement::Status::NotHere: return "not here";
  }
  return "";
}

}  // namespace gexp::result
