// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

namespace gexp::infer {

/// By round, by multiprocessor: the cycles that it took; 0: it was idle in that round.
using ContendedRounds = std::vector<std::vector<double>>;

/// Multiprocessors that slow each other more than all the others do.
struct ContentionGroups {
  std::vector<std::vector<std::size_t>> groups{};  ///< those that are told, each in order
  double confidence = 0;   ///< that all of them are right
  std::size_t open = 0;    ///< multiprocessors in likely groups that are not sure enough to be told
  double slower = 0;       ///< the share by which a multiprocessor takes longer for each active one of its group, on average
  double predicted = 0;    ///< of what differs in half of the rounds: the share that the other half's groups predict
};
/// Told are as many groups, the likeliest first, as are all right with the confidence that is needed. CutShort.
/// `parts`: by multiprocessor the number of a larger part that is known, -1: none; what the part's members do to each other in common is
/// left out.
ContentionGroups find_contention(const ContendedRounds& rounds, std::size_t multiprocessors, const std::vector<double>& parts, double need);

}  // namespace gexp::infer
