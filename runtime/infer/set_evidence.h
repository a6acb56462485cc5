// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/infer/set_growth.h"
#include "runtime/infer/set_index.h"

/// Which lines share a set, by everything that the file has walked through the same cache so far.
namespace gexp::infer {

struct SetAnswer {
  std::vector<LineSet> sets;       ///< by onset; empty: `why` says what is open
  std::optional<SetIndex> index;   ///< what chooses a line's set; nullopt: several functions, or none, would do as well
  std::vector<int> bits;           ///< of the address, that were told apart
  double confidence = 0;           ///< posterior of these sets and sizes
  double lines_held = 0;           ///< where some sets have room yet: lines that all were seen to hold together
  std::string why;                 ///< what speaks against them most, or why there are none
};

/// `guess`: what begins to miss together, one set at least. `line_bytes`: of a line. `slower_than`: of the question's `above:`, in cycles.
SetAnswer likeliest_sets(const Context& context, const SetGrowth& growth, const std::vector<LineSet>& guess, const MissRange& border, std::int64_t line_bytes,
                         std::optional<double> slower_than);

}  // namespace gexp::infer
