// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/way_tracking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gexp::infer {
namespace {

constexpr double kSlowHit = 10;     // -log of the chance that a hit looks like a miss and is not unsure: interference
constexpr double kFastMiss = 14;    // that a miss looks like a hit
constexpr double kClear = 4;        // difference of the two, in the same unit, from which it is clear what an access did
constexpr double kOverruled = 0.01; // share of the accesses
constexpr double kLongPerWay = 10;  // evictions of a history by which its ways can be told apart

/// The lines in the order of their last use, the oldest first.
class Recency {
 public:
  explicit Recency(std::size_t lines) : next_(lines + 1), before_(lines + 1) {
    for (std::size_t line = 0; line <= lines; ++line) next_[line] = (line + 1) % (lines + 1), before_[next_[line]] = line;
  }
  void use(std::size_t line) {
    const auto end = next_.size() - 1;
    next_[before_[line]] = next_[line], before_[next_[line]] = before_[line];
    before_[line] = before_[end], next_[line] = end;
    next_[before_[line]] = line, before_[end] = line;
  }
  [[nodiscard]] std::size_t oldest() const { return next_.back(); }
  [[nodiscard]] std::size_t after(std::size_t line) const { return next_[line]; }

 private:
  std::vector<std::size_t> next_, before_;  // the last one stands for both ends
};

/// Calls `evicted(way, older)` for each eviction of one history in order; way labels as the history gives them, `older` by way: whether it
/// was of the half that had been used least recently. False where the history did not begin cold: then labels mean nothing elsewhere.
template <class Evicted> bool each_eviction(const History& history, std::size_t lines, Evicted evicted) {
  const auto ways = lines - 1;
  std::vector<std::size_t> way_of(lines, lines);
  Recency recency(lines);
  std::size_t at = 0, absent = lines;
  if (history.cold) {
    // The first `ways` distinct lines fill the ways in turn.
    std::size_t filled = 0;
    for (; at < history.lines.size() && filled < ways; ++at) {
      const auto line = history.lines[at];
      recency.use(line);
      if (way_of[line] == lines) {
        if (!history.missed(at)) return false;  // a first touch that hits: not cold after all
        way_of[line] = filled++;
      } else if (history.missed(at)) {
        return false;
      }
    }
    for (std::size_t line = 0; line < lines; ++line) {
      if (way_of[line] == lines) absent = line;
    }
  } else {
    for (; at < history.lines.size() && absent == lines; ++at) {
      if (history.missed(at)) absent = history.lines[at];
    }
    if (absent == lines) return false;
    --at;
    std::size_t next = 0;
    for (std::size_t line = 0; line < lines; ++line) {
      if (line != absent) way_of[line] = next++;
    }
  }
  // From here each miss is on the absent line; the line that misses next was its victim.
  std::size_t incoming = lines;
  std::vector<bool> older(ways);
  for (; at < history.lines.size(); ++at) {
    const auto line = history.lines[at];
    if (history.missed(at)) {
      if (incoming != lines) {
        if (line == incoming || way_of[line] == lines) break;  // interference: two lines absent at once
        const auto way = way_of[line];
        evicted(way, older);
        way_of[incoming] = way;
        way_of[line] = lines;
      } else if (line != absent) {
        break;
      }
      incoming = line;
      std::fill(older.begin(), older.end(), false);
      std::size_t half = ways / 2;
      for (auto other = recency.oldest(); half > 0; other = recency.after(other)) {
        if (way_of[other] != lines) older[way_of[other]] = true, --half;
      }
    }
    recency.use(line);
  }
  return history.cold;
}

}  // namespace

std::vector<Stretch> clear_stretches(std::span<const std::uint32_t> lines, std::vector<bool>& missed, const std::vector<bool>& unsure, std::size_t begin, std::size_t end,
                                     std::size_t count, bool cold) {
  auto first = begin;
  std::vector<double> start(count, 0);
  if (cold) {  // until all but one were touched, what misses is what was not yet touched
    std::vector<bool> touched(count);
    for (std::size_t left = count - 1; first < end && left > 0; ++first) left -= touched[lines[first]] ? 0 : 1, touched[lines[first]] = true;
    for (std::size_t line = 0; line < count; ++line) start[line] = touched[line] ? INFINITY : 0;
  }
  // Costs (-log of the chance) of the likeliest course up to each access and from it on, by the line that is absent there.
  const double victim = std::log(static_cast<double>(count - 1));
  const auto cost_of_hit = [&](std::size_t i) { return !unsure[i] && missed[i] ? kSlowHit : 0; };
  const auto cost_of_miss = [&](std::size_t i) { return victim + (!unsure[i] && !missed[i] ? kFastMiss : 0); };
  const auto steps = end - first;
  std::vector<std::vector<double>> before(steps + 1, std::vector<double>(count, INFINITY)), after(steps + 1, std::vector<double>(count, 0));
  before[0] = start;
  for (std::size_t i = 0; i < steps; ++i) {
    const auto line = lines[first + i];
    const double as_hit = cost_of_hit(first + i), as_miss = before[i][line] + cost_of_miss(first + i);
    for (std::size_t absent = 0; absent < count; ++absent) before[i + 1][absent] = std::min(before[i][absent] + as_hit, as_miss);
    before[i + 1][line] = INFINITY;
  }
  std::vector<double> likely_miss(steps);  // how much costlier the likeliest course without a miss is
  std::size_t overruled = 0;
  for (auto i = steps; i-- > 0;) {
    const auto line = lines[first + i];
    const double as_hit = cost_of_hit(first + i);
    double hit = INFINITY, next = INFINITY;
    for (std::size_t absent = 0; absent < count; ++absent) {
      if (absent == line) continue;
      after[i][absent] = as_hit + after[i + 1][absent];
      hit = std::min(hit, before[i][absent] + after[i][absent]);
      next = std::min(next, after[i + 1][absent]);
    }
    after[i][line] = cost_of_miss(first + i) + next;
    likely_miss[i] = hit - (before[i][line] + after[i][line]);
    overruled += !unsure[first + i] && (likely_miss[i] > 0) != missed[first + i] ? 1 : 0;
  }
  if (static_cast<double>(overruled) > kOverruled * static_cast<double>(steps)) return {{begin, end}};
  std::vector<Stretch> clear{{begin, first}};
  for (std::size_t i = 0; i < steps; ++i) {
    missed[first + i] = likely_miss[i] > 0;
    if (std::fabs(likely_miss[i]) >= kClear) clear.back().end = first + i + 1;
    else clear.push_back({first + i + 1, first + i + 1});
  }
  std::erase_if(clear, [](const Stretch& stretch) { return stretch.begin == stretch.end; });
  return clear;
}

