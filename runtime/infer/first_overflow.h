// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "runtime/infer/model/set_hypothesis.h"
#include "runtime/infer/set_growth.h"
#include "runtime/infer/set_index.h"

namespace gexp::infer {

/// Functions of address bits that are the same for all lines that miss where the first set overflows: all such functions, and all but one of
/// them, as one may be the same by chance. Whatever replaces lines, those that miss there are of one set, though others of it may never be
/// missed: they tell its function from any that divides them. `bits`: of the address, that may take part. None: too few lines miss there.
std::vector<SetIndex> of_first_overflow(const SetGrowth& growth, const MissRange& border, const std::vector<int>& bits, std::int64_t line_bytes);

/// How well a hypothesis told which lines would miss after the first set had overflowed: by how much likelier it is that none of them is of a
/// set that fits than by chance; a natural logarithm. Where all sets overflow, it tells nothing.
double log_of_foretold(const SetGrowth& growth, const MissRange& border, const model::SetHypothesis& hypothesis, const model::SetScore& score);

}  // namespace gexp::infer
