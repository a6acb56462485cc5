// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gexp::infer {

/// An address and what was seen of where it lies.
struct PlacedLine {
  std::int64_t offset = 0;  ///< bytes
  std::size_t label = 0;    ///< of lines that lie alike: only equality means anything
};

/// Which address bits vary within a page. Pages may lie anywhere in memory, so nothing is said of the bits above.
struct VaryingBits {
  std::uint64_t mask = 0;
  std::size_t independent = 0;  ///< as many exclusive ors of them take both values; less than there are bits: some cannot be told apart
};
VaryingBits varying_bits(const std::vector<PlacedLine>& lines, std::int64_t page);

/// Exclusive ors of address bits that the label decides.
struct Parities {
  std::vector<std::uint64_t> masks;  ///< a basis, those of fewest bits first
  double predicted = 1;              ///< the least share of the judged lines that one of them holds for
  double refuted = 0;                ///< the greatest such share of masks that are left out, for they fail on the judged lines
  std::size_t judged = 0, pages = 0; ///< lines and pages that no mask was chosen on
};

/// Masks are chosen on half of the pages, or of the only page's lines, and judged on the others. A page's own constant is taken from its
/// first lines, which are not judged. `labels`: all are below. CutShort.
Parities find_parities(const std::vector<PlacedLine>& lines, std::size_t labels, std::int64_t page);

/// Bits that can be flipped, and a line stays in its group of labels.
struct Flips {
  std::vector<std::uint64_t> masks;  ///< a basis
  std::vector<std::size_t> group;    ///< by label: the group, from 0 on
  std::size_t groups = 0;
  double predicted = 1;              ///< share of pairs that differ by a flip and are in one group, among those it was not chosen on
  std::size_t judged = 0;
};

/// The flips, and groups of labels, that say where the lines are in the fewest words. Of many lines, the first ones. CutShort.
Flips find_flips(const std::vector<PlacedLine>& lines, std::size_t labels, const Parities& parities, std::int64_t page);

}  // namespace gexp::infer
