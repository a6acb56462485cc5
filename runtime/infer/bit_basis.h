// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace gexp::infer {

/// Whether the exclusive or of all bits is a one.
inline bool odd_parity(std::uint64_t bits) { return std::popcount(bits) % 2 == 1; }

/// A space of masks under exclusive or: a basis in reduced row echelon form, highest bit first.
class BitBasis {
 public:
  using Mask = std::uint64_t;
  /// False: it was in the space already.
  bool add(Mask v) {
    v = reduce(v);
    if (v == 0) return false;
    const Mask top = std::bit_floor(v);
    for (auto& [pivot, row] : rows_) {
      if (row & top) row ^= v;
    }
    rows_[top] = v;
    return true;
  }
  /// The same for all masks that differ by one of the space; 0 for those in it.
  [[nodiscard]] Mask reduce(Mask v) const {
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
      if (v & row->first) v ^= row->second;
    }
    return v;
  }
  [[nodiscard]] std::vector<Mask> rows() const {
    std::vector<Mask> all;
    for (const auto& [pivot, row] : rows_) all.push_back(row);
    return all;
  }
  /// Masks of some bits that have one value for whatever differs by one of the space: `m` of which every mask of it holds an even number of
  /// bits. `bits`: of all masks of the space. A basis.
  [[nodiscard]] std::vector<Mask> annihilator(Mask bits) const {
    std::vector<Mask> all;
    for (Mask left = bits; left != 0; left &= left - 1) {
      const Mask bit = left & -left;
      if (rows_.contains(bit)) continue;
      Mask mask = bit;
      for (const auto& [pivot, row] : rows_) {
        if (row & bit) mask |= pivot;
      }
      all.push_back(mask);
    }
    return all;
  }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

 private:
  std::map<Mask, Mask> rows_;  // pivot -> row
};

}  // namespace gexp::infer
