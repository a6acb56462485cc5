// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "runtime/infer/modes.h"

namespace gexp::infer {

/// By cell of the histogram: the visits to what the walk visited just before, which always hit; empty where some walk is not known.
std::vector<double> repeated_hits(const records::Table& table, const Histogram& histogram);

/// What the other visits of the hits' mode have beyond the scatter of `hits`, slower by more than slices or a comb, becomes a mode of its
/// own, valley or not.
void split_by_repeated_hits(const Histogram& histogram, const std::vector<double>& hits, ModeCriteria criteria, std::vector<Mode>& modes);

}  // namespace gexp::infer
