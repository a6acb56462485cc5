// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/formula/thread_range.h"

/// What is found by looking at every thread and every round of the loops around an operation, where these are few enough.
namespace gexp::compiler {

struct Threads {
  const Scope& scope;  ///< of the point
  const ThreadLets& lets;
  std::uint32_t grid = 1, block = 1;
};
using LoopRounds = std::pair<std::string, Range>;  ///< a loop's variable and its rounds

/// The exact range of a formula; nullopt where more than four million values would have to be looked at.
std::optional<Range> listed_range(const Formula& formula, const Threads& threads, const std::vector<LoopRounds>& loops);

/// Threads for which all conditions hold in the first round of the loops; all threads when there is no condition.
double threads_where(const std::vector<const Formula*>& conditions, const Threads& threads, const std::vector<LoopRounds>& loops);

/// Whether the threads of each block agree, in every round of the loops, on whether all conditions hold; nullopt where that is not known, or
/// more than four million values would have to be looked at.
std::optional<bool> blocks_agree(const std::vector<const Formula*>& conditions, const Threads& threads, const std::vector<LoopRounds>& loops);

}  // namespace gexp::compiler
