// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/program.h"
#include "runtime/infer/finding.h"
#include "runtime/infer/prepared_records.h"
#include "runtime/records/table.h"

namespace gexp::measure {

/// Answers a stage's questions and makes the answers readable as `stage.name`. Fields of what was not found stay
/// unknown. `earlier`: the stages before it, which it joins; `table` must outlive it.
void answer_questions(const compiler::Stage& stage, const records::Table& table, compiler::Names& scope,
                      std::vector<infer::Finding>& findings, infer::MeasuredStages& earlier);

/// Holds all findings of the file against each other (infer/reconcile.h), and makes those that are left readable as `stage.name`.
void reconcile_answers(const compiler::Program& program, const infer::MeasuredStages& measured, compiler::Names& scope,
                       std::vector<infer::Finding>& findings);

/// None of its questions has an answer, because of `why`.
void leave_unanswered(const compiler::Stage& stage, const std::string& why, compiler::Names& scope,
                      std::vector<infer::Finding>& findings);

/// The answer `stage.finding` that a scope holds, known or not; null where the stage has not answered it.
const Value* answer_in(const compiler::Scope& scope, const std::string& stage, const std::string& finding);

}  // namespace gexp::measure
