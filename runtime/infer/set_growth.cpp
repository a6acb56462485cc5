// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/set_growth.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/walks.h"
#include "runtime/infer/record_functions.h"

// Mei17 section 4.2, step 3: from a footprint that fits exactly, grow line by line. Each added line goes into one set. A set that
// holds no more lines than ways never misses; with one line more, all its lines miss in every lap (LRU, FIFO) or each does now
// and then (random and weighted replacement, tree-PLRU and NRU in several orders). So the lines that begin to miss at the same
// moment are one set, whatever the sets' sizes and however addresses choose them, and its ways are its lines before the added one.
// A line that misses rarely may be seen to begin too late: that is a guess, and set_evidence.cpp finds what predicts the walks better.
namespace gexp::infer {

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
      work(static_cast<std::size_t>(walk.steps));
      for (std::int64_t step = 0; step < walk.steps; ++step) {
        const auto offset = walk.at(0, step);
        const auto [entry, fresh] = index.try_emplace(offset / line_bytes, growth.number.size());
        if (fresh) growth.number.push_back(offset / line_bytes), growth.offset.push_back(offset);
        else growth.offset[entry->second] = std::min(growth.offset[entry->second], offset);
      }
    }
    const auto kinds = context.classes.list.size();
    level.present = growth.number.size();
    work(level.present * (1 + kinds) / 64);
    level.misses.resize(level.present), level.by_class.resize(level.present * kinds);
    std::vector<std::size_t> line_at;
    for (const auto i : at) {
      const auto& point = context.table.points[i];
      const auto lap = static_cast<std::size_t>(point.walk->steps);
      line_at.resize(lap);
      for (std::size_t step = 0; step < lap; ++step) line_at[step] = index.at(point.walk->at(0, static_cast<std::int64_t>(step)) / line_bytes);
      const Misses is_miss(border, point);
      for (const auto& run : point.runs) {
        level.walked += run.ticks.size() / lap;
        for (std::size_t access = 0; access < run.ticks.size(); ++access) {
          const auto tick = run.ticks[access];
          if (!is_miss(access, tick) || is_miss.unsure(access, tick)) continue;
          const auto line = line_at[access % lap];
          ++level.misses[line];
          ++level.by_class[line * kinds + context.classes.of(tick)];
        }
      }
    }
  }
  return growth;
}

bool misses_at(const GrowthLevel& level, std::size_t line, const MissRange& border) {
  return model::is_no_accident(static_cast<double>(level.misses[line]), static_cast<double>(level.walked), border);
}

std::vector<LineSet> begin_together(const SetGrowth& growth, const MissRange& border) {
  const auto& levels = growth.levels;
  std::vector<LineSet> sets;
  std::vector<bool> assigned(growth.number.size());
  for (auto level = std::next(levels.begin()); level != levels.end(); ++level) {
    const auto before = std::prev(level)->second.present;
    LineSet begin{level->first, {}};
    work(before);
    for (std::size_t line = 0; line < before; ++line) {
      if (!assigned[line] && misses_at(level->second, line, border)) begin.lines.push_back(line), assigned[line] = true;
    }
    bool opens = false;
    for (auto line = before; line < level->second.present; ++line) opens = opens || misses_at(level->second, line, border);
    if (begin.lines.empty()) {  // lines of sets that overflow already
      for (auto line = before; line < level->second.present; ++line) assigned[line] = assigned[line] || opens;
      continue;
    }
    if (before == level->second.present && !sets.empty()) {
      sets.front().lines.insert(sets.front().lines.end(), begin.lines.begin(), begin.lines.end());
      continue;
    }
    for (auto line = before; line < level->second.present; ++line) begin.lines.push_back(line), assigned[line] = true;
    sets.push_back(std::move(begin));
  }
  return sets;
}

}  // namespace gexp::infer
