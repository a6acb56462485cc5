// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/program.h"
#include "runtime/result/result.h"

/// What was measured at each point of a stage, as its `plot` draws it: for whoever draws.
namespace gexp::result {

/// A point's place in the sweeps.
std::map<std::string, Value> coordinates(const records::Table& table, const records::Point& point);

/// Refined points are measured last; a table is in the order of its sweeps.
void sort_points(records::Table& table);

/// Whether a formula is this name and nothing else.
bool is_name(const compiler::Formula& formula, const std::string& name);

/// Whether a plot draws every access, as `plot lat vs step` does of a record that is timed one by one.
bool plots_accesses(const compiler::Plot& plot, const records::Table& table);

/// By step of a point's walk: the label of its part of the pattern; empty where the pattern has none.
std::vector<std::string> parts_of(const records::Point& point);

struct PointTable {
  std::vector<std::string> columns;     ///< sweeps, then derives, then what is plotted and no column yet
  std::vector<std::vector<Value>> rows; ///< by point, in the order of the sweeps; unknown where nothing is
};

/// What is told of a point besides its sweeps: what the stage derives, and what it plots.
struct Column {
  std::string name;
  compiler::FormulaPtr formula;
};
std::vector<Column> columns_of(const compiler::Stage& stage);

/// Params, lets, and the findings that the stage ran with: what its formulas read besides its records.
Result<compiler::Names> scope_of(const compiler::Program& program, const StageResult& stage);

/// A line a point; where the stage plots every access (`plot lat vs step`), a line an access, with its `run` and `step`.
/// Of a result that `infer_again` has read. E0731: no such stage, or no records of it.
Result<PointTable> point_table(const compiler::Program& program, const RunResult& result, const std::string& stage);

/// Comma-separated: the columns with their units, then a line a point in these units.
std::string csv(const PointTable& table);

}  // namespace gexp::result
