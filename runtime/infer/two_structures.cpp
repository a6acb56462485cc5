// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/infer/set_growth.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"
#include "runtime/infer/statistics.h"

// Lines of one cache miss alike; how far the next level is (a near and a far slice) changes what a line costs, but not from footprint to
// footprint, nor how often it misses or in which sets such lines are.
namespace gexp::infer {
std::optional<std::string> two_structures(const Classes& classes, const std::vector<LineSet>& groups, const std::map<double, GrowthLevel>& levels) {
  struct Share {
    double lines = 0, misses = 0, visits = 0;
    [[nodiscard]] double rate() const { return misses / visits; }
  };
  const auto kinds = classes.list.size();
  std::vector<std::vector<Share>> shares(groups.size(), std::vector<Share>(kinds));
  std::vector<Share> all(kinds);
  double every = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& level = levels.at(groups[g].onset);
    for (const auto line : groups[g].lines) {
      if (level.misses[line] == 0) continue;
      const auto begin = level.by_class.begin() + static_cast<std::ptrdiff_t>(line * kinds);
      const auto mostly = static_cast<std::size_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(kinds)) - begin);
      for (auto* share : {&shares[g][mostly], &all[mostly]}) ++share->lines, share->misses += level.misses[line], share->visits += static_cast<double>(level.walked);
      ++every;
    }
  }
  // What a line misses to does not change while its own cache grows too small.
  const auto clear = [&](const GrowthLevel& level, std::size_t line) {
    const auto begin = level.by_class.begin() + static_cast<std::ptrdiff_t>(line * kinds);
    const auto most = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(kinds));
    return *most >= model::kMostly * level.misses[line] && level.misses[line] > 0 ? std::optional(static_cast<std::size_t>(most - begin)) : std::nullopt;
  };
  std::map<std::pair<std::size_t, std::size_t>, double> changed;
  for (const auto& group : groups) {
    for (const auto line : group.lines) {
      const auto first = clear(levels.at(group.onset), line), last = clear(levels.rbegin()->second, line);
      if (first && last && *first != *last) ++changed[{*first, *last}];
    }
  }
  for (const auto& [from, lines] : changed) {
    if (lines < model::kFewest || lines < model::kSamePace * every) continue;
    return fmt::format("{:g} lines begin to miss at {:g} ticks and later do at {:g}", lines, classes.list[from.first].centre, classes.list[from.second].centre);
  }
  const auto said = [&](std::size_t fast, std::size_t slow, double a, double b, const char* how) {
    return fmt::format("{:g} lines begin to miss at {:g} ticks and {:g} at {:g}, {}", a, classes.list[fast].centre, b, classes.list[slow].centre, how);
  };
  for (std::size_t slow = 0; slow < kinds; ++slow) {
    for (std::size_t fast = 0; fast < slow; ++fast) {
      const auto &a = all[fast], &b = all[slow];
      if (a.lines < 2 || b.lines < 2) continue;
      const auto& more = a.rate() > b.rate() ? a : b;
      const double rarer = std::min(a.rate(), b.rate());
      if (more.rate() > model::kUnlike * rarer && share_at_least(more.misses, a.misses + b.misses, more.visits / (a.visits + b.visits)) < model::kByChance) {
        return said(fast, slow, a.lines, b.lines, "and not as often");
      }
      for (const auto& group : shares) {
        double lines = 0;
        for (const auto& share : group) lines += share.lines;
        if (group[fast].lines < 2 || group[slow].lines < 2 || lines == every) continue;
        const double chance = std::min(share_at_least(group[fast].lines, a.lines, lines / every), share_at_least(group[slow].lines, b.lines, lines / every));
        if (chance < model::kByChance) return said(fast, slow, group[fast].lines, group[slow].lines, "in one set, and in no other both");
      }
      for (const auto& group : shares) {
        for (const auto& [own, other] : {std::pair{fast, slow}, std::pair{slow, fast}}) {
          const double lines = group[own].lines;
          if (lines < 2 || lines != all[own].lines || group[other].lines > 0) continue;
          // Of all choices of as many lines this one is the set.
          if (-log_of_choices(every, lines) < std::log(model::kAccident)) return said(fast, slow, a.lines, b.lines, "and those of one kind are a set");
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace gexp::infer
