// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/infer/model/line_walks.h"
#include "runtime/infer/set_index.h"

/// Sets that nobody has named a function for: which line is of which set, by what predicts the walks best.
namespace gexp::infer::model {

struct FoundSets {
  std::vector<LabelledLine> lines;  ///< sets are numbered from 0, without gaps
  std::size_t sets = 0;
  /// One line in another of these sets.
  struct Move {
    std::size_t line = 0;  ///< index in `lines`
    std::size_t to = 0;    ///< set
    double gain = 0;       ///< by how much likelier it makes the walks, by the rates by which these sets were found: a natural logarithm
  };
  std::vector<Move> moves;          ///< those that lose least, the likeliest first
};

/// How often the lines of a set that overflows miss.
enum class Rates { Shared, OwnOfEach };

struct BetterSets {
  FoundSets whole;  ///< no set was split
  std::optional<FoundSets> split;  ///< sets that overflow together wherever lines are added look like one: other walks may tell them apart
};

/// Begins with the sets that lines were given to. Moves a line to another set, or all lines of a set, or splits a set, where that predicts the
/// walks better, until nothing does.
/// `among`: as of `labelled` (set_candidates.h), of lines that were given to no set. What is walked with a set may be more of its lines.
BetterSets improved(const std::vector<LabelledLine>& lines, std::size_t sets, const LineWalks& walks, Rates rates,
                    const std::unordered_map<std::int64_t, std::uint32_t>& among = {});

}  // namespace gexp::infer::model
