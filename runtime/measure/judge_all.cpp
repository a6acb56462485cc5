// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/judge_all.h"

#include <algorithm>

#include "runtime/measure/outcomes.h"
#include "runtime/result/judge.h"

namespace gexp::measure {
namespace {

/// A stage's expectations name its own finds without the stage.
void judge_stage(const compiler::Stage& stage, const compiler::Names& scope, const result::RunResult& result, std::vector<result::Judgement>& out) {
  compiler::Names inner(&scope);
  if (const auto* own = scope.lookup(stage.name)) {
    if (const auto* fields = own->get<Fields>()) {
      for (const auto& find : stage.finds) {
        const auto name = find.id.substr(stage.name.size() + 1);
        const auto value = fields->find(name);
        inner.set(name, value == fields->end() ? Value() : value->second);
      }
    }
  }
  const auto ran = std::find_if(result.stages.begin(), result.stages.end(), [&](const auto& each) { return each.name == stage.name; });
  const auto* table = ran == result.stages.end() || ran->table.points.empty() ? nullptr : &ran->table;
  set_outcomes(stage, table, inner);
  for (const auto& expect : stage.expects) {
    auto judged = result::judge(expect, inner, result.device, result.findings, stage.name);
    const auto ended = table ? told_outcome(expect, *table) : "";
    if (!ended.empty()) judged.observed += (judged.observed.empty() ? "" : "; ") + ended;
    out.push_back(std::move(judged));
  }
}

}  // namespace

void judge_all(const compiler::Program& program, const compiler::Names& scope, result::RunResult& result) {
  result.expectations.clear();
  for (const auto& stage : program.stages) judge_stage(stage, scope, result, result.expectations);
  compiler::Names knowing(&scope);
  if (result.structure.known()) knowing.set("model", result.structure);
  for (const auto& expect : program.expects) result.expectations.push_back(result::judge(expect, knowing, result.device, result.findings));
}

}  // namespace gexp::measure
