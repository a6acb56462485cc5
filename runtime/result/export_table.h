// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "runtime/result/point_table.h"

/// What a result holds as tables for other programs: accesses and findings, beside the points of `point_table`.
namespace gexp::result {

/// Every value of a stage's record: the point's sweeps, `run`, `trace` where a run has several (a warp's, in the order of warps and
/// blocks), `lap` and `step` where a chase is timed, `seg` where its pattern has parts, and the record less the region's own cost.
Result<PointTable> record_table(const compiler::Program& program, const RunResult& result, const std::string& stage);

/// Every finding: `finding status value unit low high confidence why evidence`. A value that is no number is text.
PointTable finding_table(const RunResult& result);

/// A line a point of a stage that was counted: its sweeps, then each counter. E0731: it was not.
Result<PointTable> counter_table(const RunResult& result, const std::string& stage);

/// NumPy's format: an array of structures, `<f8` of numbers (a value that is missing is NaN) and `<U` of texts (then it is empty).
std::string npy(const PointTable& table);
/// What a column holds: the unit of its numbers, which may be none, or texts.
struct ColumnKind {
  std::string unit;
  bool number = true;
};
ColumnKind kind_of(const PointTable& table, std::size_t column);

}  // namespace gexp::result
