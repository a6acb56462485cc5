// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/program.h"
#include "runtime/infer/finding.h"

/// Findings that are made of others: what an analysis of one's own gives.
namespace gexp::infer {

/// The answer of a question that has `combined`, of the answers to its parts, which are among `all`. It is no surer than the least sure of
/// what it reads, and undetermined where a part is.
Finding combine(const compiler::Question& question, const std::vector<Finding>& all, const compiler::Scope& outer);

/// Why a question cannot be asked: it reads the answer to another part, or chooses records by a finding above it, and that is
/// undetermined. Empty where it can.
std::string missing_part(const compiler::Question& question, const std::vector<Finding>& all);

/// A finding of records that others above it chose (`where n <= C`) is no surer than those.
void no_surer_than_chosen_by(Finding& finding, const compiler::Question& question, const std::vector<Finding>& all);

/// Anew, where something was withdrawn that a combined finding reads, or by which another chose its records.
void combine_again(const compiler::Program& program, const compiler::Scope& scope, std::vector<Finding>& all);

/// The unit of a part's answer, which the spec does not write.
std::string unit_of(const Value& value);

}  // namespace gexp::infer
