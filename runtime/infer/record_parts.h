// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/formula/formula.h"
#include "compiler/program.h"
#include "runtime/records/table.h"

/// Parts of a record: the values of some steps, laps, parts of the pattern, warps, threads or blocks (lang/parts.def).
namespace gexp::infer {

/// A `where`, and the parts by which the values are put apart.
struct Selection {
  const compiler::Formula* where = nullptr;
  std::vector<std::string> by;  ///< each becomes a coordinate of the points
  std::size_t first_run = 0, runs = 0;  ///< 0: all
};

/// The names of parts that a formula reads: those that `point` has no value of its own for.
std::vector<std::string> parts_in(const compiler::Formula& formula, const compiler::Scope& point);
/// Whether there is a part of this name, whatever else has it.
bool may_be_part(const std::string& name);
bool is_part(const std::string& name, const compiler::Scope& point);

/// The points that are made of one: a point for each value of `by`, in the order in which they come, each with the selected values of the
/// record alone. The walk of a part is what it visits, so that value i still is of step i of it. Empty: nothing is selected.
/// An error says why the record does not tell these parts apart.
Result<std::vector<records::Point>> parts_of(const records::Point& point, const records::Table& table, const compiler::Stage& stage,
                                             const Selection& selection, const compiler::Scope& scope);

}  // namespace gexp::infer
