// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/set_growth.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "runtime/infer/record_functions.h"
#include "runtime/infer/infer.h"
#include "runtime/infer/statistics.h"

// Mei17 section 4.2, step 3: from a footprint that fits exactly, grow line by line. Each added line goes into one set. A set that
// holds no more lines than ways never misses; with one line more, all its lines miss in every lap (LRU, FIFO) or each does now
// and then (random and weighted replacement, tree-PLRU and NRU in several orders). So the lines that begin to miss at the same
// moment are one set, whatever the sets' sizes and however addresses choose them, and its ways are its lines before the added one.
// Two things prove it. The ways of all sets add up to the lines that fitted; if not, some set was not overflowed, and the answer
// waits. And whatever replaces lines, at least one line of an overflowing set misses in every lap: where a lap goes by in which no
// member does, a member is unknown. It is among the lines that began to miss late, and the one that missed in just those laps.
namespace gexp::infer {
namespace {

constexpr std::size_t kManySets = 8;
constexpr double kUnseen = 1e-3;         // chance that a line of an overflowing set is not seen at any point
constexpr double kHidden = 0.002;   // share of laps that jitter may leave without a miss
constexpr double kFiltered = 0.15;  // the same behind another level, which may hold the line that is absent
constexpr double kMostlySilent = 0.5;  // share of laps without a miss that leaves too little of a set
constexpr double kMoved = 0.1;          // share of the lines that may be found elsewhere than where they were first seen
constexpr double kAccident = 0.05;  // of what the others of a set miss
constexpr std::size_t kEnoughToCompare = 4;  // lines
constexpr double kAlways = 0.9;     // share of laps in which a line misses that always does

}  // namespace

bool SilentLaps::proves_more() const { return static_cast<double>(hidden) > std::max(1.0, allowed * static_cast<double>(all)); }

Result<SetGrowth> read_set_growth(const Context& context, std::int64_t line_bytes, const MissRange& border) {
  const auto* data = argument(context);
  SetGrowth growth;
  std::map<double, std::vector<std::size_t>> points;
  for (std::size_t i = 0; i < context.table.points.size(); ++i) {
    const auto& point = context.table.points[i];
    if (point.runs.empty() || !point.walk || point.walk->steps == 0) continue;
    const auto scope = scope_at(context, i);
    auto x = compiler::evaluate(*data->over, scope);
    if (!x) return x.error();
    const auto* n = x->get<Number>();
    if (!n) return failure("E0401", "the lines added are no number here");
    points[n->number].push_back(i);
  }
  std::unordered_map<std::int64_t, std::size_t> index;
  for (const auto& [extra, at] : points) {
    auto& level = growth.levels[extra];
    for (const auto i : at) {
      const auto& walk = *context.table.points[i].walk;
      for (std::int64_t step = 0; step < walk.steps; ++step) {
        const auto offset = walk.at(0, step);
        const auto [entry, fresh] = index.try_emplace(offset / line_bytes, growth.number.size());
        if (fresh) growth.number.push_back(offset / line_bytes), growth.offset.push_back(offset);
        else growth.offset[entry->second] = std::min(growth.offset[entry->second], offset);
      }
    }
    level.present = growth.number.size();
    level.points = at.size();
    level.misses.resize(level.present), level.orders.resize(level.present), level.by_class.resize(level.present * context.classes.list.size());
    std::vector<std::size_t> line_at;
    for (const auto i : at) {
      const auto& point = context.table.points[i];
      const auto lap = static_cast<std::size_t>(point.walk->steps);
      line_at.resize(lap);
      for (std::size_t step = 0; step < lap; ++step) line_at[step] = index.at(point.walk->at(0, static_cast<std::int64_t>(step)) / line_bytes);
      const Misses is_miss(border, point);
      auto before = level.misses;
      for (const auto& run : point.runs) {
        for (std::size_t begin = 0; begin + lap <= run.ticks.size(); begin += lap) {
          level.accesses += lap, ++level.walked;
          std::vector<bool> missed(level.present);
          for (std::size_t step = 0; step < lap; ++step) {
            if (!is_miss(begin + step, run.ticks[begin + step])) continue;
            missed[line_at[step]] = true;
            if (is_miss.unsure(begin + step, run.ticks[begin + step])) continue;
            ++level.misses[line_at[step]];
            ++level.by_class[line_at[step] * context.classes.list.size() + context.classes.of(run.ticks[begin + step])];
          }
          // Two windows are two launches: what chance replaced in the one is not what the other walks to.
          const auto window = std::upper_bound(run.windows.begin(), run.windows.end(), begin);
          if (window == run.windows.end() || *window >= begin + lap) level.laps.push_back(std::move(missed));
        }
      }
      for (std::size_t line = 0; line < level.present; ++line) level.orders[line] += level.misses[line] > before[line] ? 1 : 0;
    }
  }
  return growth;
}

namespace {

using Lap = std::vector<bool>;  ///< by line: whether it seemed to miss

/// The laps from an onset on in which none of these lines missed; `all`: how many laps there are.
std::vector<const Lap*> laps_without(const SetGrowth& growth, double onset, const std::vector<std::size_t>& lines, std::size_t& all) {
  std::vector<const Lap*> silent;
  for (auto level = growth.levels.find(onset); level != growth.levels.end(); ++level) {
    for (const auto& lap : level->second.laps) {
      ++all;
      if (std::none_of(lines.begin(), lines.end(), [&](std::size_t line) { return line < lap.size() && lap[line]; })) silent.push_back(&lap);
    }
  }
  return silent;
}

SilentLaps summary(const SetGrowth& growth, std::size_t all, std::size_t hidden) { return {all, hidden, growth.filtered ? kFiltered : kHidden}; }

}  // namespace

SilentLaps silent_laps(const SetGrowth& growth, double onset, const std::vector<std::size_t>& lines) {
  std::size_t all = 0;
  const auto silent = laps_without(growth, onset, lines, all);
  return summary(growth, all, silent.size());
}

namespace {

/// Lines that began to miss at one level and cannot be the better part of a set that overflowed just then.
bool no_set_of_its_own(const SetGrowth& growth, const LineSet& group) {
  const auto& level = growth.levels.at(group.onset);
  const double laps = static_cast<double>(level.laps.size()), visits = static_cast<double>(level.walked);
  const auto silent = std::count_if(level.laps.begin(), level.laps.end(), [&](const auto& lap) { return std::none_of(group.lines.begin(), group.lines.end(), [&](auto line) { return lap[line]; }); });
  if (static_cast<double>(silent) > kMostlySilent * laps) return true;
  if (group.lines.size() != 2) return false;
  // Two lines that share one way replace each other: neither ever hits.
  return std::any_of(group.lines.begin(), group.lines.end(), [&](auto line) { return static_cast<double>(level.misses[line]) < kAlways * visits; });
}

/// Where a line is that may belong elsewhere: in a group, or late (then `group` is the number of groups).
struct GrowthCandidate {
  std::size_t group = 0, at = 0, line = 0;
};

/// Lines that began to miss after a group's onset, and not because they were added.
std::vector<GrowthCandidate> candidates_for(const SetGrowth& growth, const std::vector<LineSet>& groups, const std::vector<std::size_t>& late, const LineSet& lacking) {
  std::vector<GrowthCandidate> all;
  for (std::size_t at = 0; at < late.size(); ++at) all.push_back({groups.size(), at, late[at]});
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].onset <= lacking.onset) continue;
    const auto before = std::prev(growth.levels.find(groups[g].onset))->second.present;
    for (std::size_t at = 0; at < groups[g].lines.size(); ++at) {
      if (groups[g].lines[at] < before) all.push_back({g, at, groups[g].lines[at]});
    }
  }
  return all;
}

