// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/infer/model/set_candidates.h"
#include "runtime/infer/model/set_search.h"
#include "runtime/infer/set_growth.h"

/// Hypotheses about sets, and what they say of the lines that a stage added; those without a function, line by line.
namespace gexp::infer {

/// A hypothesis, and the lines of each of its sets up to the one that made it overflow.
struct Explanation {
  model::SetCandidate candidate;
  std::vector<LineSet> sets;  ///< by onset; those that overflowed
  std::size_t fitting = 0;    ///< lines of sets that did not
  bool told = true;           ///< the size of every set that overflowed is one number
  bool by_function = true;
};

Explanation explained(const SetGrowth& growth, model::SetCandidate candidate, bool by_function);

/// Which lines share a set, and how many it holds: the same for functions that differ in nothing that was walked.
std::vector<std::vector<std::size_t>> answer_of(const Explanation& explanation);
/// The lines of its sets, with these.
std::vector<LabelledLine> labels_of(const SetGrowth& growth, const Explanation& explanation);

/// Sets line by line.
struct LineByLine {
  Explanation explanation;
  model::FoundSets found;
};

/// The guess from what begins together, made better by all walks: with sets whole; with some split; and with neighbours in one set.
std::vector<LineByLine> sets_by_line(const SetGrowth& growth, const std::vector<LineSet>& guess, std::int64_t line_bytes, const model::Walks& walks);
/// By how much likelier these sets are, all together, with one line, or one block of lines, in another of them.
double odds_of_moves(const SetGrowth& growth, const LineByLine& own, const model::Walks& walks);
/// How likely it is that these sets have no function, against that they have theirs: each block of lines, where it matters, by itself.
double odds_of_no_function(const Explanation& own, const model::Walks& walks);

/// How likely it is that there are more sets than these lines are of, against that there are not: no block that was added is of one, by chance.
double odds_of_more_sets(const SetGrowth& growth, const Explanation& own);

}  // namespace gexp::infer
