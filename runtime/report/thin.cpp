// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/thin.h"

#include <algorithm>
#include <array>

namespace gexp::report {

using result::Dot;

std::vector<Dot> thin(const std::vector<Dot>& dots, std::size_t most) {
  constexpr std::size_t kKept = 5;  // of a bucket
  if (dots.size() <= most) return dots;
  const auto buckets = std::max<std::size_t>(1, most / kKept);
  std::vector<Dot> thinned;
  for (std::size_t b = 0; b < buckets; ++b) {
    const auto begin = dots.begin() + static_cast<std::ptrdiff_t>(dots.size() * b / buckets);
    const auto end = dots.begin() + static_cast<std::ptrdiff_t>(dots.size() * (b + 1) / buckets);
    if (begin == end) continue;
    const auto [low, high] = std::minmax_element(begin, end, [](const Dot& one, const Dot& other) { return one.y < other.y; });
    const auto flagged = std::find_if(begin, end, [](const Dot& dot) { return !dot.converged; });
    std::array kept = {begin, low, high, end - 1, flagged};
    std::sort(kept.begin(), kept.end());
    const auto distinct = std::unique(kept.begin(), kept.end());
    std::for_each(kept.begin(), distinct, [&](auto dot) {
      if (dot != end) thinned.push_back(*dot);
    });
  }
  return thinned;
}

}  // namespace gexp::report
