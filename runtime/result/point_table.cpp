// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/point_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/plan/expand.h"
#include "lang/base/visible.h"
#include "runtime/infer/infer.h"

namespace gexp::result {
namespace {

/// A text as a cell: what a spreadsheet would take for a formula begins with an apostrophe, and what a terminal would obey is an escape.
std::string quoted(const std::string& text) {
  auto safe = visible(text);
  if (!safe.empty() && std::string_view("=+-@").find(safe.front()) != std::string_view::npos) safe.insert(0, 1, '\'');
  if (safe.find_first_of(",\"\n\r") == std::string::npos) return safe;
  std::string cell = "\"";
  for (const char c : safe) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + "\"";
}

/// A row an access: the point's, then run, step, part of the pattern, ticks.
void add_accesses(const records::Point& point, const std::vector<Value>& row, std::vector<std::vector<Value>>& rows) {
  const auto parts = parts_of(point);
  const auto lap = point.walk ? static_cast<std::size_t>(point.walk->steps) : 0;
  for (std::size_t run = 0; run < point.runs.size(); ++run) {
    const auto& ticks = point.runs[run].ticks;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      const auto step = lap ? i % lap : i;
      auto& one = rows.emplace_back(row);
      one.emplace_back(static_cast<double>(run + 1));
      one.emplace_back(static_cast<double>(step));
      one.push_back(step < parts.size() ? Value(parts[step]) : Value());
      one.emplace_back(static_cast<double>(ticks[i]) - point.overhead, kCycles);
    }
  }
}

}  // namespace

bool is_name(const compiler::Formula& formula, const std::string& name) {
  return formula.kind == compiler::Formula::Kind::Name && formula.text == name;
}

bool plots_accesses(const compiler::Plot& plot, const records::Table& table) {
  return is_name(*plot.x, "step") && is_name(*plot.y, table.timed) && table.timing == records::Table::Timing::Each &&
         std::none_of(table.points.begin(), table.points.end(), [](const auto& point) { return point.at.count("step") > 0; });
}

std::vector<std::string> parts_of(const records::Point& point) {
  if (!point.walk || point.walk->segments.empty()) return {};
  std::vector<std::string> parts(static_cast<std::size_t>(point.walk->steps));
  for (const auto& segment : point.walk->segments) std::fill(parts.begin() + segment.first, parts.end(), segment.label);
  return parts;
}

std::vector<Column> columns_of(const compiler::Stage& stage) {
  std::vector<Column> columns;
  for (const auto& derive : stage.derives) columns.push_back({derive.name, derive.formula});
  for (const auto& plot : stage.plots) {
    auto name = compiler::show(*plot.y);
    if (std::none_of(columns.begin(), columns.end(), [&](const Column& other) { return other.name == name; })) columns.push_back({std::move(name), plot.y});
  }
  return columns;
}

Result<compiler::Names> scope_of(const compiler::Program& program, const StageResult& stage) {
  auto scope = compiler::file_scope(program);
  if (!scope) return scope.error();
  for (const auto& [earlier, findings] : stage.inputs) scope->set(earlier, findings);
  return scope;
}

Result<PointTable> point_table(const compiler::Program& program, const RunResult& result, const std::string& name) {
  const auto stage = std::find_if(program.stages.begin(), program.stages.end(), [&](const auto& s) { return s.name == name; });
  if (stage == program.stages.end()) {
    std::vector<std::string_view> names;
    for (const auto& each : program.stages) names.push_back(each.name);
    const auto near = nearest(name, names);
    return failure("E0731", fmt::format("{} has no stage `{}`", program.experiment, name), near ? fmt::format("did you mean `{}`?", *near) : "");
  }
  const auto kept = std::find_if(result.stages.begin(), result.stages.end(), [&](const auto& s) { return s.name == name; });
  if (kept == result.stages.end() || kept->table.points.empty()) return failure("E0731", fmt::format("the result holds no records of stage `{}`", name));
  const auto scope = scope_of(program, *kept);
  if (!scope) return scope.error();

  PointTable table;
  std::vector<compiler::FormulaPtr> formulas;
  const auto column = [&](const std::string& title, compiler::FormulaPtr formula) {
    if (std::find(table.columns.begin(), table.columns.end(), title) != table.columns.end()) return;
    table.columns.push_back(title);
    formulas.push_back(std::move(formula));
  };
  const auto per_access = std::find_if(stage->plots.begin(), stage->plots.end(), [&](const auto& plot) { return plots_accesses(plot, kept->table); });
  const bool accesses = per_access != stage->plots.end();
  for (const auto& sweep : kept->table.columns) column(sweep, nullptr);
  for (auto& each : columns_of(*stage)) {
    if (!accesses || each.name != compiler::show(*per_access->y)) column(each.name, std::move(each.formula));
  }

  const infer::PreparedRecords prepared(kept->table);
  const auto& points = prepared.table().points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<Value> row;
    for (std::size_t c = 0; c < formulas.size(); ++c) {
      if (!formulas[c]) {
        row.push_back(points[i].at.at(table.columns[c]));
        continue;
      }
      auto value = infer::at_point(*formulas[c], prepared.table(), prepared.classes(), i, *stage, *scope);
      row.push_back(value ? std::move(*value) : Value());
    }
    if (accesses) add_accesses(points[i], row, table.rows);
    else table.rows.push_back(std::move(row));
  }
  if (accesses) table.columns.insert(table.columns.end(), {"run", "step", "seg", kept->table.timed});
  if (accesses && std::all_of(table.rows.begin(), table.rows.end(), [](const auto& row) { return !row[row.size() - 2].known(); })) {
    table.columns.erase(table.columns.end() - 2);
    for (auto& row : table.rows) row.erase(row.end() - 2);
  }
  return table;
}

std::string csv(const PointTable& table) {
  std::string out;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::string unit;
    for (const auto& row : table.rows) {
      const auto* number = row[c].get<Number>();
      if (!number || number->dimension.none()) continue;
      unit = " " + gexp::name(number->dimension);
      break;
    }
    out += (c ? "," : "") + quoted(table.columns[c] + unit);
  }
  out += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto* number = row[c].get<Number>();
      out += (c ? "," : "") + (number ? fmt::format("{:.12g}", number->number) : row[c].known() ? quoted(show(row[c])) : std::string());
    }
    out += '\n';
  }
  return out;
}

}  // namespace gexp::result
