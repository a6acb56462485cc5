// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "runtime/infer/analysis.h"

/// Walks that come to each sector twice in a row: what the first visit takes beyond the second one, where nothing is told apart as a miss.
namespace gexp::infer {

/// First visits take longer on the border's side of `x` than beyond it.
struct SlowerFirstVisits {
  double x = 0;      ///< the first one, towards the border, at which they do
  double ticks = 0;  ///< by how much, on average over all accesses there
};

/// `quiet`: the x at which nothing misses, in order, the one next to the border last. If all of them fit, the first visit takes as much longer
/// than the second at each; a step on the way is a miss that costs too little to be told apart, or that too few accesses have. nullopt where
/// there is none, or no walk comes to a sector twice in a row. By likelihood, over the places that a step may have.
std::optional<SlowerFirstVisits> slower_first_visits(const Context& context, const Curve& curve, const std::vector<double>& quiet);

}  // namespace gexp::infer
