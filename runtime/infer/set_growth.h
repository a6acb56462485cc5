// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "runtime/infer/analysis.h"

/// Lines that are added one by one to a footprint that fits, and which lines then begin to miss together.
namespace gexp::infer {

struct GrowthLevel {                    ///< all points with one value of `extra`
  std::size_t present = 0;              ///< lines, those with the lowest indices
  std::size_t walked = 0;               ///< laps
  std::vector<std::size_t> misses;      ///< by line; those that scatter may have made are not counted
  std::vector<std::uint32_t> by_class;  ///< the same by line and latency class
};

/// Lines have indices in the order in which they were added.
struct SetGrowth {
  std::map<double, GrowthLevel> levels;
  std::vector<std::int64_t> number;  ///< of a line: its address in lines
  std::vector<std::int64_t> offset;  ///< of a line: the lowest one visited
};
Result<SetGrowth> read_set_growth(const Context& context, std::int64_t line_bytes, const MissRange& border);

/// Lines of one set: those that were there when it overflowed, the one that made it overflow included.
struct LineSet {
  double onset = 0;  ///< of `extra`, at which it overflows
  std::vector<std::size_t> lines;
};

/// Whether a line misses at a level more often than by accident.
bool misses_at(const GrowthLevel& level, std::size_t line, const MissRange& border);

/// Lines that begin to miss at the same level as a line that is added there, as sets: a first guess. Lines that begin to miss with no line
/// added to them are given to the first set.
std::vector<LineSet> begin_together(const SetGrowth& growth, const MissRange& border);

/// What the lines cost when they begin to miss, where that is not one thing: two structures that overflow at one footprint, as a cache and a
/// TLB may. In words; nullopt where it is one.
std::optional<std::string> two_structures(const Classes& classes, const std::vector<LineSet>& groups, const std::map<double, GrowthLevel>& levels);

}  // namespace gexp::infer