double Evictions::Against::deviations() const { return variance > 0 ? (seen - expected) / std::sqrt(variance) : 0; }

Evictions follow_evictions(const std::vector<History>& histories, std::size_t lines) {
  const auto ways = lines - 1;
  Evictions seen;
  seen.by_way.assign(ways, 0);
  seen.labelled = true;
  std::vector<std::vector<double>> all;  // evictions by way, of each history
  for (const auto& history : histories) {
    std::vector<double> counts(ways);
    const bool canonical = each_eviction(history, lines, [&](std::size_t way, const std::vector<bool>&) { ++counts[way]; });
    const bool any = std::any_of(counts.begin(), counts.end(), [](double count) { return count > 0; });
    if (any) seen.labelled = seen.labelled && canonical;
    all.push_back(any ? std::move(counts) : std::vector<double>{});
  }
  double longest = 0;
  const auto evictions = [](const std::vector<double>& counts) { return std::accumulate(counts.begin(), counts.end(), 0.0); };
  for (const auto& counts : all) longest = std::max(longest, evictions(counts));
  for (auto counts : all) {
    // Labels that differ from history to history are matched by how often each way is hit.
    if (!seen.labelled && evictions(counts) < std::min(longest, kLongPerWay * static_cast<double>(ways))) continue;
    if (!seen.labelled) std::sort(counts.rbegin(), counts.rend());
    seen.by_way_histories += counts.empty() ? 0 : 1;
    for (std::size_t way = 0; way < counts.size(); ++way) seen.by_way[way] += counts[way];
  }
  const double pool = seen.by_way_misses = evictions(seen.by_way);
  for (std::size_t h = 0; h < histories.size(); ++h) {
    const auto& counts = all[h];
    if (counts.empty()) continue;
    const double n = evictions(counts);
    seen.misses += n;
    if (!seen.labelled) {
      for (const auto count : counts) seen.uniform_chi2 += (count - n / static_cast<double>(ways)) * (count - n / static_cast<double>(ways)) / (n / static_cast<double>(ways));
      seen.uniform_dof += static_cast<double>(ways - 1);
    }
    // Chances of the ways, from the pool where labels agree, else from this history alone.
    std::vector<double> chance(ways);
    for (std::size_t way = 0; way < ways; ++way) chance[way] = seen.labelled ? seen.by_way[way] / pool : counts[way] / n;
    // Chances that come from the very evictions that are judged would make repeats look rare: a pair is not counted with itself.
    double squares = 0;
    for (std::size_t way = 0; way < ways; ++way) squares += seen.labelled || n < 2 ? chance[way] * chance[way] : counts[way] * (counts[way] - 1) / (n * (n - 1));
    std::size_t before = ways;
    each_eviction(histories[h], lines, [&](std::size_t way, const std::vector<bool>& old) {
      double p_old = 0;
      for (std::size_t each = 0; each < ways; ++each) p_old += old[each] ? chance[each] : 0;
      seen.older.seen += old[way] ? 1 : 0;
      seen.older.expected += p_old;
      seen.older.variance += p_old * (1 - p_old);
      if (before != ways) {
        seen.repeats.seen += way == before ? 1 : 0;
        seen.repeats.expected += squares;
        seen.repeats.variance += squares * (1 - squares);
      }
      before = way;
    });
  }
  if (seen.labelled && seen.misses > 0) {
    const double each = seen.misses / static_cast<double>(ways);
    for (const auto count : seen.by_way) seen.uniform_chi2 += (count - each) * (count - each) / each;
    seen.uniform_dof = static_cast<double>(ways - 1);
  }
  return seen;
}

}  // namespace gexp::infer
