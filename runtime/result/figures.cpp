// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "compiler/plan/expand.h"
#include "runtime/infer/infer.h"
#include "runtime/result/point_table.h"

namespace gexp::result {
namespace {

using compiler::Formula;
using infer::Finding;

constexpr std::size_t kMostRows = 256;      // of one raster: it is looked at on a screen
constexpr std::size_t kMostCells = 160'000;
constexpr std::size_t kMostJumps = 16;      // marks of one list: more hide the curve

/// A stage with what evaluates its formulas.
struct Measured {
  const compiler::Stage& stage;
  const StageResult& kept;
  const infer::PreparedRecords& prepared;
  const compiler::Scope& scope;

  [[nodiscard]] Value at(const Formula& formula, std::size_t point) const {
    auto value = infer::at_point(formula, prepared.table(), prepared.classes(), point, stage, scope);
    return value ? std::move(*value) : Value();
  }
};

std::optional<Number> number_of(const Value& value) {
  if (const auto* number = value.get<Number>()) return *number;
  if (const auto* flag = value.get<bool>()) return Number{*flag ? 1.0 : 0.0, {}};
  return std::nullopt;
}

Axis axis(const Formula& formula, const std::vector<std::string>& log) {
  const auto free = compiler::free_names(formula);
  return {compiler::show(formula), {}, std::any_of(log.begin(), log.end(), [&](const auto& name) { return std::find(free.begin(), free.end(), name) != free.end(); })};
}

/// The series of this name, made if there is none.
std::vector<Dot>& series_named(const std::string& name, Figure& figure) {
  const auto found = std::find_if(figure.series.begin(), figure.series.end(), [&](const auto& each) { return each.name == name; });
  return found == figure.series.end() ? figure.series.emplace_back(Series{name, {}}).dots : found->dots;
}

/// `vs step`: every access of every run; `by_part`: a series each part of the pattern.
void add_accesses(const records::Point& point, const std::string& name, bool by_part, Figure& figure) {
  const auto lap = point.walk ? static_cast<std::size_t>(point.walk->steps) : 0;
  const auto parts = by_part ? parts_of(point) : std::vector<std::string>();
  for (const auto& run : point.runs) {
    for (std::size_t i = 0; i < run.ticks.size(); ++i) {
      const auto step = lap ? i % lap : i;
      auto& dots = series_named(parts.empty() ? name : "seg = " + parts[step], figure);
      dots.push_back({static_cast<double>(step), static_cast<double>(run.ticks[i]) - point.overhead, point.converged});
    }
  }
}

/// Analyses whose answer is a place on the axis that follows `over`.
bool marks_x(const std::string& analysis) {
  static constexpr auto kPlaces = std::to_array<std::string_view>({"last_flat", "first_flat", "knee"});
  return std::find(kPlaces.begin(), kPlaces.end(), analysis) != kPlaces.end();
}

/// Analyses whose answer is a level of what they are asked about.
bool levels(const std::string& analysis) {
  static constexpr auto kLevels = std::to_array<std::string_view>({"plateau", "highest", "fastest", "slowest"});
  return std::find(kLevels.begin(), kLevels.end(), analysis) != kLevels.end();
}

void mark(const compiler::Question& question, const Finding& finding, const compiler::Plot& plot, const std::string& record, Figure& figure) {
  if (finding.status != Finding::Status::Found || question.arguments.empty()) return;
  const auto& asked = question.arguments.front();
  const bool over_x = asked.over && compiler::show(*asked.over) == figure.x.name;
  // A latency class of the record is a level where the record, or its median, is drawn; else the same expression must be.
  const auto drawn = compiler::free_names(*plot.y);
  const bool of_y = asked.value && (compiler::show(*asked.value) == figure.y.name || (is_name(*asked.value, record) && std::find(drawn.begin(), drawn.end(), record) != drawn.end()));
  const auto add = [&](const Value& value, bool level, const auto& interval, const char* field = "") {
    const auto* number = value.get<Number>();
    if (!number || number->dimension != (level ? figure.y : figure.x).dimension) return;
    figure.marks.push_back({finding.id + field, show(value), number->number, interval, level});
  };
  const std::optional<std::pair<double, double>> none;
  if (over_x && marks_x(question.analysis)) add(finding.value, false, finding.interval);
  if (of_y && levels(question.analysis)) add(finding.value, true, finding.interval);
  if (const auto* fields = finding.value.get<Fields>(); fields && over_x && of_y && question.analysis == "saturation") {
    const auto field = [&](const char* name) { return fields->count(name) ? fields->at(name) : Value(); };
    const auto low = number_of(field("low")), high = number_of(field("high"));
    add(field("knee"), false, low && high ? std::optional(std::pair(low->number, high->number)) : std::nullopt, ".knee");
    add(field("plateau"), true, none, ".plateau");
  }
  if (const auto* jumps = finding.value.get<List>(); jumps && over_x && of_y && question.analysis == "spikes" && jumps->size() <= kMostJumps) {
    for (const auto& jump : *jumps) {
      if (const auto* fields = jump.get<Fields>(); fields && fields->count("at")) add(fields->at("at"), false, none);
    }
  }
}

Figure figure_of(const Measured& measured, const compiler::Plot& plot, const std::vector<Finding>& findings) {
  Figure figure{measured.stage.name, axis(*plot.x, plot.log), axis(*plot.y, plot.log), {}, {}};
  const auto& table = measured.prepared.table();
  const bool accesses = plots_accesses(plot, table), by_part = accesses && plot.by == "seg";
  if (accesses) figure.y.dimension = kCycles;
  figure.heatmap = plot.heatmap && !accesses;
  Formula group;
  group.kind = Formula::Kind::Name;
  group.text = plot.by;
  for (std::size_t i = 0; i < table.points.size(); ++i) {
    const auto& point = table.points[i];
    if (point.runs.empty()) continue;
    std::string name;
    if (!plot.by.empty() && !by_part) name = fmt::format("{} = {}", plot.by, show(measured.at(group, i)));
    if (accesses) {
      add_accesses(point, name, by_part, figure);
      continue;
    }
    const auto x = number_of(measured.at(*plot.x, i)), y = number_of(measured.at(*plot.y, i));
    if (!x || !y || !std::isfinite(x->number) || !std::isfinite(y->number)) continue;
    figure.x.dimension = x->dimension;
    figure.y.dimension = y->dimension;
    series_named(name, figure).push_back({x->number, y->number, point.converged});
  }
  std::erase_if(figure.series, [](const auto& series) { return series.dots.empty(); });
  for (auto& series : figure.series) {
    std::stable_sort(series.dots.begin(), series.dots.end(), [](const Dot& a, const Dot& b) { return a.x < b.x; });
  }
  for (const auto& question : measured.stage.finds) {
    const auto finding = std::find_if(findings.begin(), findings.end(), [&](const auto& each) { return each.id == question.id; });
    if (finding != findings.end()) mark(question, *finding, plot, table.timed, figure);
  }
  return figure;
}

std::string row_name(const records::Table& table, const records::Point& point, std::size_t run) {
  std::string text;
  for (const auto& column : table.columns) text += fmt::format("{} = {}, ", column, show(point.at.at(column)));
  return fmt::format("{}run {}", text, run + 1);
}

Raster raster_of(const Measured& measured, std::size_t cells) {
  const auto& table = measured.prepared.table();
  Raster raster;
  raster.stage = table.stage;
  raster.record = table.timed;
  double overhead = 0;
  for (const auto& point : table.points) {
    for (const auto& run : point.runs) {
      ++raster.runs;
      raster.accesses += run.ticks.size();
      raster.steps = std::max(raster.steps, run.ticks.size());
      overhead = point.overhead;
    }
  }
  if (raster.accesses == 0) return raster;
  raster.runs_a_row = (raster.runs + kMostRows - 1) / kMostRows;
  const auto rows = (raster.runs + raster.runs_a_row - 1) / raster.runs_a_row;
  const auto columns = std::max<std::size_t>(1, std::min(cells, kMostCells) / rows);
  raster.steps_a_column = (raster.steps + columns - 1) / columns;
  std::size_t number = 0;
  std::string last;
  for (const auto& point : table.points) {
    for (std::size_t r = 0; r < point.runs.size(); ++r, ++number) {
      if (number % raster.runs_a_row == 0) {
        if (!raster.rows.empty() && raster.runs_a_row > 1) raster.rows.back().name += " … " + last;
        raster.rows.push_back({row_name(table, point, r), point.overhead, {}});
      }
      if (raster.runs_a_row > 1) last = row_name(table, point, r);
      auto& row = raster.rows.back().ticks;
      const auto& ticks = point.runs[r].ticks;
      row.resize(std::max(row.size(), (ticks.size() + raster.steps_a_column - 1) / raster.steps_a_column));
      for (std::size_t i = 0; i < ticks.size(); ++i) row[i / raster.steps_a_column] = std::max(row[i / raster.steps_a_column], ticks[i]);
    }
  }
  const auto& classes = measured.prepared.classes();
  for (std::size_t c = 0; c < classes.list.size(); ++c) {
    const auto& each = classes.list[c];
    const double to = c + 1 < classes.list.size() ? (each.high + classes.list[c + 1].low) / 2.0 : classes.outlier();
    raster.levels.push_back({each.centre - overhead, to, each.support});
  }
  return raster;
}

bool has_trace(const compiler::Stage& stage, const StageResult& kept) {
  return kept.table.timing == records::Table::Timing::Each && stage.keep == compiler::Keep::Raw && !kept.table.points.empty();
}

}  // namespace

std::size_t Figure::size() const {
  std::size_t dots = 0;
  for (const auto& each : series) dots += each.dots.size();
  return dots;
}

Result<Figures> figures(const compiler::Program& program, const RunResult& result, std::size_t cells) {
  auto file = compiler::file_scope(program);
  if (!file) return file.error();
  const auto stage_of = [&](const std::string& name) { return std::find_if(program.stages.begin(), program.stages.end(), [&](const auto& stage) { return stage.name == name; }); };
  std::size_t traces = 0;
  for (const auto& kept : result.stages) {
    const auto stage = stage_of(kept.name);
    traces += stage != program.stages.end() && has_trace(*stage, kept) ? 1 : 0;
  }
  Figures made;
  for (const auto& kept : result.stages) {
    const auto stage = stage_of(kept.name);
    if (stage == program.stages.end() || kept.table.points.empty()) continue;
    const bool trace = has_trace(*stage, kept);
    if (!trace && stage->plots.empty()) continue;
    compiler::Names scope(&*file);
    for (const auto& [earlier, findings] : kept.inputs) scope.set(earlier, findings);
    const infer::PreparedRecords prepared(kept.table);
    const Measured measured{*stage, kept, prepared, scope};
    for (const auto& plot : stage->plots) {
      auto figure = figure_of(measured, plot, result.findings);
      if (figure.size() > 0) made.plots.push_back(std::move(figure));
    }
    if (!trace) continue;
    auto raster = raster_of(measured, cells / traces);
    if (raster.accesses > 0) made.rasters.push_back(std::move(raster));
  }
  return made;
}

}  // namespace gexp::result
