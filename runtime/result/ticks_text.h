// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/result/read_budget.h"

namespace gexp::result {

/// Thrown while a result is read, and caught in result_json_read.cpp.
struct TooLarge {};

/// The text of a result whose lists of ticks were taken out.
struct LiftedTicks {
  std::string text;                                ///< with a number in place of each list: its index in `ticks`
  std::vector<std::vector<std::uint32_t>> ticks;   ///< decoded
  bool lifted = false;                             ///< false: `text` is empty, read the original
};

/// Ticks are nearly all of a result's text: decoding them here, and not as values of a JSON document, takes a tenth of the time.
/// Nothing is lifted where one list is not [value, count, …]: then the JSON reader says what is wrong.
/// Throws TooLarge where `budget` does not hold them.
LiftedTicks lift_ticks(const std::string& text, ReadBudget& budget);

}  // namespace gexp::result
