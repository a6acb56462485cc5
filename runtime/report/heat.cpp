// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/heat.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "runtime/report/escape.h"

namespace gexp::report {
namespace {

using result::Figure;

constexpr std::size_t kTextRows = 32, kMostTextColumns = 48, kLeastText = 24;
constexpr std::size_t kPageRows = 64, kPageColumns = 64;
constexpr std::array<std::string_view, 5> kShades = {"··", "░░", "▒▒", "▓▓", "██"};

std::string joined(const std::string& first, const std::string& last) { return first == last ? first : first + " … " + last; }

std::size_t groups(std::size_t all, std::size_t most) { return (all + most - 1) / most; }

std::string note(const Heat& heat) {
  if (heat.a_row == 1 && heat.a_column == 1) return {};
  return fmt::format("a cell is the largest of {} by {} values", heat.a_row, heat.a_column);
}

}  // namespace

double Heat::shade(double value, bool log) const {
  if (high <= low) return 0.5;
  return std::clamp(log && low > 0 ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low), 0.0, 1.0);
}

Heat heat_of(const Figure& figure, std::size_t most_rows, std::size_t most_columns) {
  Heat heat;
  std::vector<double> xs;
  for (const auto& series : figure.series) {
    for (const auto& dot : series.dots) xs.push_back(dot.x);
  }
  if (xs.empty()) return heat;
  std::sort(xs.begin(), xs.end());
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  heat.a_column = groups(xs.size(), most_columns), heat.a_row = groups(figure.series.size(), most_rows);
  const auto text = [&](std::size_t x) { return show(xs[std::min(x, xs.size() - 1)], figure.x.dimension); };
  for (std::size_t x = 0; x < xs.size(); x += heat.a_column) heat.columns.push_back(joined(text(x), text(x + heat.a_column - 1)));
  heat.low = INFINITY, heat.high = -INFINITY;
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    const auto& series = figure.series[s];
    if (s % heat.a_row == 0) {
      heat.rows.push_back(joined(series.name, figure.series[std::min(s + heat.a_row - 1, figure.series.size() - 1)].name));
      heat.cells.emplace_back(heat.columns.size());
    }
    for (const auto& dot : series.dots) {
      const auto at = static_cast<std::size_t>(std::lower_bound(xs.begin(), xs.end(), dot.x) - xs.begin()) / heat.a_column;
      auto& cell = heat.cells.back()[at];
      cell = std::max(cell.value_or(dot.y), dot.y);
    }
  }
  for (const auto& row : heat.cells) {
    for (const auto& cell : row) {
      if (cell) heat.low = std::min(heat.low, *cell), heat.high = std::max(heat.high, *cell);
    }
  }
  return heat;
}

std::string heat_text(const Figure& figure, std::size_t columns) {
  std::size_t widest = 0;
  for (const auto& series : figure.series) widest = std::max(widest, series.name.size());
  widest = std::min<std::size_t>(widest, 32);
  if (figure.size() == 0 || columns < widest + kLeastText) return {};
  const auto heat = heat_of(figure, kTextRows, std::min(kMostTextColumns, (columns - widest - 5) / 2));
  std::string out = fmt::format("  {}: {} over {} and {}\n", figure.stage, figure.y.name, figure.x.name, figure.series.front().name.substr(0, figure.series.front().name.find(" = ")));
  for (std::size_t row = heat.rows.size(); row-- > 0;) {
    std::string line;
    for (const auto& cell : heat.cells[row]) line += cell ? kShades[std::min<std::size_t>(4, static_cast<std::size_t>(heat.shade(*cell, figure.y.log) * 5))] : std::string_view("  ");
    out += fmt::format("  {:>{}} │{}\n", heat.rows[row].size() > widest ? heat.rows[row].substr(0, widest) : heat.rows[row], widest, line);
  }
  const auto width = 2 * heat.columns.size();
  const auto &left = heat.columns.front(), &right = heat.columns.back();
  out += fmt::format("  {:{}}  {}{:>{}}\n", "", widest, left, left.size() + right.size() + 1 <= width ? right : " … " + right, left.size() + right.size() + 1 <= width ? width - left.size() : 0);
  out += fmt::format("  {:{}}  {} {} to {} {}{}{}\n", "", widest, kShades.front(), show(heat.low, figure.y.dimension), kShades.back(), show(heat.high, figure.y.dimension),
                     note(heat).empty() ? "" : "; ", note(heat));
  return out;
}

std::string heat_html(const Figure& figure) {
  if (figure.size() == 0) return {};
  const auto heat = heat_of(figure, kPageRows, kPageColumns);
  std::string head, body;
  for (const auto& column : heat.columns) head += fmt::format("<th scope=\"col\">{}</th>", escaped(column));
  for (std::size_t row = heat.rows.size(); row-- > 0;) {
    std::string cells;
    for (std::size_t c = 0; c < heat.columns.size(); ++c) {
      const auto& cell = heat.cells[row][c];
      if (!cell) {
        cells += "<td></td>";
        continue;
      }
      const auto value = show(*cell, figure.y.dimension);
      cells += fmt::format("<td style=\"background:rgba(214,106,32,{:.2f})\" title=\"{}, {}: {}\">{}</td>", heat.shade(*cell, figure.y.log), escaped(heat.rows[row]),
                           escaped(heat.columns[c]), escaped(value), escaped(value));
    }
    body += fmt::format("<tr><th scope=\"row\">{}</th>{}</tr>\n", escaped(heat.rows[row]), cells);
  }
  return fmt::format("<figure class=\"figure\" data-heat=\"{0}\"><div class=\"heat\"><table><caption>{0}: {1} over {2}; darker is more{3}</caption><thead><tr><th></th>{4}</tr></thead><tbody>\n{5}"
                     "</tbody></table></div></figure>",
                     escaped(figure.stage), escaped(figure.y.name), escaped(figure.x.name), note(heat).empty() ? "" : "; " + note(heat), head, body);
}

}  // namespace gexp::report
