// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/result/figures.h"

/// A figure as a heat map: a row for each series, a column for each x, a shade for each y.
namespace gexp::report {

/// Where there are more rows or columns than fit, a cell is the largest of several.
struct Heat {
  std::vector<std::string> rows, columns;  ///< what they are: "n = 4 KiB", "32 B"; of several joined the first and the last
  std::vector<std::vector<std::optional<double>>> cells;  ///< by row; nothing was measured where there is none
  double low = 0, high = 0;
  std::size_t a_row = 1, a_column = 1;     ///< series and x that are joined
  /// 0..1 between the lowest and the highest value.
  [[nodiscard]] double shade(double value, bool log) const;
};
Heat heat_of(const result::Figure& figure, std::size_t most_rows, std::size_t most_columns);

/// For a terminal of so many columns: five shades, two characters a cell. Empty where there is nothing to draw or no room.
std::string heat_text(const result::Figure& figure, std::size_t columns);
/// A table, for readers who see no colours, too.
std::string heat_html(const result::Figure& figure);

}  // namespace gexp::report
