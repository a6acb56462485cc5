// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "compiler/formula/formula.h"
#include "compiler/program.h"
#include "runtime/infer/finding.h"
#include "runtime/infer/prepared_records.h"
#include "runtime/records/table.h"

/// The inference engine's whole surface: pure functions of a stage's records.
namespace gexp::infer {

/// Answers one `find`. `outer` holds params, lets and earlier findings (unknown values for those not found).
/// lang/analyses.def lists the analyses; the checker knows their names and parameters from there.
/// `earlier`: the stages of the file that were measured before.
Finding answer(const compiler::Question& question, const PreparedRecords& prepared, const compiler::Stage& stage,
               const compiler::Scope& outer, const MeasuredStages& earlier = {});
/// The same where one question is all.
Finding answer(const compiler::Question& question, const records::Table& table, const compiler::Stage& stage,
               const compiler::Scope& outer);

/// A formula over the records of one point (index into table.points): stopping rules, refine and until conditions, derived
/// columns. Knows median mean min max stddev ci(…) elapsed misses missed stable, the stage's `derive`s and sweep names.
/// `classes` are the table's, as of now or of shortly before: a growing stage need not be classified anew for every question.
Result<Value> at_point(const compiler::Formula& formula, const records::Table& table, const Classes& classes, std::size_t point,
                       const compiler::Stage& stage, const compiler::Scope& outer);

/// The same over each repetition by itself.
Result<std::vector<Value>> at_point_by_run(const compiler::Formula& formula, const records::Table& table, const Classes& classes, std::size_t point,
                                           const compiler::Stage& stage, const compiler::Scope& outer);

}  // namespace gexp::infer
