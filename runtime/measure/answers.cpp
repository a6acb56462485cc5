// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/answers.h"

#include "runtime/infer/combined.h"
#include "runtime/infer/infer.h"
#include "runtime/infer/reconcile.h"

namespace gexp::measure {
namespace {

infer::Finding answer_one(const compiler::Question& question, const infer::PreparedRecords& prepared, const compiler::Stage& stage, const compiler::Scope& scope,
                          const infer::MeasuredStages& earlier, const std::vector<infer::Finding>& findings) {
  if (question.combined) return infer::combine(question, findings, scope);
  if (auto why = infer::missing_part(question, findings); !why.empty()) {
    infer::Finding none;
    none.id = question.id;
    none.why = std::move(why);
    return none;
  }
  auto finding = infer::answer(question, prepared, stage, scope, earlier);
  infer::no_surer_than_chosen_by(finding, question, findings);
  if (question.type.empty()) finding.unit = infer::unit_of(finding.value);
  return finding;
}

}  // namespace

void answer_questions(const compiler::Stage& stage, const records::Table& table, compiler::Names& scope,
                      std::vector<infer::Finding>& findings, infer::MeasuredStages& earlier) {
  Fields fields;
  auto inner = infer::names_in(table, scope);  // and the stage's findings so far: common_limit reads spikes
  const auto prepared = std::make_shared<const infer::PreparedRecords>(table, earlier.of_same_levels(stage));
  for (const auto& question : stage.finds) {
    auto finding = answer_one(question, *prepared, stage, inner, earlier, findings);
    const auto name = question.id.substr(stage.name.size() + 1);
    fields[name] = finding.value;
    inner.set(name, finding.value);
    if (question.type.empty()) scope.set(question.id, finding.value);  // a part: others read it by its id
    findings.push_back(std::move(finding));
  }
  scope.set(stage.name, Value(std::move(fields)));
  earlier.add(stage, table, prepared);
}

void reconcile_answers(const compiler::Program& program, const infer::MeasuredStages& measured, compiler::Names& scope,
                       std::vector<infer::Finding>& findings) {
  infer::reconcile(program, measured, scope, findings);
  for (const auto& stage : program.stages) {
    const auto* found = scope.lookup(stage.name);
    const auto* fields = found ? found->get<Fields>() : nullptr;
    if (!fields) continue;
    auto left = *fields;
    for (const auto& finding : findings) {
      const auto name = finding.id.starts_with(stage.name + ".") ? finding.id.substr(stage.name.size() + 1) : "";
      if (left.contains(name)) left[name] = finding.value;
    }
    scope.set(stage.name, Value(std::move(left)));
  }
}

void leave_unanswered(const compiler::Stage& stage, const std::string& why, compiler::Names& scope,
                      std::vector<infer::Finding>& findings) {
  for (const auto& question : stage.finds) {
    infer::Finding finding;
    finding.id = question.id;
    finding.unit = question.type;
    finding.why = why;
    findings.push_back(std::move(finding));
  }
  scope.set(stage.name, Value(Fields{}));
}

const Value* answer_in(const compiler::Scope& scope, const std::string& stage, const std::string& finding) {
  const auto* value = scope.lookup(stage);
  const auto* fields = value ? value->get<Fields>() : nullptr;
  if (!fields) return nullptr;
  const auto found = fields->find(finding);
  return found == fields->end() ? nullptr : &found->second;
}

}  // namespace gexp::measure
