// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

/// A few values that stand out from many which become rarer the larger they are.
namespace gexp::infer::model {

/// A normal bump on a falling curve.
struct Bump {
  double center = 0, width = 0;  ///< in cells; the width is a standard deviation
  double share = 0;              ///< of all values
  double gain = 0;               ///< natural logarithm of the likelihood beyond a falling curve alone, its three parameters paid for
  std::vector<double> belongs;   ///< for each cell the chance that a value of it belongs to the bump
};

/// The falling curve of the greatest likelihood, as its density in each cell: neighbours that rise are pooled (Grenander 1956; pool adjacent
/// violators). `counts` need not be whole.
std::vector<double> falling_curve(const std::vector<double>& counts);

/// The likeliest bump, by expectation and maximization from many places; nullopt where all values are in less than four cells. `counts` are of
/// neighbouring cells, from the one on from which the curve falls.
std::optional<Bump> find_bump(const std::vector<double>& counts);

}  // namespace gexp::infer::model
