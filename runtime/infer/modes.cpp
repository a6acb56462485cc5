// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/modes.h"

#include <queue>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/statistics.h"

namespace gexp::infer {

std::vector<Mode> peaks(const Histogram& histogram, Density& density_at, std::size_t begin, std::size_t end) {
  std::vector<Mode> modes{{begin, begin + 1, density_at(histogram.tick(begin)), static_cast<double>(histogram.tick(begin)), 0}};
  double lowest = modes[0].peak;  // since the last peak, and the cell that it lies before
  std::size_t lowest_before = begin + 1;
  bool falling = false;
  const auto see = [&](double at, std::size_t next) {
    const double density = density_at(at);
    auto& mode = modes.back();
    if (!falling && density >= mode.peak) {
      mode.peak = density, mode.at = at, lowest = density;
    } else if (!falling || density <= lowest) {
      falling = true;
      if (density < lowest || density == 0) lowest = density, lowest_before = next;
    } else {
      mode.end = lowest_before;
      modes.push_back({lowest_before, end, density, at, lowest});
      falling = false, lowest = density;
    }
  };
  for (auto cell = begin + 1; cell < end; ++cell) {
    work();
    const double low = histogram.tick(cell - 1), high = histogram.tick(cell);
    if (high - low > 1) see((low + high) / 2, cell);
    see(high, cell);
  }
  modes.back().end = end;
  return modes;
}

namespace {

/// How far two neighbours are from being two modes: above 1 they are one.
double sameness(const Mode& a, const Mode& b, const ModeCriteria& criteria) {
  const double lower = std::min(a.peak, b.peak);
  if (b.at - a.at < std::max(criteria.near_cycles, criteria.near * b.at)) return 2 + b.valley / lower;
  const double chance = poisson_at_most(b.valley, lower);
  return chance > model::kByChanceAnywhere ? 1 + chance + b.valley / lower : b.valley / (criteria.deep * lower);
}

}  // namespace

/// Each change puts its neighbours' new
/// likeness into the queue; what the queue still holds of before is known by its age.
void join(std::vector<Mode>& modes, const ModeCriteria& criteria) {
  struct Pair {
    double same;
    std::size_t right;  ///< the first in order where several are alike
    std::size_t age;
    bool operator<(const Pair& other) const { return same != other.same ? same < other.same : right > other.right; }
  };
  const auto none = modes.size();
  std::vector<std::size_t> left(modes.size()), right(modes.size()), age(modes.size(), 0);
  std::vector<bool> gone(modes.size(), false);
  std::priority_queue<Pair> queue;
  const auto ask = [&](std::size_t i) {
    if (const double same = sameness(modes[left[i]], modes[i], criteria); same > 1) queue.push({same, i, ++age[i]});
    else ++age[i];
  };
  for (std::size_t i = 0; i < modes.size(); ++i) left[i] = i - 1, right[i] = i + 1;
  for (std::size_t i = 1; i < modes.size(); ++i) ask(i);
  while (!queue.empty()) {
    work(4);
    const auto worst = queue.top();
    queue.pop();
    const auto i = worst.right;
    if (gone[i] || worst.age != age[i]) continue;
    auto& into = modes[left[i]];
    into.end = modes[i].end;
    if (modes[i].peak > into.peak) into.peak = modes[i].peak, into.at = modes[i].at;
    gone[i] = true;
    right[left[i]] = right[i];
    if (right[i] != none) left[right[i]] = left[i], ask(right[i]);
    if (left[i] != 0) ask(left[i]);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    if (!gone[i]) modes[kept++] = modes[i];
  }
  modes.resize(kept);
}

}  // namespace gexp::infer
