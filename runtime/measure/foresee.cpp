// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <deque>

#include "runtime/measure/answers.h"
#include "runtime/measure/kept.h"

namespace gexp::measure {
namespace {

std::string finding_name(const compiler::Program& program, const compiler::StageInput& read) {
  const auto& stage = program.stages[read.stage].name;
  return read.finding.empty() ? stage : stage + "." + read.finding;
}

std::string names_of(const compiler::Program& program, const std::vector<compiler::StageInput>& reads) {
  std::vector<std::string> names;
  for (const auto& read : reads) names.push_back(finding_name(program, read));
  return fmt::format("{}", fmt::join(names, ", "));
}

class Foresight {
 public:
  Foresight(const compiler::Program& program, const KeptStages& kept, const result::RunResult& head,
            const std::string& toolchain, compiler::Names scope)
      : program_(program), kept_(kept), head_(head), toolchain_(toolchain), scope_(std::move(scope)) {}

  Foreseen run() {
    for (const auto& stage : program_.stages) foreseen_.stages.push_back(of(stage));
    return std::move(foreseen_);
  }

 private:
  StageForeseen of(const compiler::Stage& stage) {
    std::vector<compiler::StageInput> open;  // what it reads of stages that are measured
    for (const auto& read : stage.reads) {
      if (!foreseen_.known.findings.contains(program_.stages[read.stage].name)) open.push_back(read);
    }
    const auto key = stage_key(program_, stage, scope_, head_, toolchain_);
    if (open.empty()) {
      if (auto found = keep_stage(program_, stage, scope_, kept_, key)) return keep(stage, *found);
    }
    return {std::nullopt, why_measured(stage, key, open)};
  }

  StageForeseen keep(const compiler::Stage& stage, KeptStage& found) {
    std::vector<infer::Finding> findings;
    if (found.stage.table.points.empty())
      leave_unanswered(stage, found.stage.why, scope_, findings);
    else
      answer_questions(stage, held_.emplace_back(std::move(found.stage.table)), scope_, findings, measured_);
    foreseen_.known.findings[stage.name] = *scope_.lookup(stage.name);
    return {found.stage.kept, ""};
  }

  /// What it reads of kept stages and has no value.
  [[nodiscard]] std::vector<compiler::StageInput> not_found(const compiler::Stage& stage) const {
    std::vector<compiler::StageInput> lacking;
    for (const auto& read : stage.reads) {
      const auto& from = program_.stages[read.stage].name;
      if (read.finding.empty() || !scope_.lookup(from)) continue;
      const auto* answer = answer_in(scope_, from, read.finding);
      if (!answer || !answer->known()) lacking.push_back(read);
    }
    return lacking;
  }

  [[nodiscard]] std::string why_measured(const compiler::Stage& stage, const StageKey& key,
                                         const std::vector<compiler::StageInput>& open) const {
    const auto last = kept_.last(head_.experiment, stage.name, key);
    if (!last) return "nothing of it is kept yet";
    if (last->device != key.device) return "it was measured on another device, or under another driver";
    if (last->toolchain != key.toolchain) return "it was measured by another gexp, NVRTC or templates";
    if (last->seed != key.seed) return "it was measured with another seed";
    if (last->text != key.text) return "its text changed";
    if (!open.empty()) return fmt::format("unless {} {}", names_of(program_, open), open.size() == 1 ? "stays as it was" : "stay as they were");
    if (const auto lacking = not_found(stage); last->inputs != key.inputs && !lacking.empty())
      return fmt::format("{} {} not found any more", names_of(program_, lacking), lacking.size() == 1 ? "is" : "are");
    if (last->inputs != key.inputs) return fmt::format("{} changed", names_of(program_, stage.reads));
    return "what is kept of it is damaged";
  }

  const compiler::Program& program_;
  const KeptStages& kept_;
  const result::RunResult& head_;
  const std::string& toolchain_;
  compiler::Names scope_;
  std::deque<records::Table> held_;  ///< of the stages in `measured_`
  infer::MeasuredStages measured_;
  Foreseen foreseen_;
};

}  // namespace

Result<Foreseen> foresee(const compiler::Program& program, const KeptStages& kept, const result::RunResult& head,
                         const std::string& toolchain) {
  auto scope = compiler::file_scope(program);
  if (!scope) return scope.error();
  return Foresight(program, kept, head, toolchain, std::move(*scope)).run();
}

}  // namespace gexp::measure