/// Gives the groups that lack a member the line that missed in just the laps in which no other of their lines did: a late one, or
/// one that was seen first when another set overflowed and was counted there.
void complete(const SetGrowth& growth, std::vector<LineSet>& groups, std::vector<std::size_t>& late) {
  for (auto& group : groups) {
    std::size_t all = 0;
    auto silent = laps_without(growth, group.onset, group.lines, all);
    while (summary(growth, all, silent.size()).proves_more()) {
      // By candidate: the silent laps in which it did not miss either.
      std::vector<std::pair<std::size_t, GrowthCandidate>> left;
      for (const auto& candidate : candidates_for(growth, groups, late, group)) {
        const auto still = std::count_if(silent.begin(), silent.end(), [&](const Lap* lap) { return candidate.line >= lap->size() || !(*lap)[candidate.line]; });
        left.emplace_back(static_cast<std::size_t>(still), candidate);
      }
      const auto fewer = [](const auto& a, const auto& b) { return a.first < b.first; };
      std::sort(left.begin(), left.end(), fewer);
      // One that explains half of the silence; another that does as well leaves it open which.
      if (left.empty() || 2 * left[0].first > silent.size() || (left.size() > 1 && left[1].first == left[0].first)) break;
      const auto& best = left[0].second;
      auto& from = best.group == groups.size() ? late : groups[best.group].lines;
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(best.at));
      group.lines.push_back(best.line);
      std::erase_if(silent, [&](const Lap* lap) { return best.line < lap->size() && (*lap)[best.line]; });
    }
  }
}

