// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/replacement_walk.h"

#include <algorithm>
#include <utility>

namespace gexp::infer::replacing {
namespace {

constexpr std::size_t kMaxHistories = 400;  // limit: launches that are read

}  // namespace

LineNumbers::LineNumbers(const std::vector<std::int64_t>& members, std::int64_t line_bytes, std::optional<SetKey> set) : line_bytes_(line_bytes), set_(std::move(set)) {
  for (const auto offset : members) member_.try_emplace(offset / line_bytes, static_cast<std::uint32_t>(member_.size()));
  if (set_ && !members.empty()) own_ = (*set_)(members.front() / line_bytes);
}

std::vector<std::uint32_t> LineNumbers::of(const Pattern& pattern, bool all) {
  std::vector<std::uint32_t> lines(static_cast<std::size_t>(pattern.steps), kElsewhere);
  for (std::size_t step = 0; step < lines.size(); ++step) {
    const auto line = pattern.at(0, static_cast<std::int64_t>(step)) / line_bytes_;
    if (const auto found = member_.find(line); found != member_.end()) lines[step] = found->second;
    else if (all && set_ && (*set_)(line) == own_) lines[step] = other_.try_emplace(line, static_cast<std::uint32_t>(member_.size() + other_.size())).first->second;
  }
  return lines;
}

std::optional<Walk> read_walk(const Context& context, LineNumbers& numbers, const MissRange& border, bool others) {
  Walk walk;
  walk.lines = numbers.members();
  std::size_t histories = 0;
  for (const auto& point : context.table.points) {
    if (!point.walk || point.walk->steps == 0) continue;
    const auto lines = numbers.of(*point.walk, false);
    Trace warm;
    warm.point = static_cast<std::size_t>(&point - context.table.points.data());
    if (point.warm_walk && point.warm_walk->steps > 0) {
      auto warm_lines = numbers.of(*point.warm_walk, true);
      const auto other = [&](auto line) { return line >= walk.lines; };
      const auto last = std::find_if_not(warm_lines.rbegin(), warm_lines.rend(), other).base();
      if (!others && static_cast<std::size_t>(warm_lines.end() - last) > walk.lines) {
        auto flood = std::make_shared<Flood>();
        for (std::int64_t i = 0; numbers.know_the_set() && i < point.warm_steps; ++i) {
          const auto line = warm_lines[static_cast<std::size_t>(i) % warm_lines.size()];
          if (line != kElsewhere) flood->lines.push_back(line);
        }
        warm.flood = !walk.traces.empty() && walk.traces.back().flood && walk.traces.back().flood->lines == flood->lines ? walk.traces.back().flood : flood;
      }
      for (std::int64_t i = 0; i < point.warm_steps && !warm.flood; ++i) {
        const auto line = warm_lines[static_cast<std::size_t>(i) % warm_lines.size()];
        if (line >= walk.lines && !others) return std::nullopt;
        if (line < walk.lines) warm.lines.push_back(line);
      }
    }
    warm.warm = warm.lines.size();
    const Misses missed(border, point);
    for (const auto& run : point.runs) {
      if (histories == kMaxHistories) break;
      auto trace = warm;
      auto window = run.windows.begin();
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        if (window != run.windows.end() && *window == i) {
          if (histories == kMaxHistories) break;
          trace.windows.push_back(trace.missed.size());
          ++histories, ++window;
        }
        const auto line = lines[i % lines.size()];
        if (line == kElsewhere && !others) return std::nullopt;
        if (line == kElsewhere) continue;
        trace.lines.push_back(line);
        trace.missed.push_back(missed(i, run.ticks[i]));
        trace.unsure.push_back(missed.unsure(i, run.ticks[i]));
      }
      walk.traces.push_back(std::move(trace));
    }
  }
  walk.others = numbers.others();
  return walk;
}

std::optional<SetKey> set_of(const Fields& sets, std::int64_t line_bytes) {
  const auto number = [](const Value& value) { const auto* n = value.get<Number>(); return n ? static_cast<std::int64_t>(n->number) : 0; };
  const auto field = [&](const char* name) { const auto found = sets.find(name); return found == sets.end() ? Value() : found->second; };
  const auto name = field("mapping"), count = field("sets"), functions = field("bits");
  const auto* mapping = name.get<std::string>();
  if (!mapping) return std::nullopt;
  if (*mapping == "one set") return SetKey([](std::int64_t) { return 0; });
  if (*mapping == "modulo") return SetKey([sets = number(count)](std::int64_t line) { return static_cast<std::uint64_t>(line % sets); });
  const auto* list = functions.get<List>();
  if (!list || list->empty()) return std::nullopt;
  std::vector<std::uint64_t> masks;
  for (const auto& function : *list) {
    std::uint64_t mask = 0;
    if (const auto* bits = function.get<List>()) {
      for (const auto& bit : *bits) mask |= std::uint64_t{1} << number(bit);
    } else {
      mask = std::uint64_t{1} << number(function);
    }
    masks.push_back(mask);
  }
  return SetKey([masks, line_bytes](std::int64_t line) { return set_number(masks, static_cast<std::uint64_t>(line * line_bytes)); });
}

std::vector<std::int64_t> listed_members(const Value& value) {
  std::vector<std::int64_t> members;
  if (const auto* list = value.get<List>()) {
    for (const auto& item : *list) {
      if (const auto* n = item.get<Number>()) members.push_back(static_cast<std::int64_t>(n->number));
    }
  }
  return members;
}

std::vector<std::int64_t> missed_lines(const Context& context, std::int64_t line_bytes, const MissRange& border) {
  std::map<std::int64_t, std::size_t> misses;
  std::size_t accesses = 0;
  for (const auto& point : context.table.points) {
    if (!point.walk || point.walk->steps == 0) continue;
    const auto counts = misses_by_step(point, border);
    for (const auto& run : point.runs) accesses += run.ticks.size();
    for (std::size_t step = 0; step < counts.size(); ++step) {
      if (counts[step]) misses[point.walk->at(0, static_cast<std::int64_t>(step)) / line_bytes] += counts[step];
    }
  }
  std::vector<std::int64_t> members;
  for (const auto& [line, count] : misses) {
    if (static_cast<double>(count) > std::max(1.0, border.interference.share * static_cast<double>(accesses))) members.push_back(line * line_bytes);
  }
  return members;
}

}  // namespace gexp::infer::replacing
