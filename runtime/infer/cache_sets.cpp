// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "runtime/infer/set_evidence.h"
#include "runtime/infer/set_growth.h"
#include "runtime/infer/statistics.h"

// Lines that begin to miss together are one set (set_growth.cpp says why); here it is judged whether that is the whole story.
namespace gexp::infer {
namespace {

constexpr std::size_t kEnough = 3;   // misses of a line that are no accident
constexpr double kUnseen = 0.3;     // lines that may be in the wrong set

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

/// Misses of a line that are no accident at a level.
std::size_t enough(const MissRange& border, const GrowthLevel& level) {
  return significant_misses(border, level.accesses / std::max<std::size_t>(1, level.present), level.present, kEnough);
}

constexpr const char* kTwoStructures =
    ": two structures seem to overflow at this footprint, as a cache and a TLB may; `above: L` with the latency of the faster misses, which counts "
    "one of them alone, or lines further apart, which move one border and not the other, would decide";

/// Everything that the sweep showed, and what the sets are as far as it goes.
struct Seen {
  const SetGrowth& growth;
  const std::vector<LineSet>& groups;
  const std::vector<std::size_t>& late;
  const MissRange& border;
  std::size_t total = 0;  ///< ways of all sets
  SetIndex index;
  bool defined = false;   ///< a simple function of the address, which all lines follow, says which set is whose
  [[nodiscard]] std::size_t fitted() const { return growth.levels.begin()->second.present; }
};

/// Ways of a set: its lines at the onset, all but the newest.
std::size_t ways_of(const LineSet& group) { return group.lines.size() - 1; }

Seen seen_sets(const SetGrowth& growth, const std::vector<LineSet>& groups, const std::vector<std::size_t>& late, const MissRange& border, std::int64_t line_bytes) {
  Seen seen{growth, groups, late, border, 0, index_of(growth, groups, line_bytes), false};
  for (const auto& group : groups) seen.total += ways_of(group);
  seen.defined = seen.index.is_significant();
  return seen;
}

/// Why the sets are not the whole story; empty where they are.
std::string incomplete(const Seen& seen) {
  const auto& [growth, groups, late, border, total, index, defined] = seen;
  const auto fitted = seen.fitted();
  if (!late.empty()) {
    return fmt::format("{} lines began to miss late, with no line added to their set: more orders or repetitions would tell where they belong; {} sets seen", late.size(), groups.size());
  }
  if (total < fitted) {
    return fmt::format("{} sets with {} lines were seen to overflow, {} of {} lines never missed: there are more sets; more added lines would decide",
                       groups.size(), total, fitted - total, fitted);
  }
  if (total > fitted && !defined) {
    return fmt::format("{} lines more than fitted at first seem to have room, and no simple function of the address says which set is whose: sets may fill unevenly, or lines "
                       "that are rarely replaced were counted to the wrong set; more orders would decide; {} sets seen", total - fitted, groups.size());
  }
  // A simple function of the address, which all lines follow, leaves no doubt of who is in which set.
  for (const auto& group : groups) {
    if (defined) break;
    const auto lack = silent_laps(growth, group.onset, group.lines);
    if (lack.proves_more()) {
      return fmt::format("in {} of {} laps nothing of a set of {} lines missed, though it overflows: a line of it was not seen to miss; more orders or repetitions would show it", lack.hidden, lack.all, group.lines.size());
    }
  }
  return "";
}

/// Offsets of the largest set, whose policy has the most to show.
List members_of_largest(const Seen& seen) {
  auto lines = std::max_element(seen.groups.begin(), seen.groups.end(), [](const LineSet& a, const LineSet& b) { return a.lines.size() < b.lines.size(); })->lines;
  std::sort(lines.begin(), lines.end(), [&](auto a, auto b) { return seen.growth.offset[a] < seen.growth.offset[b]; });
  List members;
  for (const auto line : lines) members.emplace_back(static_cast<double>(seen.growth.offset[line]), kBytes);
  return members;
}

/// The finding's fields; `why` is what they rest on.
Fields fields_of(const Seen& seen, std::string& why) {
  std::vector<std::size_t> sizes;
  for (const auto& group : seen.groups) sizes.push_back(ways_of(group));
  std::sort(sizes.rbegin(), sizes.rend());
  const bool equal = std::all_of(sizes.begin(), sizes.end(), [&](auto size) { return size == sizes[0]; });
  Fields fields;
  fields["sets"] = Value(static_cast<double>(seen.groups.size()));
  fields["ways"] = equal ? Value(static_cast<double>(sizes[0])) : numbers(sizes);
  fields["sizes"] = numbers(sizes);
  fields["lines"] = Value(static_cast<double>(seen.total));
  fields["members"] = Value(members_of_largest(seen));
  why = "lines that begin to miss together are one set; ways add up to all lines that fitted; bits are those of the offset in the array";
  if (seen.total > seen.fitted()) why += fmt::format("; {} lines more than fitted at first found room: the sets do not fill evenly", seen.total - seen.fitted());
  if (seen.defined || seen.index.mapping == "not bit-defined") {
    fields["bits"] = bits_value(seen.index);
    fields["mapping"] = Value(seen.index.mapping);
  } else {
    why += fmt::format("; \"{}\" would explain which lines are in one set, but lines are so few that a scattered mapping may look the same", seen.index.mapping);
  }
  return fields;
}

/// What speaks against the sets: the chance that a line is counted to the wrong one.
struct Doubt {
  double chance = 0;
  double rarest = INFINITY;  ///< misses of a line of a set at one level, on average
  double unseen = 0;         ///< lines that may be in the wrong set by the orders in which they were seen
};
Doubt doubt_of(const Seen& seen) {
  // Every line has a set. Where misses are rare, one of set A could have been seen first when set B overflowed, and be counted
  // there: the chance of that is the honest doubt. Until B's onset a line of A must have missed less than kEnough times at every
  // level, at the rate of A's other lines there.
  const auto& [growth, groups, late, border, total, index, defined] = seen;
  const auto& levels = growth.levels;
  Doubt doubt;
  for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
    double unseen = 1;
    for (auto level = levels.find(groups[i].onset); level != levels.end() && level->first < groups[i + 1].onset; ++level) {
      double rate = 0;
      for (const auto line : groups[i].lines) rate += static_cast<double>(level->second.misses[line]);
      rate /= static_cast<double>(groups[i].lines.size());
      doubt.rarest = std::min(doubt.rarest, rate);
      unseen *= poisson_at_most(static_cast<double>(enough(border, level->second)) - 1, rate);
    }
    doubt.chance += unseen * static_cast<double>(groups[i].lines.size());
  }
  // No function says where lines belong: those that were seen in one order only tell how many were seen in none (Chao's estimate), and
  // may have been counted to a set that overflowed later. The sets are of one cache, so they tell of one another.
  double one = 0, two = 0;
  for (std::size_t i = 0; i + 1 < groups.size() && !defined; ++i) {
    const auto& level = levels.at(groups[i].onset);
    const auto in = [&](std::uint32_t orders) {
      return static_cast<double>(std::count_if(groups[i].lines.begin(), groups[i].lines.end(), [&](auto line) { return level.orders[line] == orders; }));
    };
    one += in(1), two += in(2);
  }
  doubt.unseen = two > 0 ? one * one / (2 * two) : one * (one - 1) / 2;
  return doubt;
}

std::string onsets(const std::vector<LineSet>& groups) {
  std::string text = fmt::format("onsets after {} added lines", groups[0].onset);
  for (std::size_t i = 1; i < std::min<std::size_t>(groups.size(), 8); ++i) text += fmt::format(", {}", groups[i].onset);
  return groups.size() > 8 ? text + ", …" : text;
}

/// Why it is open which line is of which set; empty where it is not.
std::string open_lines(const Seen& seen, const Doubt& doubt) {
  if (doubt.unseen > kUnseen) {
    return fmt::format("lines miss in so few orders that about {:.1f} may be counted to the wrong set: more orders would decide; {} sets seen", doubt.unseen, seen.groups.size());
  }
  if (doubt.chance > 0.05) {
    return fmt::format("lines miss so rarely ({:.0f} times) that some may be counted to the wrong set: more repetitions would decide; {} sets seen", doubt.rarest, seen.groups.size());
  }
  return "";
}

/// Most lines that were added at once where a set overflowed.
std::size_t added_at_once(const Seen& seen) {
  std::size_t most = 0;
  for (const auto& group : seen.groups) {
    const auto level = seen.growth.levels.find(group.onset);
    if (level != seen.growth.levels.begin()) most = std::max(most, level->second.present - std::prev(level)->second.present);
  }
  return most;
}

Finding found_sets(const Context& context, const Seen& seen, double confidence, const std::string& more) {
  std::string why;
  auto fields = fields_of(seen, why);
  return found(context, Value(std::move(fields)), std::min(0.999, confidence), why + more, onsets(seen.groups));
}

/// The verdict over sets that were seen to overflow.
Finding judged(const Context& context, const Seen& seen, std::int64_t line_bytes, std::optional<double> slower_than) {
  if (const auto two = two_structures(context.classes, seen.groups, seen.growth.levels)) {
    return undetermined(context, *two + kTwoStructures);
  }
  auto reason = incomplete(seen);
  const auto doubt = doubt_of(seen);
  if (reason.empty()) reason = open_lines(seen, doubt);
  const auto together = added_at_once(seen);
  const auto verdict = judge_sets(context, seen.growth, seen.groups, line_bytes, slower_than, !reason.empty() || together > 1);
  if (reason.empty() && together <= 1 && verdict.predicted) return found_sets(context, seen, 1 - doubt.chance - doubt.unseen, "");
  if (!verdict.sets.empty()) {
    const std::vector<std::size_t> none;
    const auto by_function = seen_sets(seen.growth, verdict.sets, none, seen.border, line_bytes);
    if (by_function.defined && incomplete(by_function).empty()) {
      return found_sets(context, by_function, verdict.confidence, "; of all functions tried only this one predicts every walk of the file over this cache");
    }
  }
  if (!reason.empty()) return undetermined(context, reason);
  if (!verdict.predicted) return undetermined(context, fmt::format("{}; another size of line, or another structure that overflows, may be behind it: a walk of half the stride would decide", verdict.why));
  return undetermined(context, fmt::format("{} lines are added at a time: sets that overflow together look like one, and one of them may have had room for some; one line at a time would decide", together));
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
  auto growth = read_set_growth(context, line_bytes, *border);
  if (!growth) return undetermined(context, growth.error().message);
  if (slower_than) growth->filtered = true;
  const auto& levels = growth->levels;
  if (levels.size() < 2) return undetermined(context, "the sweep adds no line; one that adds some would decide");

  const auto& base = levels.begin()->second;
  for (std::size_t line = 0; line < base.present; ++line) {
    if (base.misses[line] >= enough(*border, base)) return undetermined(context, fmt::format("the footprint before any line is added misses already, at offset {}; a smaller one would decide", growth->offset[line]));
  }

  std::map<double, std::size_t> least;
  for (const auto& [extra, level] : levels) least[extra] = enough(*border, level);
  auto grouped = find_line_sets(*growth, least);
  assign_by_index_function(*growth, grouped, line_bytes);
  resolve_pairs(*growth, grouped, line_bytes);
  auto& [groups, late] = grouped;
  if (!groups.empty() && !resolve_sizes(*growth, groups, line_bytes)) {
    return undetermined(context, "two sets differ by one line each from all others: one may be counted to the wrong set; more orders or repetitions would decide");
  }
  if (groups.empty()) return undetermined(context, fmt::format("no set overflowed although {} lines were added; more of them would decide", levels.rbegin()->first));
  return judged(context, seen_sets(*growth, groups, late, *border, line_bytes), line_bytes, slower_than);
}

}  // namespace gexp::infer