/// Whether some line of the group missed in less than half of a level's laps: then another may not have been seen.
bool misses_rarely(const GrowthLevel& level, const LineSet& group) {
  return std::any_of(group.lines.begin(), group.lines.end(), [&](auto line) { return 2 * level.misses[line] < level.walked; });
}

/// Whether a line of the group may not have been seen to miss: where all its lines miss in every lap, none is lacking.
bool may_lack(const SetGrowth& growth, const LineSet& group) {
  return std::any_of(growth.levels.find(group.onset), growth.levels.end(), [&](const auto& level) { return misses_rarely(level.second, group); });
}

/// Whether a line of the group, which overflows from its onset on, may not have been seen to miss before `until`, if it misses at no
/// fewer points than the group's other lines do.
bool may_be_unseen(const SetGrowth& growth, const LineSet& group, double until) {
  double points = 0;
  std::vector<double> missed(group.lines.size());
  for (auto level = growth.levels.find(group.onset); level != growth.levels.end() && level->first < until; ++level) {
    points += static_cast<double>(level->second.points);
    for (std::size_t i = 0; i < missed.size(); ++i) missed[i] += level->second.orders[group.lines[i]];
  }
  const double least = *std::min_element(missed.begin(), missed.end());
  return points == 0 || std::pow(1 - least / points, points) > kUnseen;
}

/// Lines that missed far less than those they began with are none of them: what a launch does besides its walk took their place once.
void drop_accidents(const GrowthLevel& level, std::vector<std::size_t>& lines) {
  std::vector<double> counts;
  for (const auto line : lines) counts.push_back(static_cast<double>(level.misses[line]));
  const double few = lines.size() < kEnoughToCompare ? 0 : kAccident * median(std::move(counts));
  std::erase_if(lines, [&](auto line) { return static_cast<double>(level.misses[line]) < few; });
}

}  // namespace

std::vector<LabelledLine> labels_of(const SetGrowth& growth, const std::vector<LineSet>& groups) {
  std::vector<LabelledLine> labelled;
  for (std::size_t set = 0; set < groups.size(); ++set) {
    for (const auto line : groups[set].lines) labelled.push_back({growth.number[line], set});
  }
  return labelled;
}

LineSets find_line_sets(const SetGrowth& growth, const std::map<double, std::size_t>& enough) {
  const auto& levels = growth.levels;
  std::vector<LineSet> groups;
  std::vector<std::size_t> late;  // lines that were there before, and began to miss with no line added to them
  std::vector<bool> assigned(growth.number.size());
  for (auto level = std::next(levels.begin()); level != levels.end(); ++level) {
    const auto before = std::prev(level)->second.present;
    const auto enough_here = enough.at(level->first);
    LineSet begin{level->first, {}};
    for (std::size_t line = 0; line < level->second.present; ++line) {
      if (level->second.misses[line] >= enough_here && !assigned[line]) begin.lines.push_back(line);
    }
    drop_accidents(level->second, begin.lines);
    for (const auto line : begin.lines) assigned[line] = true;
    const auto added = std::find_if(begin.lines.begin(), begin.lines.end(), [&](auto line) { return line >= before; });
    if (added == begin.lines.begin()) continue;  // of sets that overflow already, or nothing
    const auto old = static_cast<std::size_t>(added - begin.lines.begin());
    begin.lines.resize(old);
    for (auto line = before; line < level->second.present; ++line) begin.lines.push_back(line), assigned[line] = true;  // it opened the set, whether it was seen to miss or not
    if (no_set_of_its_own(growth, begin)) late.insert(late.end(), begin.lines.begin(), begin.lines.begin() + static_cast<std::ptrdiff_t>(old));
    else groups.push_back(std::move(begin));
  }
  complete(growth, groups, late);
  return {std::move(groups), std::move(late)};
}

