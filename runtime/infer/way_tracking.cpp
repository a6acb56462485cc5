// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/way_tracking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"

namespace gexp::infer {
namespace {

/// How unlike the ways' chances may be, each as likely beforehand: concentrations of a symmetric Dirichlet distribution. With the last one
/// they differ by a third of their mean; what is more alike is called equal.
constexpr double kConcentrations[] = {0.5, 1, 2, 4, 8};  // grid: from one way alone to nearly even

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
    work();
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

/// Of the accesses that are sure, if each misses by the same chance.
double cost_of_one_rate(const std::vector<bool>& missed, const std::vector<bool>& unsure, std::size_t begin, std::size_t end) {
  double misses = 0, all = 0;
  for (auto i = begin; i < end; ++i) all += unsure[i] ? 0 : 1, misses += !unsure[i] && missed[i] ? 1 : 0;
  const auto cost = [&](double count) { return count > 0 ? -count * std::log(count / all) : 0; };
  return cost(misses) + cost(all - misses);
}

/// Log-likelihood of victims that are counted by way, against equal chances: the ways' chances are drawn from a symmetric Dirichlet
/// distribution and integrated out.
double own_chances(const std::vector<double>& counts, double concentration, double temper) {
  const auto ways = static_cast<double>(counts.size());
  const double n = std::accumulate(counts.begin(), counts.end(), 0.0) / temper;
  double log = n * std::log(ways) + std::lgamma(ways * concentration) - std::lgamma(ways * concentration + n);
  for (const auto count : counts) log += std::lgamma(concentration + count / temper) - std::lgamma(concentration);
  return log;
}

/// Tempered nats by which victims are predicted better by the ways' own chances than by equal ones. `histories`: their labels mean nothing
/// to each other, and the chances of each are what its own victims say.
double own_chances(const std::vector<std::vector<double>>& histories, const std::vector<double>& labelled) {
  std::vector<double> logs;
  for (const double each : kConcentrations) {
    double log = 0;
    for (const auto& counts : histories) log += counts.empty() ? 0 : own_chances(counts, each, 1) / model::kTemper;
    if (!labelled.empty()) log += own_chances(labelled, each, model::kTemper);
    logs.push_back(log - std::log(static_cast<double>(std::size(kConcentrations))));
  }
  return log_sum(logs);
}

/// Collects whether victims have a property.
class Property {
 public:
  Property() : logs_(std::size(kTilts), -std::log(static_cast<double>(std::size(kTilts)))) {}
  void add(bool has, double chance) {
    against_.seen += has ? 1 : 0;
    against_.expected += chance;
    for (std::size_t i = 0; i < logs_.size(); ++i) logs_[i] += ((has ? std::log(kTilts[i]) : 0) - std::log(kTilts[i] * chance + 1 - chance)) / model::kTemper;
  }
  [[nodiscard]] Evictions::Against against() const { return {against_.seen, against_.expected, log_sum(logs_)}; }

