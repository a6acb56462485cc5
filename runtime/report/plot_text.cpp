// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/plot_text.h"

#include "runtime/report/heat.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace gexp::report {
namespace {

using result::Axis;
using result::Figure;
using result::Series;

constexpr std::size_t kRows = 12, kMostColumns = 100, kLeastColumns = 16;
/// Of a terminal, by series: its own six, which follow the reader's theme, then of its 256 those that stay apart on light and dark.
constexpr std::array<std::string_view, 16> kColours = {"34", "33", "32", "35", "36", "31", "38;5;208", "38;5;99", "38;5;205", "38;5;37", "38;5;142", "38;5;173", "38;5;68", "38;5;127", "38;5;245", "38;5;71"};

/// An axis with its ends: where between them a value lies, 0..1.
struct Scale {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool log = false;

  void cover(double value) { low = std::min(low, value), high = std::max(high, value); }
  [[nodiscard]] double at(double value) const {
    if (high <= low) return 0.5;
    return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
};

std::pair<Scale, Scale> scales(const Figure& figure) {
  Scale x, y;
  for (const auto& series : figure.series) {
    for (const auto& dot : series.dots) x.cover(dot.x), y.cover(dot.y);
  }
  x.log = figure.x.log && x.low > 0;
  y.log = figure.y.log && y.low > 0;
  if (!y.log && y.low > 0) y.low = 0;
  return {x, y};
}

/// A character: the dots in it, and whose they are.
struct Cell {
  std::uint8_t dots = 0;
  std::size_t series = 0;
  bool rough = false, mark = false;
};

class Canvas {
 public:
  explicit Canvas(std::size_t columns) : columns_(columns), cells_(columns * kRows) {}

  void dot(double x, double y, std::size_t series, bool rough) {
    const auto across = static_cast<std::size_t>(std::lround(std::clamp(x, 0.0, 1.0) * static_cast<double>(2 * columns_ - 1)));
    const auto down = static_cast<std::size_t>(std::lround((1 - std::clamp(y, 0.0, 1.0)) * static_cast<double>(4 * kRows - 1)));
    // Unicode numbers the dots of a Braille character by columns, the lowest row last.
    static constexpr std::uint8_t kBit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    auto& cell = cells_[down / 4 * columns_ + across / 2];
    cell.dots |= kBit[down % 4][across % 2];
    cell.series = series;
    cell.rough |= rough;
  }
  void line(double x0, double y0, double x1, double y1, std::size_t series) {
    const int steps = static_cast<int>(std::ceil(std::max(std::fabs(x1 - x0) * static_cast<double>(2 * columns_), std::fabs(y1 - y0) * 4 * kRows)));
    for (int i = 0; i <= steps; ++i) {
      const double part = steps ? static_cast<double>(i) / steps : 0;
      dot(x0 + (x1 - x0) * part, y0 + (y1 - y0) * part, series, false);
    }
  }
  void mark(double x) {
    const auto column = static_cast<std::size_t>(std::clamp(x, 0.0, 1.0) * static_cast<double>(columns_ - 1));
    for (std::size_t row = 0; row < kRows; ++row) cells_[row * columns_ + column].mark = true;
  }
  [[nodiscard]] std::string row(std::size_t number, bool colour, bool letters) const {
    std::string text;
    for (std::size_t c = 0; c < columns_; ++c) {
      const auto& cell = cells_[number * columns_ + c];
      std::string sign = " ";
      if (cell.rough) sign = "o";
      else if (cell.dots && letters) sign = std::string(1, static_cast<char>('a' + cell.series % 26));
      else if (cell.dots) sign = {static_cast<char>(0xe2), static_cast<char>(0xa0 | cell.dots >> 6), static_cast<char>(0x80 | (cell.dots & 0x3f))};  // U+2800 + dots
      else if (cell.mark) sign = "┊";
      text += colour && cell.dots ? fmt::format("\033[{}m{}\033[0m", kColours[cell.series % kColours.size()], sign) : sign;
    }
    return text.erase(text.find_last_not_of(' ') + 1);
  }

 private:
  std::size_t columns_;
  std::vector<Cell> cells_;
};

void draw(const Series& series, std::size_t number, const Scale& x, const Scale& y, Canvas& canvas) {
  const auto& dots = series.dots;
  bool cloud = false;  // several y at an x: no curve
  for (std::size_t i = 1; i < dots.size(); ++i) cloud |= dots[i].x == dots[i - 1].x;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    if (i > 0 && !cloud) canvas.line(x.at(dots[i - 1].x), y.at(dots[i - 1].y), x.at(dots[i].x), y.at(dots[i].y), number);
    canvas.dot(x.at(dots[i].x), y.at(dots[i].y), number, false);
  }
  for (const auto& dot : dots) {
    if (!dot.converged) canvas.dot(x.at(dot.x), y.at(dot.y), number, true);
  }
}

}  // namespace

std::string plot_text(const Figure& figure, std::size_t columns, bool colour) {
  if (figure.heatmap) return heat_text(figure, columns);
  if (figure.size() == 0) return {};
  const auto [x, y] = scales(figure);
  const auto top = show(y.high, figure.y.dimension), bottom = show(y.low, figure.y.dimension);
  const auto margin = std::max(top.size(), bottom.size()) + 3;  // two before, one behind
  if (columns < margin + kLeastColumns) return {};
  const auto width = std::min(columns, kMostColumns) - margin - 1;
  const bool several = figure.series.size() > 1;
  Canvas canvas(width);
  for (const auto& mark : figure.marks) {
    if (!mark.level && mark.at >= x.low && mark.at <= x.high) canvas.mark(x.at(mark.at));
  }
  for (std::size_t s = 0; s < figure.series.size(); ++s) draw(figure.series[s], s, x, y, canvas);

  const auto scale = [](const Axis& axis, const Scale& made) { return axis.name + (made.log ? " (log)" : ""); };
  std::string out = fmt::format("  {}: {} over {}\n", figure.stage, scale(figure.y, y), scale(figure.x, x));
  for (std::size_t row = 0; row < kRows; ++row) {
    out += fmt::format("  {:>{}} │{}\n", row == 0 ? top : row == kRows - 1 ? bottom : "", margin - 3, canvas.row(row, colour, several && !colour));
  }
  const auto left = show(x.low, figure.x.dimension), right = show(x.high, figure.x.dimension);
  std::string rule;
  for (std::size_t c = 0; c < width; ++c) rule += "─";
  out += fmt::format("{:{}}└{}\n", "", margin, rule);
  if (left.size() + right.size() < width) out += fmt::format("{:{}} {}{:>{}}\n", "", margin, left, right, width - left.size());
  std::string legend;
  for (std::size_t s = 0; s < figure.series.size() && several; ++s) {
    legend += legend.empty() ? "" : ", ";
    legend += colour ? fmt::format("\033[{}m━\033[0m {}", kColours[s % kColours.size()], figure.series[s].name) : fmt::format("{} {}", static_cast<char>('a' + s % 26), figure.series[s].name);
  }
  if (!legend.empty()) out += fmt::format("{:{}} {}\n", "", margin, legend);
  for (const auto& mark : figure.marks) out += fmt::format("{:{}} {} {} = {}\n", "", margin, mark.level ? "level" : "┊", mark.finding, mark.text);
  std::size_t rough = 0;
  for (const auto& series : figure.series) rough += static_cast<std::size_t>(std::count_if(series.dots.begin(), series.dots.end(), [](const auto& dot) { return !dot.converged; }));
  if (rough) out += fmt::format("{:{}} o {} not converged\n", "", margin, rough);
  return out;
}

}  // namespace gexp::report
