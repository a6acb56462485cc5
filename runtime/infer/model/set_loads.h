// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/infer/model/lap_counts.h"
#include "runtime/infer/model/line_walks.h"
#include "runtime/infer/set_index.h"

/// What the lines of a set do together, where lines come and go.
namespace gexp::infer::model {

/// One line in one footprint: indices into LineWalks::footprints, and into the lines of that one.
struct Visit {
  std::size_t footprint = 0, at = 0;
};
/// Of each of some blocks of lines, footprint after footprint.
using Visits = std::vector<std::vector<Visit>>;

/// `block_of`: by line, its block, below `blocks`.
Visits visits_of(const std::vector<LabelledLine>& lines, const std::vector<std::size_t>& block_of, std::size_t blocks, const LineWalks& walks);

/// By footprint and by set: lines that were given to no set and may be of this one. Those that `among` does not name may be of any.
std::vector<std::vector<std::size_t>> unplaced(const std::vector<LabelledLine>& lines, std::size_t sets, const LineWalks& walks,
                                               const std::unordered_map<std::int64_t, std::uint32_t>& among);

/// What the lines of one set did together in one footprint, line by line.
class SetLoad {
 public:
  void put(const LineFootprint& footprint, std::size_t at) { ++lines, sums += footprint.lines[at].did, count(footprint, at, 1); }
  void take(const LineFootprint& footprint, std::size_t at) { --lines, sums -= footprint.lines[at].did, count(footprint, at, -1); }

  /// Whole laps with a miss, and those that may have one, if these lines of the footprint came, too.
  struct LapsWith {
    double loud, unsure;
  };
  [[nodiscard]] LapsWith laps_with(const LineFootprint& footprint, std::span<const Visit> others) const;

  int lines = 0;
  Conduct sums;
  double loud = 0, unsure = 0;  ///< whole laps with a miss, and those that may have one

 private:
  void count(const LineFootprint& footprint, std::size_t at, int step);
  void tell(std::size_t word, int step);

  LapCounts missed_, unsure_;  ///< lines
  std::vector<std::uint64_t> any_missed_, any_unsure_;  ///< of them, the laps of which the number is not 0
};

}  // namespace gexp::infer::model
