// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gexp::infer {

/// A line and the set that it was seen to share with others (a label: only equality means anything).
struct LabelledLine {
  std::int64_t line = 0;  ///< byte offset divided by the line's size
  std::size_t set = 0;
};

/// How offsets choose their set.
struct SetIndex {
  std::string mapping = "not bit-defined";  ///< "one set", "bits", "xor", "modulo", "not bit-defined"
  std::vector<std::vector<int>> functions;  ///< "bits", "xor": for each bit of the set number, the address bits that are XORed
  std::int64_t block = 0;                   ///< "modulo": bytes that go to one set together
};

/// A number of the set that a line belongs to.
using SetKey = std::function<std::uint64_t(std::int64_t)>;

/// The set that functions choose, each a mask of the address bits that are XORed.
std::uint64_t set_number(const std::vector<std::uint64_t>& functions, std::uint64_t address);

/// The same as a finding names it: of many names of one choice of sets, one. `functions`: independent masks of address bits.
SetIndex index_by(const std::vector<std::uint64_t>& functions);

/// Whether two functions put the same addresses in one set, however they number the sets.
bool is_same_index(const SetIndex& a, const SetIndex& b);

/// The same functions and one more, an XOR of address bits. nullopt: it tells no sets apart that they do not.
std::optional<SetIndex> with_function(const SetIndex& index, const std::vector<int>& bits);

/// The linear mapping that agrees with the most labels: the others may be lines that were given to a wrong set. nullopt: as many sets are
/// not linear.
std::optional<SetIndex> nearest_linear_index(const std::vector<LabelledLine>& lines, std::size_t sets, std::int64_t line_bytes);

/// Bits of the largest aligned blocks, in lines, of which each has one set, and how many blocks the lines are of.
struct OneSetBlocks {
  int bits = 0;
  std::size_t count = 0;
};
OneSetBlocks blocks_of_one_set(const std::vector<LabelledLine>& lines);

/// The simplest mapping that explains every label, fitted on half of the lines and checked on all; `line_bytes` of a line.
SetIndex find_set_index(const std::vector<LabelledLine>& lines, std::size_t sets, std::int64_t line_bytes);

}  // namespace gexp::infer