 private:
  Evictions::Against against_;
  std::vector<double> logs_;
};

}  // namespace

std::vector<Stretch> clear_stretches(std::span<const std::uint32_t> lines, std::vector<bool>& missed, const std::vector<bool>& unsure, std::size_t begin, std::size_t end,
                                     std::size_t count, bool cold, const LookAlikes& rates) {
  auto first = begin;
  std::vector<double> start(count, 0);
  if (cold) {  // until all but one were touched, what misses is what was not yet touched
    std::vector<bool> touched(count);
    for (std::size_t left = count - 1; first < end && left > 0; ++first) left -= touched[lines[first]] ? 0 : 1, touched[lines[first]] = true;
    for (std::size_t line = 0; line < count; ++line) start[line] = touched[line] ? INFINITY : 0;
  }
  // Costs (-log of the chance) of the likeliest course up to each access and from it on, by the line that is absent there.
  const double victim = std::log(static_cast<double>(count - 1)), slow_hit = -std::log(rates.slow), fast_miss = -std::log(rates.fast);
  const auto cost_of_hit = [&](std::size_t i) { return !unsure[i] && missed[i] ? slow_hit : 0; };
  const auto cost_of_miss = [&](std::size_t i) { return victim + (!unsure[i] && !missed[i] ? fast_miss : 0); };
  const auto steps = end - first;
  std::vector<std::vector<double>> before(steps + 1, std::vector<double>(count, INFINITY)), after(steps + 1, std::vector<double>(count, 0));
  before[0] = start;
  for (std::size_t i = 0; i < steps; ++i) {
    work(1 + count / 16);
    const auto line = lines[first + i];
    const double as_hit = cost_of_hit(first + i), as_miss = before[i][line] + cost_of_miss(first + i);
    for (std::size_t absent = 0; absent < count; ++absent) before[i + 1][absent] = std::min(before[i][absent] + as_hit, as_miss);
    before[i + 1][line] = INFINITY;
  }
  if (*std::min_element(before[steps].begin(), before[steps].end()) > cost_of_one_rate(missed, unsure, first, end)) return {{begin, end}};
  std::vector<double> likely_miss(steps);  // how much costlier the likeliest course without a miss is
  for (auto i = steps; i-- > 0;) {
    work(1 + count / 16);
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
  }
  std::vector<Stretch> clear{{begin, first}};
  for (std::size_t i = 0; i < steps; ++i) {
    missed[first + i] = likely_miss[i] > 0;
    if (std::fabs(likely_miss[i]) >= model::kDecisive) clear.back().end = first + i + 1;
    else clear.push_back({first + i + 1, first + i + 1});
  }
  std::erase_if(clear, [](const Stretch& stretch) { return stretch.begin == stretch.end; });
  return clear;
}

Evictions follow_evictions(const std::vector<History>& histories, std::size_t lines) {
  const auto ways = lines - 1;
  Evictions seen;
  seen.by_way.assign(ways, 0);
  std::vector<std::vector<double>> all;  // evictions by way, of each history
  std::vector<bool> canonical;           // whether its labels are the order in which ways are filled
  double longest = 0, in_order = 0;
  const auto evictions = [](const std::vector<double>& counts) { return std::accumulate(counts.begin(), counts.end(), 0.0); };
  for (const auto& history : histories) {
    std::vector<double> counts(ways);
    canonical.push_back(each_eviction(history, lines, [&](std::size_t way, const std::vector<bool>&) { ++counts[way]; }));
    const double n = evictions(counts);
    seen.misses += n, longest = std::max(longest, n), in_order += canonical.back() ? n : 0;
    all.push_back(n > 0 ? std::move(counts) : std::vector<double>{});
  }
  seen.labelled = 2 * in_order > seen.misses;  // those whose labels are lost leave enough others
  std::vector<std::vector<double>> unlabelled;
  for (std::size_t h = 0; h < all.size(); ++h) {
    auto counts = all[h];
    if (!seen.labelled || !canonical[h]) unlabelled.push_back(counts);
    if (seen.labelled && !canonical[h]) continue;
    // Labels that differ from history to history are matched by how often each way is hit.
    if (!seen.labelled && evictions(counts) < std::min(longest, model::kLongPerWay * static_cast<double>(ways))) continue;
    if (!seen.labelled) std::sort(counts.rbegin(), counts.rend());
    seen.by_way_histories += counts.empty() ? 0 : 1;
    for (std::size_t way = 0; way < counts.size(); ++way) seen.by_way[way] += counts[way];
  }
  const double pool = seen.by_way_misses = evictions(seen.by_way);
  seen.uneven = own_chances(unlabelled, seen.labelled ? seen.by_way : std::vector<double>{});
  const bool equal = seen.uneven < 0;
  Property older, repeats;
  for (std::size_t h = 0; h < histories.size(); ++h) {
    const auto& counts = all[h];
    if (counts.empty()) continue;
    const double n = evictions(counts);
    const bool pooled = seen.labelled && canonical[h];
    // Chances of the ways, from the pool where labels agree, else from this history alone.
    std::vector<double> chance(ways);
    for (std::size_t way = 0; way < ways; ++way) chance[way] = equal ? 1 / static_cast<double>(ways) : pooled ? seen.by_way[way] / pool : counts[way] / n;
    // Chances that come from the very evictions that are judged would make repeats look rare: a pair is not counted with itself.
    double squares = 0;
    for (std::size_t way = 0; way < ways; ++way) squares += equal || pooled || n < 2 ? chance[way] * chance[way] : counts[way] * (counts[way] - 1) / (n * (n - 1));
    std::size_t before = ways;
    each_eviction(histories[h], lines, [&](std::size_t way, const std::vector<bool>& old) {
      double p_old = 0;
      for (std::size_t each = 0; each < ways; ++each) p_old += old[each] ? chance[each] : 0;
      older.add(old[way], std::min(p_old, 1.0));
      if (before != ways) repeats.add(way == before, squares);
      before = way;
    });
  }
  seen.older = older.against(), seen.repeats = repeats.against();
  return seen;
}

}  // namespace gexp::infer
