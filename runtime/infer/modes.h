// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/records/table.h"

/// Modes of a histogram of ticks: peaks with valleys between them that chance does not explain.
namespace gexp::infer {


/// How two modes are told apart.
struct ModeCriteria {
  double deep;    ///< of the lower peak: a valley
  double smooth;  ///< half of the smoothing window, share of the value
  double blur;    ///< the same in ticks, at least
  double own;     ///< an address's own rate of slow accesses may be so many times the mean one: its place is known to a fraction of a tick
  double near = model::kNearPeaks, near_cycles = model::kNearPeaksCycles;  ///< peaks as near are one
};

/// How often each tick of a table occurs; a cell a tick.
class Histogram {
 public:
  explicit Histogram(const records::Table& table) {
    std::vector<std::uint64_t> small(65536);
    std::vector<std::uint32_t> large;
    for (const auto& point : table.points) {
      for (const auto& run : point.runs) {
        work(run.ticks.size() / 64);
        for (const auto tick : run.ticks) {
          if (tick < small.size()) ++small[tick];
          else large.push_back(tick);
        }
      }
    }
    for (std::uint32_t tick = 0; tick < small.size(); ++tick) {
      if (small[tick]) add(tick, small[tick]);
    }
    std::sort(large.begin(), large.end());
    for (std::size_t i = 0, end = 0; i < large.size(); i = end) {
      while (end < large.size() && large[end] == large[i]) ++end;
      add(large[i], end - i);
    }
  }

  [[nodiscard]] std::size_t size() const { return ticks_.size(); }
  [[nodiscard]] std::uint32_t tick(std::size_t cell) const { return ticks_[cell]; }
  /// Of a tick that the table has.
  [[nodiscard]] std::size_t cell_of(std::uint32_t tick) const { return static_cast<std::size_t>(std::lower_bound(ticks_.begin(), ticks_.end(), tick) - ticks_.begin()); }
  /// Accesses in the cells before this one.
  [[nodiscard]] std::uint64_t before(std::size_t cell) const { return sums_[cell]; }
  [[nodiscard]] std::uint64_t total() const { return sums_.back(); }
  /// The tick below which this share of the cells [begin, end) lies.
  [[nodiscard]] std::uint32_t quantile(std::size_t begin, std::size_t end, double share) const {
    const auto wanted = static_cast<double>(sums_[begin]) + share * static_cast<double>(sums_[end] - sums_[begin]);
    auto cell = begin;
    while (cell + 1 < end && static_cast<double>(sums_[cell + 1]) < wanted) ++cell;
    return ticks_[cell];
  }

 private:
  void add(std::uint32_t tick, std::uint64_t count) {
    ticks_.push_back(tick);
    sums_.push_back(sums_.back() + count);
  }
  std::vector<std::uint32_t> ticks_;
  std::vector<std::uint64_t> sums_{0};
};

/// Accesses within the smoothing window around a tick, each spread over its whole tick, so that a wider window takes more of its
/// neighbours by and by; to be asked of growing ticks, so that all windows together take one pass.
class Density {
 public:
  Density(const Histogram& histogram, ModeCriteria criteria) : histogram_(histogram), criteria_(criteria) {}
  double operator()(double at) {
    const double half = std::max(criteria_.blur, criteria_.smooth * at), from = at - half, to = at + half;
    while (low_ < histogram_.size() && histogram_.tick(low_) + 0.5 <= from) ++low_;
    while (high_ < histogram_.size() && histogram_.tick(high_) - 0.5 < to) ++high_;
    if (low_ >= high_) return 0;
    const double all = static_cast<double>(histogram_.before(high_) - histogram_.before(low_));
    return all - cell(low_) * std::max(0.0, from - (histogram_.tick(low_) - 0.5)) - cell(high_ - 1) * std::max(0.0, histogram_.tick(high_ - 1) + 0.5 - to);
  }

 private:
  [[nodiscard]] double cell(std::size_t i) const { return static_cast<double>(histogram_.before(i + 1) - histogram_.before(i)); }

  const Histogram& histogram_;
  ModeCriteria criteria_;
  std::size_t low_ = 0, high_ = 0;
};

struct Mode {
  std::size_t begin = 0, end = 0;  ///< cells
  double peak = 0, at = 0;         ///< density, and where
  double valley = INFINITY;        ///< the least density between this mode and the one before it
  double apart = INFINITY;         ///< nats by which this mode and the one before it are two
  bool cut = false;                ///< its end is a border that its neighbour reaches to: no scatter is trimmed there
};

/// Every local peak of the density in the cells [begin, end), with the valleys between them.
std::vector<Mode> peaks(const Histogram& histogram, Density& density_at, std::size_t begin, std::size_t end);

/// The two neighbours most alike become one, again and again, until no two are one mode.
void join(std::vector<Mode>& modes, const ModeCriteria& criteria);

}  // namespace gexp::infer
