// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/infer/classes.h"
#include "runtime/records/table.h"

namespace gexp::infer {

/// What sets that fill evenly predict of a footprint beyond their size.

/// Share of visits that miss where victims are drawn at random and sets fill evenly, with `ratio` times as many lines as they hold: of large
/// sets, which miss least. A line is still there if none of the misses since its last visit drew it. LRU and FIFO miss more often.
/// m = 1 - exp(-ratio m), which is solved by Lambert's W.
double missing_at_random(double ratio);

/// The largest footprint that fits.
struct Fits {
  double from = 0, to = 0;               ///< bytes, between which it is
  const records::Point* point = nullptr; ///< that walked it; null where none is known
};

/// Where so much more is walked than fits that even sets would all overflow: the block, in bytes, by which lines miss more or less often
/// than others. nullopt: they miss alike wherever they lie, or the records do not tell. `walks`: footprint in bytes, and its point, with a
/// walk of one thread; `unit`: bytes that a miss brings in.
std::optional<std::int64_t> uneven_blocks(const std::vector<std::pair<double, const records::Point*>>& walks, const Fits& fits,
                                          std::int64_t unit, const MissRange& range);

}  // namespace gexp::infer
