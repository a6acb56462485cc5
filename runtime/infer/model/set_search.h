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

/// How often the lines of a set that overflows miss.
enum class Rates { Shared, OwnOfEach };

struct FoundSets {
  std::vector<LabelledLine> lines;  ///< sets are numbered from 0, without gaps
  std::size_t sets = 0;
  Rates rates = Rates::Shared;      ///< by which they were found
};

struct BetterSets {
  FoundSets whole;  ///< no set was split
  std::optional<FoundSets> split;  ///< sets that overflow together wherever lines are added look like one: other walks may tell them apart
  std::vector<FoundSets> by_block;  ///< neighbouring lines in one set, for each length of a block
};

using Among = std::unordered_map<std::int64_t, std::uint32_t>;

/// Begins with the sets that lines were given to. Moves a line to another set, or all lines of a set, or splits a set, where that predicts the
/// walks better, until nothing does.
/// `among`: as of `labelled` (set_candidates.h), of lines that were given to no set. What is walked with a set may be more of its lines.
BetterSets improved(const std::vector<LabelledLine>& lines, std::size_t sets, const LineWalks& walks, Rates rates,
                    const Among& among = {});

/// All lines of a block in another set.
struct Move {
  std::int64_t block = 0;  ///< number of its lines, without the last bits
  int bits = 0;            ///< so many
  std::size_t to = 0;      ///< set
  double gain = 0;         ///< by how much likelier it makes the walks, by the rates by which the sets were found: a natural logarithm
  [[nodiscard]] bool moves(std::int64_t line) const { return line >> bits == block; }
};
/// Of single lines, and of blocks as large as lie in one set each: those that lose least, the likeliest first.
std::vector<Move> likeliest_moves(const FoundSets& found, const LineWalks& walks, const Among& among = {});

}  // namespace gexp::infer::model
