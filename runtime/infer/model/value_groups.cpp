// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/value_groups.h"

#include <algorithm>
#include <cmath>

#include "runtime/infer/cut_short.h"

namespace gexp::infer {
namespace {

struct ValueRange {
  std::size_t begin = 0, end = 0, split = 0;
  double gain = 0;  ///< of squares, by the split
};

/// Sums of sorted values, about their mean.
struct Sums {
  std::vector<double> of, squares;
  explicit Sums(const std::vector<double>& values) : of{0}, squares{0} {
    double mean = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    for (const double value : values) of.push_back(of.back() + value - mean), squares.push_back(squares.back() + (value - mean) * (value - mean));
  }
  [[nodiscard]] double left(std::size_t begin, std::size_t end) const {
    const double sum = of[end] - of[begin];
    return std::max(0.0, squares[end] - squares[begin] - sum * sum / static_cast<double>(end - begin));
  }
};

ValueRange best_split(const Sums& sums, std::size_t begin, std::size_t end) {
  work((end - begin) / 16);
  ValueRange part{begin, end, begin, 0};
  const double all = sums.left(begin, end);
  for (auto at = begin + 1; at < end; ++at) {
    const double gain = all - sums.left(begin, at) - sums.left(at, end);
    if (gain > part.gain) part.gain = gain, part.split = at;
  }
  return part;
}

double criterion(const Sums& sums, const std::vector<ValueRange>& parts, double n, const CurveNoise& noise) {
  double squares = 0, which = 0;
  for (const auto& part : parts) {
    const auto count = static_cast<double>(part.end - part.begin);
    squares += sums.left(part.begin, part.end);
    which -= 2 * count * std::log(count / n);
  }
  const double known = noise.least * noise.least, variance = noise.repeated ? known : std::max(squares / n, known);
  return n * std::log(variance) + squares / variance + which + 2 * static_cast<double>(parts.size()) * std::log(n);
}

}  // namespace

ValueGroups value_groups(std::vector<double> values, CurveNoise noise) {
  constexpr std::size_t kMost = 64;  // limit: groups that are tried: their cost grows with their number
  ValueGroups made;
  if (values.empty()) return made;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const double largest = std::max(std::fabs(values.front()), std::fabs(values.back()));
  noise.least = std::max({noise.least, 1e-12, 1e-9 * largest});  // of arithmetic
  const Sums sums(values);
  std::vector<ValueRange> parts{best_split(sums, 0, values.size())}, best = parts;
  std::vector<double> criteria{criterion(sums, parts, n, noise)};
  double least = criteria[0];
  while (parts.size() < std::min(kMost, values.size())) {
    const auto next = std::max_element(parts.begin(), parts.end(), [](const ValueRange& a, const ValueRange& b) { return a.gain < b.gain; });
    if (next->gain <= 0) break;
    const auto [begin, end, split, gain] = *next;
    *next = best_split(sums, begin, split);
    parts.push_back(best_split(sums, split, end));
    criteria.push_back(criterion(sums, parts, n, noise));
    if (criteria.back() < least) least = criteria.back(), best = parts;
  }
  double sum = 0;
  for (const double each : criteria) sum += std::exp((least - each) / 2);
  made.weight = std::min(kMostConfidence, 1 / sum);
  made.all_alone = best.size() == std::min(kMost, values.size()) && best.size() > 1;
  std::sort(best.begin(), best.end(), [](const ValueRange& a, const ValueRange& b) { return a.begin < b.begin; });
  for (const auto& part : best) made.groups.push_back({values[part.begin + (part.end - part.begin) / 2], values[part.begin], values[part.end - 1], part.end - part.begin});
  return made;
}

}  // namespace gexp::infer