SetIndex index_of(const SetGrowth& growth, const std::vector<LineSet>& groups, std::int64_t line_bytes) {
  return find_set_index(labels_of(growth, groups), groups.size(), line_bytes);
}

void assign_by_index_function(const SetGrowth& growth, LineSets& groups, std::int64_t line_bytes) {
  auto& sets = groups.sets;
  if (sets.empty() || (groups.late.empty() && index_of(growth, sets, line_bytes).is_significant())) return;
  const auto labelled = labels_of(growth, sets);
  const auto all = labelled.size() + groups.late.size();
  const auto may_move = sets.size() == 1 ? all : static_cast<std::size_t>(kMoved * static_cast<double>(all));
  for (const auto& key : almost_explaining(labelled, sets.size(), line_bytes)) {
    std::map<std::uint64_t, std::size_t> set_of;
    for (std::size_t set = 0; set < sets.size(); ++set) {
      std::map<std::uint64_t, std::size_t> votes;
      for (const auto line : sets[set].lines) ++votes[key(growth.number[line])];
      set_of.emplace(std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first, set);
    }
    if (set_of.size() != sets.size()) continue;
    std::vector<bool> lacking;
    for (const auto& set : sets) lacking.push_back(may_lack(growth, set));
    LineSets moved;
    for (const auto& set : sets) moved.sets.push_back({set.onset, {}});
    std::size_t moves = groups.late.size();
    bool possible = true;
    const auto put = [&](std::size_t line, std::size_t from) {
      const auto to = set_of.find(key(growth.number[line]));
      possible = possible && to != set_of.end() && (from == to->second || ((from == sets.size() || sets[to->second].onset < sets[from].onset) && lacking[to->second]));
      if (possible && from < sets.size() && from != to->second) possible = may_be_unseen(growth, sets[to->second], sets[from].onset);
      if (!possible) return;
      moves += from < sets.size() && from != to->second ? 1 : 0;
      // A set is its lines at its onset: what was added later is not counted.
      if (from == to->second || line < growth.levels.at(sets[to->second].onset).present) moved.sets[to->second].lines.push_back(line);
    };
    for (std::size_t set = 0; set < sets.size(); ++set) {
      for (const auto line : sets[set].lines) put(line, set);
    }
    for (const auto line : groups.late) put(line, sets.size());
    if (!possible || moves > may_move) continue;
    groups = std::move(moved);
    return;
  }
}

bool resolve_sizes(const SetGrowth& growth, std::vector<LineSet>& groups, std::int64_t line_bytes) {
  std::size_t total = 0;
  for (const auto& group : groups) total += group.lines.size();
  if (total % groups.size() != 0) return true;
  const auto size = total / groups.size();
  std::vector<std::size_t> more, fewer;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto own = groups[g].lines.size();
    if (own == size + 1) more.push_back(g);
    else if (own + 1 == size) fewer.push_back(g);
    else if (own != size) return true;
  }
  if (more.size() != 1 || fewer.size() != 1) return true;
  // Of many sets one that is larger by one and one that is smaller by one are hardly built so, however it came about.
  const bool odd = groups.size() > kManySets && !index_of(growth, groups, line_bytes).is_significant();
  if (groups[fewer[0]].onset >= groups[more[0]].onset || !may_be_unseen(growth, groups[fewer[0]], groups[more[0]].onset)) return !odd;
  for (std::size_t at = 0; at < groups[more[0]].lines.size(); ++at) {
    auto moved = groups;
    auto& from = moved[more[0]].lines;
    moved[fewer[0]].lines.push_back(from[at]);
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
    if (!index_of(growth, moved, line_bytes).is_significant()) continue;
    groups = std::move(moved);
    return true;
  }
  return !misses_rarely(growth.levels.at(groups[fewer[0]].onset), groups[fewer[0]]);
}

void resolve_pairs(const SetGrowth& growth, LineSets& groups, std::int64_t line_bytes) {
  if (!groups.late.empty() || index_of(growth, groups.sets, line_bytes).is_significant()) return;
  LineSets without;
  for (const auto& set : groups.sets) {
    if (set.lines.size() > 2) without.sets.push_back(set);
    else without.late.insert(without.late.end(), set.lines.begin(), set.lines.end());
  }
  if (without.late.empty() || without.sets.empty()) return;
  assign_by_index_function(growth, without, line_bytes);
  if (without.late.empty() && index_of(growth, without.sets, line_bytes).is_significant()) groups = std::move(without);
}

}  // namespace gexp::infer
