// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/cumulative_misses.h"

#include <algorithm>

#include "runtime/infer/record_functions.h"

namespace gexp::infer {

CumulativeMisses::Glance CumulativeMisses::glance(const records::Point& point) {
  Glance glance{point.steps, point.runs.size(), 0, 0};
  if (!point.runs.empty() && !point.runs[0].ticks.empty()) glance.first = point.runs[0].ticks.front(), glance.last = point.runs[0].ticks.back();
  return glance;
}

CumulativeMisses::Shares CumulativeMisses::shares(const records::Table& table, const MissRange& range) {
  const std::lock_guard lock(mutex_);
  const bool grown = looked_at_.size() <= table.points.size() &&
                     std::equal(looked_at_.begin(), looked_at_.end(), table.points.begin(), [](const Glance& then, const records::Point& now) { return then == glance(now); });
  if (!grown || above_ != range.above || outlier_ != range.outlier) {
    above_ = range.above, outlier_ = range.outlier;
    looked_at_.clear(), missed_at_.clear();
    ever_ = once_ = 0;
  }
  while (looked_at_.size() < table.points.size()) {
    const auto& point = table.points[looked_at_.size()];
    const bool walked = point.walk && point.walk->steps > 0 && !point.runs.empty();
    const auto missed = walked ? positions_missed(point, range) : std::vector<bool>{};  // may be cut short: then nothing was looked at
    looked_at_.push_back(glance(point));
    for (std::size_t step = 0; step < missed.size(); ++step) {
      auto& [points, last] = missed_at_[point.walk->at(0, static_cast<std::int64_t>(step))];
      if (!missed[step] || last == looked_at_.size()) continue;
      last = looked_at_.size(), ++points;
      ever_ += points == 1 ? 1 : 0;
      once_ = once_ + (points == 1 ? 1 : 0) - (points == 2 ? 1 : 0);
    }
  }
  const auto walked = static_cast<double>(missed_at_.size());
  return missed_at_.empty() ? Shares() : Shares{static_cast<double>(ever_) / walked, static_cast<double>(once_) / walked};
}

}  // namespace gexp::infer
