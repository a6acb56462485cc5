// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unordered_map>
#include <vector>

#include "runtime/infer/model/set_hypothesis.h"
#include "runtime/infer/set_index.h"

namespace gexp::infer::model {

/// What chooses a set, tried in turn: nothing (one set), address bits, the residue of a line or of a block of lines. Those that predict the
/// walks best, the likeliest first; at most `count`.
struct SetCandidate {
  SetHypothesis hypothesis;
  SetIndex index;  ///< the same in the words of a finding
  SetScore score;
};
/// `bits`: of the address, that may choose; none where a line is no power of two. `fill_bytes`: what a miss brings in.
std::vector<SetCandidate> likeliest_functions(const Walks& walks, const std::vector<int>& bits, std::int64_t line_bytes, std::int64_t fill_bytes, std::size_t count);

/// The same function with one more bit of the set's number, an XOR of at most two address bits: sets that overflowed together wherever lines
/// were added are told apart by other walks. The likeliest of these, of the `count` likeliest on
/// few footprints; nullopt: there is none.
std::optional<SetCandidate> with_another_bit(const SetCandidate& candidate, const Walks& walks, const std::vector<int>& bits, std::size_t count);

/// Bits of the description of sets by no function: which set each block of lines is of that lies in one, up to the sets' names. Blocks go to
/// any set by chance, or each set has one of as many neighbours as there are sets, in whatever order (a keyed permutation).
double bits_of_labels(const std::vector<LabelledLine>& lines, std::size_t sets);
/// A hypothesis that only says which of the lines that were seen share a set. `among`: by line, of others, that they are of one of the first
/// so many sets.
SetHypothesis labelled(const std::vector<LabelledLine>& lines, std::size_t sets, std::int64_t line_bytes, std::unordered_map<std::int64_t, std::uint32_t> among = {});
/// One by an index function that was found; `address_bits`: how many may choose.
SetHypothesis indexed(const SetIndex& index, std::size_t sets, std::int64_t line_bytes, int address_bits);

}  // namespace gexp::infer::model
