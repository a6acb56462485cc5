// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/cumulative_misses.h"

#include "runtime/infer/record_functions.h"

namespace gexp::infer {

double CumulativeMisses::share(const records::Table& table, const MissRange& range) {
  const std::lock_guard lock(mutex_);
  if (table_ != &table || next_ > table.points.size() || above_ != range.above || outlier_ != range.outlier) {
    table_ = &table, above_ = range.above, outlier_ = range.outlier, next_ = 0;
    walked_.clear(), missed_.clear();
  }
  for (; next_ < table.points.size(); ++next_) {
    const auto& point = table.points[next_];
    if (!point.walk || point.walk->steps == 0 || point.runs.empty()) continue;
    const auto missed = positions_missed(point, range);
    for (std::size_t step = 0; step < missed.size(); ++step) {
      const auto offset = point.walk->at(0, static_cast<std::int64_t>(step));
      walked_.insert(offset);
      if (missed[step]) missed_.insert(offset);
    }
  }
  return walked_.empty() ? 0 : static_cast<double>(missed_.size()) / static_cast<double>(walked_.size());
}

}  // namespace gexp::infer
