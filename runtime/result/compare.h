// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program.h"
#include "runtime/infer/difference.h"
#include "runtime/result/result.h"

/// How results of one experiment differ: from device to device, driver to driver, day to day.
namespace gexp::result {

using infer::Agreement;

/// One of those that are compared: a result that was inferred, with its program.
struct ComparedResult {
  const compiler::Program& program;
  const RunResult& result;
  std::string name;  ///< for whoever reads why: "A", "cuda:1"
};

/// What one finding, or one field of it, is on each side.
struct ComparedFinding {
  std::string id;                   ///< "capacity.C", "sets.sets.ways"
  std::vector<std::string> values;  ///< as a reader would write them, by side; "undetermined" where nothing was found
  Agreement agreement = Agreement::Same;  ///< of the two sides that differ most
  std::string why;                  ///< unless it is the same: what says so
};

constexpr double kMargin = 0.02;  ///< of the larger: launches of one device differ by as much

/// Sizes, counts, names and lists of them are the same where they are equal, and different where they are not, unless the intervals of
/// two meet or one is hardly sure. Times and rates are asked again of each repetition alone, and judged by `differences`; where one
/// repetition does not answer, by their values.
std::vector<ComparedFinding> compare(const std::vector<ComparedResult>& sides, double margin = kMargin);

/// One sweep point of a curve that is not the same.
struct ComparedPoint {
  std::string at;  ///< "n = 64 KiB, k = 2"
  infer::Difference difference;
  std::string why;  ///< where it is ambiguous
};

/// One column of a stage, point by point. Only points that both sides have are compared: refined sweeps look elsewhere.
struct ComparedCurve {
  std::string stage, column;
  Dimension dimension;
  std::size_t points = 0, different = 0, ambiguous = 0, undetermined = 0;  ///< of those that both sides have; the rest is the same
  std::size_t only_in_a = 0, only_in_b = 0;
  Agreement agreement = Agreement::Same;
  std::optional<ComparedPoint> worst;  ///< of the points that decided `likeness`
  std::string why;             ///< where no point did
  [[nodiscard]] std::size_t same() const { return points - different - ambiguous - undetermined; }
};

constexpr double kCurveChance = 0.01;  ///< of calling a curve different that is not

/// Every derived and plotted column of the stages that both have; where nothing is derived, the median of the record.
Result<std::vector<ComparedCurve>> compare_curves(const ComparedResult& a, const ComparedResult& b, double margin = kMargin);

/// What could explain a difference: device, driver, compiler, spec, settings, where they are not the same.
struct Change {
  std::string what, a, b;
};
std::vector<Change> provenance(const RunResult& a, const RunResult& b);

/// Stages of which both hold one and the same measurement, because one kept what the other has: that they agree says nothing.
std::vector<std::string> same_measurement(const RunResult& a, const RunResult& b);

/// Findings ("capacity.C"), stages and columns ("stage capacity", "column capacity.missed") of the first that the second does not have.
std::vector<std::string> only_in(const ComparedResult& a, const ComparedResult& b);

}  // namespace gexp::result
