// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/model_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/plan/expand.h"
#include "runtime/result/judge.h"

namespace gexp::result {
namespace {

using compiler::Formula;
using device::ModelFact;
using Kind = Formula::Kind;

bool reads_model(const Formula& formula) {
  const auto names = compiler::free_names(formula);
  return std::find(names.begin(), names.end(), "model") != names.end();
}

/// Nothing but the model: its parts, and functions of them.
bool only_model(const Formula& formula) {
  const auto names = compiler::free_names(formula);
  return !names.empty() && std::all_of(names.begin(), names.end(), [](const auto& name) { return name == "model"; });
}

class Reader {
 public:
  Reader(const compiler::Scope& scope, const RunResult& result) : scope_(scope), result_(result) {}

  /// A condition that has to hold.
  void read(const Formula& condition) {
    const auto& sides = condition.operands;
    if (condition.kind == Kind::And) return read(*sides[0]), read(*sides[1]);
    if (condition.kind == Kind::Or) return read_either(*sides[0], *sides[1]);
    if (condition.kind == Kind::Equal) return add(*sides[0], *sides[1], false);
    if (condition.kind == Kind::Within) return add(*sides[0], *sides[2], false);
    if (condition.kind != Kind::LessEqual) return;
    const auto& left = *sides[0];
    const bool difference =
        left.kind == Kind::Call && left.text == "abs" && left.arguments.size() == 1 && left.arguments[0].value->kind == Kind::Subtract;
    if (!difference) return add(left, *sides[1], true);
    if (!reads_model(*sides[1])) add(*left.arguments[0].value->operands[0], *left.arguments[0].value->operands[1], false);
  }

  std::vector<ModelFact> facts;

 private:
  /// Where both compare the same findings with parts of the model, one in which the first holds will do.
  void read_either(const Formula& one, const Formula& other) {
    Reader first(scope_, result_), second(scope_, result_);
    first.read(one), second.read(other);
    if (first.compared_ == second.compared_) facts.insert(facts.end(), first.facts.begin(), first.facts.end());
  }

  void add(const Formula& found, const Formula& side, bool at_least) {
    const auto& told = at_least && side.kind == Kind::Else ? *side.operands[0] : side;  // a limit that a model may leave out
    if (reads_model(found) || !only_model(told) || (at_least && told.kind != Kind::Field)) return;
    ModelFact fact{compiler::show(told), {}, at_least, 1, {}};
    const auto names = compiler::dotted_names(found);
    for (const auto& finding : result_.findings) {
      if (std::find(names.begin(), names.end(), finding.id) == names.end()) continue;
      fact.from += fmt::format("{}{}", fact.from.empty() ? result_.experiment + ": " : ", ", finding.id);
      fact.confidence = std::min(fact.confidence, finding.status == infer::Finding::Status::Found ? finding.confidence : 0);
    }
    if (fact.from.empty()) return;  // a number of the file, which nobody measured
    if (fact.confidence > 0) {
      if (auto value = compiler::evaluate(found, scope_)) fact.value = std::move(*value);
    }
    facts.push_back(std::move(fact)), compared_.push_back(compiler::show(found));
  }

  const compiler::Scope& scope_;
  const RunResult& result_;
  std::vector<std::string> compared_;  ///< by fact: what the model is compared with
};

}  // namespace

std::vector<ModelFact> model_facts(const compiler::Program& program, const RunResult& result) {
  const auto scope = findings_scope(program, result);
  if (!scope) return {};
  Reader reader(*scope, result);
  for (const auto& expectation : program.expects) {
    if (expectation.xfail.empty() && applies(expectation, *scope, result.device)) reader.read(*expectation.condition);
  }
  return std::move(reader.facts);
}

ModelAgreement agreement_with(const Value& structure, const compiler::Program& program, const RunResult& result) {
  ModelAgreement agreement;
  auto scope = findings_scope(program, result);
  if (!scope) return agreement;
  scope->set("model", structure);
  for (const auto& expectation : program.expects) {
    if (!reads_model(*expectation.condition)) continue;
    const auto judged = judge(expectation, *scope, result.device, result.findings);
    if (judged.status == Judgement::Status::Pass) agreement.held.push_back(judged.text);
    if (judged.status == Judgement::Status::Fail) agreement.failed.push_back(fmt::format("{} ({})", judged.text, judged.observed));
  }
  return agreement;
}

}  // namespace gexp::result
