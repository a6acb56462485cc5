// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "runtime/infer/analysis.h"
#include "runtime/infer/set_index.h"

/// Lines that are added one by one to a footprint that fits, and which lines then begin to miss together.
namespace gexp::infer {

struct GrowthLevel {                            ///< all points with one value of `extra`
  std::size_t present = 0;                ///< lines, those with the lowest indices
  std::size_t accesses = 0;               ///< of all of them
  std::size_t walked = 0;                 ///< laps, those that two launches share too
  std::size_t points = 0;                 ///< orders
  std::vector<std::uint32_t> orders;      ///< by line: points at which it missed
  std::vector<std::size_t> misses;        ///< by line; those that scatter may have made are not counted
  std::vector<std::uint32_t> by_class;    ///< the same by line and latency class
  std::vector<std::vector<bool>> laps;    ///< [lap][line]: whether it seemed to miss; of all orders and repetitions
};

/// Lines have indices in the order in which they were added.
struct SetGrowth {
  std::map<double, GrowthLevel> levels;
  std::vector<std::int64_t> number;  ///< of a line: its address in lines
  std::vector<std::int64_t> offset;  ///< of a line: the lowest one visited
  bool filtered = false;             ///< another level lies before the one that overflows, and may hold the line that is absent
};
Result<SetGrowth> read_set_growth(const Context& context, std::int64_t line_bytes, const MissRange& border);

/// What began to miss at one level: a set, all its lines at the onset, the added one included.
struct LineSet {
  double onset = 0;
  std::vector<std::size_t> lines;
};

struct LineSets {
  std::vector<LineSet> sets;
  std::vector<std::size_t> late;  ///< lines that began to miss with no line added to them, and found no set
};
/// `enough(level)`: misses of a line that are no accident there.
LineSets find_line_sets(const SetGrowth& growth, const std::map<double, std::size_t>& enough);

/// Laps from an onset on, and those of them in which none of a set's known lines missed.
struct SilentLaps {
  std::size_t all = 0, hidden = 0;
  double allowed = 0;  ///< share
  [[nodiscard]] bool proves_more() const;
};
SilentLaps silent_laps(const SetGrowth& growth, double onset, const std::vector<std::size_t>& lines);

/// Where a simple function of the address chooses the sets of almost all lines, the others, late ones too, were seen to miss only once
/// another set overflowed: they go where it puts them, if that set overflowed before.
void assign_by_index_function(const SetGrowth& growth, LineSets& groups, std::int64_t line_bytes);

/// A line that was seen to miss late looks, with the one that was added just then, like a set of one way: not where a simple function
/// puts both elsewhere, and explains all sets then.
void resolve_pairs(const SetGrowth& growth, LineSets& groups, std::int64_t line_bytes);

/// What the lines cost when they begin to miss, where that is not one thing: two structures that overflow at one footprint, as a cache and a
/// TLB may. In words; nullopt where it is one.
std::optional<std::string> two_structures(const Classes& classes, const std::vector<LineSet>& groups, const std::map<double, GrowthLevel>& levels);

/// All lines of the sets, by their set's index.
std::vector<LabelledLine> labels_of(const SetGrowth& growth, const std::vector<LineSet>& groups);

SetIndex index_of(const SetGrowth& growth, const std::vector<LineSet>& groups, std::int64_t line_bytes);

/// Sets that are equal but for a line too many in one and too few in another that overflowed before: the line may have been seen
/// first when the later one overflowed. If sets of one size follow a simple function of the address, which all other lines
/// confirm, it was. Of many sets without a function such a pair stays open. True: nothing is left open; the groups may have changed.
bool resolve_sizes(const SetGrowth& growth, std::vector<LineSet>& groups, std::int64_t line_bytes);

}  // namespace gexp::infer
