// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "runtime/infer/analysis.h"

/// What else than one structure's border makes a share of slow accesses rise.
namespace gexp::infer {

/// Where the question's column is made of `slower(…, above: L)`: L, in cycles, if it lies within one latency class, no second peak of
/// that class lies beyond, and most of what counts at x is of that class. Then no level begins there, and what is counted is the tail of one.
std::optional<double> counts_a_tail(const Context& context, const Curve& curve, double x);

/// The same column: whether, at x, the first lap of each run has more than twice the share of later ones.
bool slower_in_first_laps(const Context& context, const Curve& curve, double x);

}  // namespace gexp::infer
