// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gexp::infer::model {

/// A number for each whole lap, of 64 laps at once: the nth bits of their numbers are a word.
class LapCounts {
 public:
  /// Adds `step`, 1 or -1, to the numbers of those laps of the 64 from 64 * `word` on whose bits are set.
  void add(std::size_t word, std::uint64_t laps, int step) {
    for (std::size_t place = 0; laps != 0; ++place) {
      if (place == places_.size()) places_.emplace_back();
      auto& bits = places_[place];
      if (word >= bits.size()) bits.resize(word + 1);
      bits[word] ^= laps;
      laps &= step > 0 ? ~bits[word] : bits[word];  // carry: it was 1 and is 0 now; borrow: it was 0 and is 1
    }
  }
  /// Of the same laps, those whose number is not 0.
  [[nodiscard]] std::uint64_t any(std::size_t word) const {
    std::uint64_t all = 0;
    for (const auto& bits : places_) all |= word < bits.size() ? bits[word] : 0;
    return all;
  }

 private:
  std::vector<std::vector<std::uint64_t>> places_;  ///< by place of the binary number
};

}  // namespace gexp::infer::model
