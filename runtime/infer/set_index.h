// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
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
  double by_chance = 0;                     ///< functions like it that would explain as much if every block of lines had any set, expected

  /// Whether a mapping fits that so many lines would hardly have by chance: what is asked of one that another conclusion rests on.
  [[nodiscard]] bool is_significant() const;
};

/// A number of the set that a line belongs to.
using SetKey = std::function<std::uint64_t(std::int64_t)>;

/// The set that functions choose, each a mask of the address bits that are XORed.
std::uint64_t set_number(const std::vector<std::uint64_t>& functions, std::uint64_t address);

/// Mappings that explain the sets of almost all lines, the simplest first: what is left may be lines that were given to a wrong one.
std::vector<SetKey> almost_explaining(const std::vector<LabelledLine>& lines, std::size_t sets, std::int64_t line_bytes);

/// The simplest mapping that explains every label, fitted on half of the lines and checked on all; `line_bytes` of a line.
SetIndex find_set_index(const std::vector<LabelledLine>& lines, std::size_t sets, std::int64_t line_bytes);

}  // namespace gexp::infer
