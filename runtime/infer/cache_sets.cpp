// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/infer/model/model_choice.h"
#include "runtime/infer/set_evidence.h"
#include "runtime/infer/set_growth.h"

// Lines that begin to miss together are one set (set_growth.cpp says why); which lines these are, all walks of the file say together
// (set_evidence.cpp).
namespace gexp::infer {
namespace {

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

constexpr const char* kTwoStructures =
    ": two structures seem to overflow at this footprint, as a cache and a TLB may; `above: L` with the latency of the faster misses, which counts "
    "one of them alone, or lines further apart, which move one border and not the other, would decide";

/// Offsets of the largest set, whose policy has the most to show.
List members_of_largest(const SetGrowth& growth, const std::vector<LineSet>& sets) {
  auto lines = std::max_element(sets.begin(), sets.end(), [](const LineSet& a, const LineSet& b) { return a.lines.size() < b.lines.size(); })->lines;
  std::sort(lines.begin(), lines.end(), [&](auto a, auto b) { return growth.offset[a] < growth.offset[b]; });
  List members;
  for (const auto line : lines) members.emplace_back(static_cast<double>(growth.offset[line]), kBytes);
  return members;
}

/// The finding's fields; `why` is what they rest on.
Fields fields_of(const SetGrowth& growth, const SetAnswer& answer, std::string& why) {
  std::vector<std::size_t> sizes;
  std::size_t total = 0;
  for (const auto& set : answer.sets) sizes.push_back(set.lines.size() - 1), total += sizes.back();
  std::sort(sizes.rbegin(), sizes.rend());
  const bool equal = sizes.front() == sizes.back();
  Fields fields;
  fields["sets"] = Value(static_cast<double>(answer.sets.size()));
  fields["ways"] = equal ? Value(static_cast<double>(sizes[0])) : numbers(sizes);
  fields["sizes"] = numbers(sizes);
  fields["lines"] = Value(static_cast<double>(total));
  fields["members"] = Value(members_of_largest(growth, answer.sets));
  why = "lines that begin to miss together are one set; of all sets tried these predict the walks of the file best; bits are those of the offset in the array";
  if (const auto fitted = growth.levels.begin()->second.present; total > fitted) {
    why += fmt::format("; {} lines more than fitted at first found room: the sets do not fill evenly", total - fitted);
  }
  if (answer.index) {
    fields["bits"] = bits_value(*answer.index);
    fields["mapping"] = Value(answer.index->mapping);
    if (!answer.bits.empty()) why += fmt::format("; the lines differ in bits {} to {}, others may take part", answer.bits.front(), answer.bits.back());
  } else {
    why += "; which function of the address chooses them is open: lines are so few that several, or none, may look the same";
  }
  return fields;
}

std::string onsets(const std::vector<LineSet>& groups) {
  std::string text = fmt::format("onsets after {} added lines", groups[0].onset);
  for (std::size_t i = 1; i < std::min<std::size_t>(groups.size(), 8); ++i) text += fmt::format(", {}", groups[i].onset);
  return groups.size() > 8 ? text + ", …" : text;
}

/// Lines that a faster level answers in every lap, where one line more is walked than fits: these take no room in the sets.
double kept_above(const Context& context, const SetGrowth& growth, const std::vector<LineSet>& guess, double slower_than) {
  std::vector<const records::Point*> points;
  for (std::size_t i = 0; i < context.table.points.size(); ++i) {
    const auto added = number_at(context, *argument(context)->over, i);
    if (added && added->number == guess.front().onset) points.push_back(&context.table.points[i]);
  }
  const double share = share_answered_faster(context.table, context.classes, points, slower_than);
  return std::ceil(share * static_cast<double>(growth.levels.at(guess.front().onset).present) - 0.5);
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
  const auto growth = read_set_growth(context, line_bytes, *border);
  if (!growth) return undetermined(context, growth.error().message);
  const auto& levels = growth->levels;
  if (levels.size() < 2) return undetermined(context, "the sweep adds no line; one that adds some would decide");
  for (std::size_t line = 0; line < levels.begin()->second.present; ++line) {
    if (!misses_at(levels.begin()->second, line, *border)) continue;
    return undetermined(context, fmt::format("the footprint before any line is added misses already, at offset {}; a smaller one would decide", growth->offset[line]));
  }
  const auto guess = begin_together(*growth, *border);
  if (guess.empty()) return undetermined(context, fmt::format("no set overflowed although {} lines were added; more of them would decide", levels.rbegin()->first));
  if (const double kept = slower_than ? kept_above(context, *growth, guess, *slower_than) : 0; kept > 0) {
    return undetermined(context, fmt::format("a faster level answers {:g} of the lines in every lap, which take no room in these sets; "
                                             "lines that overflow it evenly would decide", kept));
  }
  const auto answer = likeliest_sets(context, *growth, guess, *border, line_bytes, slower_than);
  if (const auto two = two_structures(context.classes, answer.sets.empty() ? guess : answer.sets, levels)) {
    return undetermined(context, *two + kTwoStructures);
  }
  if (answer.sets.empty()) {
    auto finding = undetermined(context, answer.why);
    finding.lines_held = answer.lines_held;
    return finding;
  }
  if (answer.confidence < context.question.need) return undetermined(context, fmt::format("{} sets are likely by {:.1f} % only: {}", answer.sets.size(), 100 * answer.confidence, answer.why));
  std::string why;
  auto fields = fields_of(*growth, answer, why);
  return found(context, Value(std::move(fields)), std::min(kMostConfidence, answer.confidence), why, onsets(answer.sets));
}

}  // namespace gexp::infer
