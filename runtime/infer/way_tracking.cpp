// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/way_tracking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gexp::infer {
namespace {

struct Eviction {
  std::size_t way;
  std::vector<std::size_t> order;  ///< ways from the least to the most recently used, at the eviction
};

/// The evictions of one history in order; way labels as the history gives them.
std::vector<Eviction> evictions_of(const History& history, std::size_t lines, bool& canonical) {
  const auto ways = lines - 1;
  std::vector<std::size_t> way_of(lines, lines), last_use(lines, 0);
  std::vector<Eviction> all;
  std::size_t at = 0, absent = lines;
  canonical = false;
  if (history.cold) {
    // The first `ways` distinct lines fill the ways in turn.
    std::size_t filled = 0;
    for (; at < history.lines.size() && filled < ways; ++at) {
      const auto line = history.lines[at];
      last_use[line] = at + 1;
      if (way_of[line] == lines) {
        if (!history.missed[at]) return {};  // a first touch that hits: not cold after all
        way_of[line] = filled++;
      } else if (history.missed[at]) {
        return {};
      }
    }
    for (std::size_t line = 0; line < lines; ++line) {
      if (way_of[line] == lines) absent = line;
    }
    canonical = true;
  } else {
    for (; at < history.lines.size() && absent == lines; ++at) {
      if (history.missed[at]) absent = history.lines[at];
    }
    if (absent == lines) return {};
    --at;
    std::size_t next = 0;
    for (std::size_t line = 0; line < lines; ++line) {
      if (line != absent) way_of[line] = next++;
    }
  }
  // From here each miss is on the absent line; the line that misses next was its victim.
  std::size_t incoming = lines, miss_at = 0;
  std::vector<std::size_t> order_then;
  for (; at < history.lines.size(); ++at) {
    const auto line = history.lines[at];
    if (history.missed[at]) {
      if (incoming != lines) {
        if (line == incoming || way_of[line] == lines) return all;  // interference: two lines absent at once
        const auto way = way_of[line];
        all.push_back({way, order_then});
        way_of[incoming] = way;
        way_of[line] = lines;
      } else if (line != absent) {
        return all;
      }
      incoming = line;
      miss_at = at;
      std::vector<std::size_t> resident;
      for (std::size_t other = 0; other < lines; ++other) {
        if (way_of[other] != lines) resident.push_back(other);
      }
      std::sort(resident.begin(), resident.end(), [&](auto a, auto b) { return last_use[a] < last_use[b]; });
      order_then.clear();
      for (const auto other : resident) order_then.push_back(way_of[other]);
    }
    last_use[line] = at + 1;
  }
  (void)miss_at;
  return all;
}

}  // namespace

Evictions follow_evictions(const std::vector<History>& histories, std::size_t lines) {
  const auto ways = lines - 1;
  Evictions seen;
  seen.by_way.assign(ways, 0);
  seen.labelled = true;
  double older = 0, older_expected = 0, older_variance = 0, repeats = 0, repeats_expected = 0, repeats_variance = 0;
  std::vector<std::vector<Eviction>> all;
  for (const auto& history : histories) {
    bool canonical = false;
    all.push_back(evictions_of(history, lines, canonical));
    if (!all.back().empty()) seen.labelled = seen.labelled && canonical;
  }
  if (seen.labelled) {
    for (const auto& evictions : all) {
      for (const auto& eviction : evictions) ++seen.by_way[eviction.way];
    }
  } else {
    // Labels differ from history to history: match them by how often each way is hit.
    for (const auto& evictions : all) {
      std::vector<double> counts(ways);
      for (const auto& eviction : evictions) ++counts[eviction.way];
      std::sort(counts.rbegin(), counts.rend());
      for (std::size_t way = 0; way < ways; ++way) seen.by_way[way] += counts[way];
    }
  }
  for (const auto& evictions : all) {
    const double n = static_cast<double>(evictions.size());
    seen.misses += n;
    if (evictions.empty()) continue;
    std::vector<double> counts(ways);
    for (const auto& eviction : evictions) ++counts[eviction.way];
    if (!seen.labelled) {
      for (const auto count : counts) seen.uniform_chi2 += (count - n / static_cast<double>(ways)) * (count - n / static_cast<double>(ways)) / (n / static_cast<double>(ways));
      seen.uniform_dof += static_cast<double>(ways - 1);
    }
    // Chances of the ways, from the pool where labels agree, else from this history alone.
    std::vector<double> chance(ways);
    const double pool = std::accumulate(seen.by_way.begin(), seen.by_way.end(), 0.0);
    for (std::size_t way = 0; way < ways; ++way) chance[way] = seen.labelled ? seen.by_way[way] / pool : counts[way] / n;
    double squares = 0;
    for (const auto p : chance) squares += p * p;
    for (std::size_t i = 0; i < evictions.size(); ++i) {
      double p_old = 0;
      bool is_old = false;
      for (std::size_t rank = 0; rank < ways / 2; ++rank) {
        p_old += chance[evictions[i].order[rank]];
        is_old = is_old || evictions[i].order[rank] == evictions[i].way;
      }
      older += is_old ? 1 : 0;
      older_expected += p_old;
      older_variance += p_old * (1 - p_old);
      if (i > 0) {
        repeats += evictions[i].way == evictions[i - 1].way ? 1 : 0;
        repeats_expected += squares;
        repeats_variance += squares * (1 - squares);
      }
    }
  }
  if (seen.labelled && seen.misses > 0) {
    const double each = seen.misses / static_cast<double>(ways);
    for (const auto count : seen.by_way) seen.uniform_chi2 += (count - each) * (count - each) / each;
    seen.uniform_dof = static_cast<double>(ways - 1);
  }
  if (older_variance > 0) seen.recency_z = (older - older_expected) / std::sqrt(older_variance);
  if (repeats_variance > 0) seen.repeat_z = (repeats - repeats_expected) / std::sqrt(repeats_variance);
  return seen;
}

}  // namespace gexp::infer
