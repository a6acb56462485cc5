// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/infer/model/set_hypothesis.h"

/// What one set is worth, at its likeliest size.
namespace gexp::infer::model {

struct Worth {
  double log_likelihood = 0;  ///< without what laps lack
  std::size_t size = 0;
  Laps laps;                  ///< of footprints in which it overflows
};

/// The same by size: sums over footprints, each of which tells a few sizes apart.
class WorthBySize {
 public:
  void clear() {
    for (const auto size : sizes_) at_[size] = {};
    sizes_.clear(), most_ = 0;
  }
  /// From this size on.
  void add(std::size_t size, double log_likelihood, double without_laps) {
    auto& own = at(size);
    own.log_likelihood += log_likelihood, own.without_laps += without_laps;
  }
  /// Of a footprint in which so many lines are present.
  void add(std::size_t lines, const Laps& laps) { at(lines).laps += laps, most_ = std::max(most_, lines); }
  /// At the likeliest size that some walk reaches, but none at all.
  [[nodiscard]] Worth best() {
    if (most_ == 0) return {};
    at(1);
    std::sort(sizes_.begin(), sizes_.end());
    Worth best;
    double sum = 0, without_laps = 0, most = 0;
    for (const auto size : sizes_) {
      if (size > most_) break;
      sum += at_[size].log_likelihood, without_laps += at_[size].without_laps;
      if (size == 0 || (size > 1 && sum <= most)) continue;
      most = sum, best.log_likelihood = without_laps, best.size = size;
    }
    for (const auto size : sizes_) {
      if (size > best.size) best.laps += at_[size].laps;
    }
    return best;
  }

 private:
  struct At {
    double log_likelihood = 0, without_laps = 0;
    Laps laps;
    bool there = false;
  };
  At& at(std::size_t size) {
    if (size >= at_.size()) at_.resize(size + 1);
    if (!at_[size].there) at_[size].there = true, sizes_.push_back(size);
    return at_[size];
  }
  std::vector<At> at_;
  std::vector<std::size_t> sizes_;  ///< those at which something changes
  std::size_t most_ = 0;            ///< lines
};

}  // namespace gexp::infer::model
