// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
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

constexpr std::size_t kEnough = 3;  // misses of a line that are no accident

struct Level {                                   ///< all points with one value of `extra`
  std::map<std::int64_t, std::size_t> misses;    ///< by line; present lines all have an entry
  std::size_t laps = 0;
};

struct Group {
  double onset = 0;
  std::vector<std::int64_t> lines;  ///< at the onset, the added one included
};

struct Growth {
  std::map<double, Level> levels;
  std::map<std::int64_t, std::int64_t> offset;  ///< of each line: the lowest one visited
};

Result<Growth> read_growth(const Context& context, std::int64_t line_bytes, const MissRange& border) {
  const auto* data = argument(context);
  Growth growth;
  for (std::size_t i = 0; i < context.table.points.size(); ++i) {
    const auto& point = context.table.points[i];
    if (point.runs.empty() || !point.walk || point.walk->steps == 0) continue;
    const PointScope scope(context.table, context.classes, i, context.stage, context.outer);
    auto x = compiler::evaluate(*data->over, scope);
    if (!x) return x.error();
    const auto* n = x->get<Number>();
    if (!n) return failure("E0401", "the lines added are no number here");
    auto& level = growth.levels[n->number];
    const auto lap = static_cast<std::size_t>(point.walk->steps);
    std::vector<std::size_t> counts(lap);
    for (const auto& run : point.runs) {
      for (std::size_t a = 0; a < run.ticks.size(); ++a) counts[a % lap] += border(run.ticks[a]) ? 1 : 0;
      level.laps += run.ticks.size() / lap;
    }
    for (std::size_t step = 0; step < lap; ++step) {
      const auto offset = point.walk->at(0, static_cast<std::int64_t>(step));
      level.misses[offset / line_bytes] += counts[step];
      const auto [at, fresh] = growth.offset.try_emplace(offset / line_bytes, offset);
      if (!fresh) at->second = std::min(at->second, offset);
    }
  }
  return growth;
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
  if (!border) return undetermined(context, "all latencies are of one class: no set overflowed; add more lines");
  const auto growth = read_growth(context, line_bytes, *border);
  if (!growth) return undetermined(context, growth.error().message);
  const auto& levels = growth->levels;
  if (levels.size() < 2) return undetermined(context, "the sweep adds no line");

  const auto& base = levels.begin()->second;
  const auto enough = [&](const Level& level) { return enough_misses(*border, level.laps, level.misses.size(), kEnough); };
  for (const auto& [line, misses] : base.misses) {
    if (misses >= enough(base)) return undetermined(context, fmt::format("the footprint before any line is added misses already, at offset {}", line * line_bytes));
  }

  std::set<std::int64_t> assigned;
  std::map<std::int64_t, std::size_t> set_of;
  std::vector<Group> groups;
  std::set<std::int64_t> present;
  for (const auto& [line, misses] : base.misses) present.insert(line);
  std::size_t stragglers = 0;
  for (auto level = std::next(levels.begin()); level != levels.end(); ++level) {
    std::vector<std::int64_t> added, begin;
    const auto enough_here = enough(level->second);
    for (const auto& [line, misses] : level->second.misses) {
      if (!present.contains(line)) added.push_back(line);
      if (misses >= enough_here && !assigned.contains(line)) begin.push_back(line);
    }
    present.insert(added.begin(), added.end());
    if (begin.empty()) continue;
    const auto among = [&](const auto& lines, std::int64_t line) { return std::find(lines.begin(), lines.end(), line) != lines.end(); };
    const bool with_added = std::any_of(added.begin(), added.end(), [&](auto line) { return among(begin, line); });
    std::size_t old = 0;  // lines that begin to miss and were there before
    for (const auto line : begin) old += among(added, line) ? 0 : 1;
    if (old > 0 && with_added) {
      groups.push_back({level->first, begin});
      for (const auto line : begin) set_of[line] = groups.size() - 1;
    } else if (old > 0) {
      stragglers += old;  // no added line began to miss with them: of a set that overflowed before, seen late
    }
    assigned.insert(begin.begin(), begin.end());
  }

  const auto fitted = base.misses.size();
  std::vector<std::size_t> sizes;
  std::size_t total = 0;
  for (const auto& group : groups) {
    const auto ways = group.lines.size() - 1;  // its lines at the onset, all but the newest
    sizes.push_back(ways);
    total += ways;
  }
  if (groups.empty()) return undetermined(context, fmt::format("no set overflowed although {} lines were added; add more", levels.rbegin()->first));
  if (stragglers > 0) {
    return undetermined(context, fmt::format("{} lines began to miss late, with no line added to their set: more repetitions would tell where they belong; {} sets seen", stragglers, groups.size()));
  }
  if (total < fitted) {
    return undetermined(context, fmt::format("{} sets with {} lines were seen to overflow, {} of {} lines never missed: there are more sets; add more lines",
                                             groups.size(), total, fitted - total, fitted));
  }

  std::vector<Labelled> labelled;
  for (const auto& [line, set] : set_of) labelled.push_back({line, set});
  const auto index = find_set_index(labelled, groups.size(), line_bytes);
  List members;
  for (const auto line : groups[0].lines) members.emplace_back(static_cast<double>(growth->offset.at(line)), kBytes);
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
      for (const auto line : groups[i].lines) rate += static_cast<double>(level->second.misses.at(line));
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
