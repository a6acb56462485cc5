// SPDX-License-Identifier: Apache-2.0
// Heat maps: which cell is what, how many are joined, and texts of strangers.
#include <doctest/doctest.h>

#include "runtime/report/heat.h"
#include "runtime/report/plot_text.h"
#include "tests/report/texts.h"

using namespace gexp;
using namespace gexp::report;
using namespace gexp::test;
using result::Figure;

namespace {

Figure figure(std::size_t rows, std::size_t columns) {
  Figure made{"s", {"stride", kBytes, false}, {"average", kCycles, false}, {}, {}, true};
  for (std::size_t r = 0; r < rows; ++r) {
    made.series.push_back({"n = " + std::to_string(r), {}});
    for (std::size_t c = 0; c < columns; ++c) {
      if (r != c + 1) made.series.back().dots.push_back({static_cast<double>(c), static_cast<double>(10 * r + c), true});
    }
  }
  return made;
}

}  // namespace

TEST_CASE("a cell is the value of its row and column, or nothing") {
  const auto heat = heat_of(figure(3, 4), 10, 10);
  CHECK(heat.rows == std::vector<std::string>{"n = 0", "n = 1", "n = 2"});
  CHECK(heat.columns == std::vector<std::string>{"0 B", "1 B", "2 B", "3 B"});
  CHECK(heat.cells[2][3] == 23.0);
  CHECK(!heat.cells[1][0]);
  CHECK(heat.low == 0);
  CHECK(heat.high == 23);
  CHECK(heat.shade(23, false) == 1);
  CHECK(heat.shade(0, true) == 0);
}

TEST_CASE("a huge map joins cells, and the largest stays") {
  const auto heat = heat_of(figure(1000, 500), 64, 64);
  CHECK(heat.rows.size() <= 64);
  CHECK(heat.columns.size() <= 64);
  CHECK(heat.a_row == 16);
  CHECK(heat.a_column == 8);
  CHECK(heat.rows[0] == "n = 0 … n = 15");
  CHECK(heat.cells[0][0] == 157.0);
  CHECK(heat.high == 999 * 10 + 499);
  const auto page = heat_html(figure(1000, 500));
  CHECK(count(page, "<tr>") == 64);
  CHECK(page.find("a cell is the largest of 16 by 8 values") != std::string::npos);
}

TEST_CASE("in a terminal: shades, the largest size at the top; nothing where there is no room") {
  const auto text = plot_text(figure(3, 4), 80, false);
  CHECK(text == "  s: average over stride and n\n"
                "  n = 2 │██  ████\n"
                "  n = 1 │  ▒▒▒▒▒▒\n"
                "  n = 0 │········\n"
                "         0 B  3 B\n"
                "         ·· 0 cycles to ██ 23 cycles\n");
  CHECK(plot_text(figure(3, 4), 12, false).empty());
  CHECK(plot_text(figure(0, 0), 80, false).empty());
  CHECK(heat_html(figure(0, 0)).empty());
}

TEST_CASE("one value has one shade, and a stranger's text is a text") {
  auto made = figure(1, 2);
  made.series[0].dots = {{0, 5, true}, {1, 5, true}};
  made.series[0].name = "n = <script>alert(1)</script>";
  made.stage = "\"><b>";
  const auto page = heat_html(made);
  CHECK(page.find("<script>") == std::string::npos);
  CHECK(page.find("<b>") == std::string::npos);
  CHECK(count(page, "rgba(214,106,32,0.50)") == 2);
}
