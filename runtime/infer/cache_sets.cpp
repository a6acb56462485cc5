// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "runtime/infer/analysis.h"
#include "runtime/infer/column.h"
#include "runtime/infer/set_index.h"
#include "runtime/infer/statistics.h"

// Mei17 section 4.2, step 3: from a footprint that fits exactly, grow line by line. Each added line goes into one set. A set that
// holds no more lines than ways never misses; with one line more, all its lines miss in every lap (LRU, FIFO) or each does now
// and then (random and weighted replacement, tree-PLRU in several orders). So the lines that begin to miss at the same moment
// are one set, whatever the sets' sizes and however addresses choose them, and its ways are its lines before the added one.
// The ways of all sets must add up to the lines that fitted; if they do not, not every set was overflowed, and the answer waits.
namespace gexp::infer {
namespace {

constexpr std::size_t kEnough = 3;   // misses of a line that are no accident
constexpr double kUnlike = 1.5;      // ratio of miss rates that one replacement policy does not make within a set
constexpr double kClear = 0.8;       // share of a line's misses that are of one class
constexpr double kFewChange = 3;     // lines whose class changes by accident, at most
constexpr double kFewShare = 0.02;   // the same as a share of all
constexpr double kByChance = 1e-4;   // chance below which lines of two costs are of two structures

struct Level {                        ///< all points with one value of `extra`; lines by their number
  std::vector<std::uint32_t> misses;
  std::vector<std::uint32_t> by_class;  ///< the same by line and latency class
  std::vector<bool> present;
  std::size_t lines = 0, laps = 0;    ///< those present; passes over them
};

struct Group {
  double onset = 0;
  std::vector<std::size_t> lines;  ///< at the onset, the added one included
};

struct Growth {
  std::map<double, Level> levels;
  std::vector<std::int64_t> lines;   ///< by number, ascending: offset divided by the line's bytes
  std::vector<std::int64_t> offset;  ///< by number: the lowest one visited
};

Result<Growth> read_growth(const Context& context, std::int64_t line_bytes, const MissRange& border) {
  const auto* data = argument(context);
  Growth growth;
  std::vector<std::int64_t> visited;
  std::set<const Pattern*> seen;
  for (const auto& point : context.table.points) {
    if (!point.walk || !seen.insert(point.walk.get()).second) continue;
    visited.insert(visited.end(), point.walk->offsets.begin(), point.walk->offsets.begin() + point.walk->steps);
  }
  std::sort(visited.begin(), visited.end());
  for (const auto offset : visited) {
    if (!growth.lines.empty() && growth.lines.back() == offset / line_bytes) continue;
    growth.lines.push_back(offset / line_bytes);
    growth.offset.push_back(offset);
  }
  for (std::size_t i = 0; i < context.table.points.size(); ++i) {
    const auto& point = context.table.points[i];
    if (point.runs.empty() || !point.walk || point.walk->steps == 0) continue;
    const PointScope scope(context.table, context.classes, i, context.stage, context.outer);
    auto x = compiler::evaluate(*data->over, scope);
    if (!x) return x.error();
    const auto* n = x->get<Number>();
    if (!n) return failure("E0401", "the lines added are no number here");
    auto& level = growth.levels[n->number];
    level.misses.resize(growth.lines.size()), level.by_class.resize(growth.lines.size() * context.classes.list.size()), level.present.resize(growth.lines.size());
    std::vector<std::size_t> line_at(static_cast<std::size_t>(point.walk->steps));
    for (std::size_t step = 0; step < line_at.size(); ++step) {
      const auto line = point.walk->at(0, static_cast<std::int64_t>(step)) / line_bytes;
      line_at[step] = static_cast<std::size_t>(std::lower_bound(growth.lines.begin(), growth.lines.end(), line) - growth.lines.begin());
      if (!level.present[line_at[step]]) level.present[line_at[step]] = true, ++level.lines;
    }
    for (const auto& run : point.runs) {
      level.laps += run.ticks.size() / line_at.size();
      for (std::size_t a = 0; a < run.ticks.size(); ++a) {
        if (!border(run.ticks[a])) continue;
        const auto line = line_at[a % line_at.size()];
        ++level.misses[line], ++level.by_class[line * context.classes.list.size() + context.classes.of(run.ticks[a])];
      }
    }
  }
  return growth;
}

/// What the lines cost when they begin to miss, where that is not one thing: two structures that overflow at one footprint, as a cache and a TLB
/// may. Lines of one cache miss alike; how far the next level is (a near and a far slice) changes what a line costs, but not from
/// footprint to footprint, nor how often it misses or in which sets such lines are.
std::optional<std::string> two_structures(const Classes& classes, const std::vector<Group>& groups, const std::map<double, Level>& levels) {
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
      const auto begin = level.by_class.begin() + static_cast<std::ptrdiff_t>(line * kinds);
      const auto mostly = static_cast<std::size_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(kinds)) - begin);
      for (auto* share : {&shares[g][mostly], &all[mostly]}) ++share->lines, share->misses += level.misses[line], share->visits += static_cast<double>(level.laps);
      ++every;
    }
  }
  // What a line misses to does not change while its own cache grows too small.
  const auto clear = [&](const Level& level, std::size_t line) {
    const auto begin = level.by_class.begin() + static_cast<std::ptrdiff_t>(line * kinds);
    const auto most = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(kinds));
    return *most >= kClear * level.misses[line] && level.misses[line] > 0 ? std::optional(static_cast<std::size_t>(most - begin)) : std::nullopt;
  };
  std::map<std::pair<std::size_t, std::size_t>, double> changed;
  for (const auto& group : groups) {
    for (const auto line : group.lines) {
      const auto first = clear(levels.at(group.onset), line), last = clear(levels.rbegin()->second, line);
      if (first && last && *first != *last) ++changed[{*first, *last}];
    }
  }
  for (const auto& [from, lines] : changed) {
    if (lines < kFewChange || lines < kFewShare * every) continue;
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
      if (more.rate() > kUnlike * rarer && share_at_least(more.misses, a.misses + b.misses, more.visits / (a.visits + b.visits)) < kByChance) {
        return said(fast, slow, a.lines, b.lines, "and not as often");
      }
      for (const auto& group : shares) {
        double lines = 0;
        for (const auto& share : group) lines += share.lines;
        if (group[fast].lines < 2 || group[slow].lines < 2 || lines == every) continue;
        const double chance = std::min(share_at_least(group[fast].lines, a.lines, lines / every), share_at_least(group[slow].lines, b.lines, lines / every));
        if (chance < kByChance) return said(fast, slow, group[fast].lines, group[slow].lines, "in one set, and in no other both");
      }
    }
  }
  return std::nullopt;
}

