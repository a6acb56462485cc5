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

double CumulativeMisses::share(const records::Table& table, const MissRange& range) {
  const std::lock_guard lock(mutex_);
  const bool grown = looked_at_.size() <= table.points.size() &&
                     std::equal(looked_at_.begin(), looked_at_.end(), table.points.begin(), [](const Glance& then, const records::Point& now) { return then == glance(now); });
  if (!grown || above_ != range.above || outlier_ != range.outlier) {
    above_ = range.above, outlier_ = range.outlier;
    looked_at_.clear(), walked_.clear(), missed_.clear();
  }
  while (looked_at_.size() < table.points.size()) {
    const auto& point = table.points[looked_at_.size()];
    const bool walked = point.walk && point.walk->steps > 0 && !point.runs.empty();
    const auto missed = walked ? positions_missed(point, range) : std::vector<bool>{};  // may be cut short: then nothing was looked at
    looked_at_.push_back(glance(point));
    for (std::size_t step = 0; step < missed.size(); ++step) {
      const auto offset = point.walk->at(0, static_cast<std::int64_t>(step));
      walked_.insert(offset);
      if (missed[step]) missed_.insert(offset);
    }
  }
  return walked_.empty() ? 0 : static_cast<double>(missed_.size()) / static_cast<double>(walked_.size());
}

}  // namespace gexp::infer