Value numbers(const std::vector<std::size_t>& all) {
  List list;
  for (const auto n : all) list.emplace_back(static_cast<double>(n));
  return Value(std::move(list));
}

Value bits_value(const SetIndex& index) {
  List list;
  std::vector<int> plain;
  for (const auto& function : index.functions) {
    if (index.mapping == "bits") plain.push_back(function[0]);
    List inner;
    for (const int bit : function) inner.emplace_back(static_cast<double>(bit));
    if (index.mapping == "xor") list.emplace_back(std::move(inner));
  }
  std::sort(plain.begin(), plain.end());
  for (const int bit : plain) list.emplace_back(static_cast<double>(bit));
  return Value(std::move(list));
}

}  // namespace

Finding cache_sets(const Context& context) {
  const auto* data = argument(context);
  const auto line_value = argument_value(context, "line");
  const auto* line_number = line_value.get<Number>();
  if (!data || !data->over || !line_number || line_number->number < 1) return undetermined(context, "it needs `… over EXTRA, line: BYTES`, and the line is not known");
  const auto line_bytes = static_cast<std::int64_t>(line_number->number);
  std::optional<double> slower_than;
  if (argument(context, "above")) {
    const auto above = argument_value(context, "above");
    const auto* n = above.get<Number>();
    if (!n) return undetermined(context, "the latency after `above:` is not known");
    slower_than = n->number;
  }
  const auto border = miss_range(context.table, context.classes, slower_than);
  if (!border) return undetermined(context, "all latencies are of one class: no set overflowed, or a miss costs what a hit does; more lines, or another load path, would decide");
  const auto growth = read_growth(context, line_bytes, *border);
  if (!growth) return undetermined(context, growth.error().message);
  const auto& levels = growth->levels;
  if (levels.size() < 2) return undetermined(context, "the sweep adds no line; one that adds some would decide");

  const auto& base = levels.begin()->second;
  const auto enough = [&](const Level& level) { return enough_misses(*border, level.laps, level.lines, kEnough); };
  const auto enough_at_first = enough(base);
  for (std::size_t line = 0; line < growth->lines.size(); ++line) {
    if (base.misses[line] < enough_at_first) continue;
    return undetermined(context, fmt::format("the footprint before any line is added misses already, at offset {}; a smaller one would decide", growth->lines[line] * line_bytes));
  }

  constexpr auto kNone = ~std::size_t{0};
  std::vector<std::size_t> set_of(growth->lines.size(), kNone);
  std::vector<Group> groups;
  auto present = base.present;
  std::vector<bool> assigned(growth->lines.size());
  std::size_t stragglers = 0;
  for (auto level = std::next(levels.begin()); level != levels.end(); ++level) {
    std::vector<std::size_t> begin;
    std::size_t old = 0;  // lines that begin to miss and were there before
    const auto enough_here = enough(level->second);
    for (std::size_t line = 0; line < growth->lines.size(); ++line) {
      if (level->second.misses[line] >= enough_here && !assigned[line]) {
        begin.push_back(line);
        assigned[line] = true;
        old += present[line] ? 1 : 0;
      }
      if (level->second.present[line]) present[line] = true;
    }
    if (old > 0 && old < begin.size()) {
      for (const auto line : begin) set_of[line] = groups.size();
      groups.push_back({level->first, std::move(begin)});
    } else if (old > 0) {
      stragglers += old;  // no added line began to miss with them: of a set that overflowed before, seen late
    }
  }

  const auto fitted = base.lines;
  std::vector<std::size_t> sizes;
  std::size_t total = 0;
  for (const auto& group : groups) {
    const auto ways = group.lines.size() - 1;  // its lines at the onset, all but the newest
    sizes.push_back(ways);
    total += ways;
  }
  if (groups.empty()) return undetermined(context, fmt::format("no set overflowed although {} lines were added; more of them would decide", levels.rbegin()->first));
  if (const auto two = two_structures(context.classes, groups, levels)) {
    return undetermined(context, *two + ": two structures seem to overflow at this footprint, as a cache and a TLB may; `above: L` with the latency of the faster misses, which counts "
                                        "one of them alone, or lines further apart, which move one border and not the other, would decide");
  }
  if (stragglers > 0) {
    return undetermined(context, fmt::format("{} lines began to miss late, with no line added to their set: more repetitions would tell where they belong; {} sets seen", stragglers, groups.size()));
  }
  if (total < fitted) {
    return undetermined(context, fmt::format("{} sets with {} lines were seen to overflow, {} of {} lines never missed: there are more sets; more added lines would decide",
                                             groups.size(), total, fitted - total, fitted));
  }

  std::vector<Labelled> labelled;
  for (std::size_t line = 0; line < set_of.size(); ++line) {
    if (set_of[line] != kNone) labelled.push_back({growth->lines[line], set_of[line]});
  }
  const auto index = find_set_index(labelled, groups.size(), line_bytes);
  List members;
  for (const auto line : groups[0].lines) members.emplace_back(static_cast<double>(growth->offset[line]), kBytes);
  const bool equal = std::all_of(sizes.begin(), sizes.end(), [&](auto size) { return size == sizes[0]; });

  Fields fields;
  fields["sets"] = Value(static_cast<double>(groups.size()));
  fields["ways"] = equal ? Value(static_cast<double>(sizes[0])) : numbers(sizes);
  fields["sizes"] = numbers(sizes);
  fields["lines"] = Value(static_cast<double>(total));
  fields["members"] = Value(std::move(members));
  fields["bits"] = bits_value(index);
  fields["mapping"] = Value(index.mapping);
  std::string why = "lines that begin to miss together are one set; ways add up to all lines that fitted; bits are those of the offset in the array";
  if (total > fitted) why += fmt::format("; {} lines more than fitted at first found room: the sets do not fill evenly", total - fitted);
  std::string evidence = fmt::format("onsets after {} added lines", groups[0].onset);
  for (std::size_t i = 1; i < std::min<std::size_t>(groups.size(), 8); ++i) evidence += fmt::format(", {}", groups[i].onset);
  if (groups.size() > 8) evidence += ", …";
  // Every line has a set. Where misses are rare, one of set A could have been seen first when set B overflowed, and be counted
  // there: the chance of that is the honest doubt. Until B's onset a line of A must have missed less than kEnough times at every
  // level, at the rate of A's other lines there.
  double doubt = 0, rarest = INFINITY;
  for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
    double unseen = 1;
    for (auto level = levels.find(groups[i].onset); level != levels.end() && level->first < groups[i + 1].onset; ++level) {
      double rate = 0;
      for (const auto line : groups[i].lines) rate += level->second.misses[line];
      rate /= static_cast<double>(groups[i].lines.size());
      rarest = std::min(rarest, rate);
      unseen *= poisson_at_most(static_cast<double>(enough(level->second)) - 1, rate);
    }
    doubt += unseen * static_cast<double>(groups[i].lines.size());
  }
  if (doubt > 0.05) {
    return undetermined(context, fmt::format("lines miss so rarely ({:.0f} times) that some may be counted to the wrong set: more repetitions would decide; {} sets seen", rarest, groups.size()));
  }
  return found(context, Value(std::move(fields)), std::min(0.999, 1 - doubt), why, evidence);
}

}  // namespace gexp::infer
