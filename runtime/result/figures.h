// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program.h"
#include "runtime/result/result.h"

/// What a report draws, read from the records once: plain numbers, whoever draws them.
namespace gexp::result {

struct Axis {
  std::string name;  ///< "median(lat)"
  Dimension dimension;
  bool log = false;
};

/// A measured point, or one access of it.
struct Dot {
  double x = 0, y = 0;  ///< in base units
  bool converged = true;
};

struct Series {
  std::string name;  ///< "stride = 32 B"; empty where there is one
  std::vector<Dot> dots;  ///< by x
};

/// A finding that lies on the figure: a place on its x axis (a capacity, a knee) or a level of its y axis (a plateau, a latency).
struct Mark {
  std::string finding;  ///< "capacity.C"
  std::string text;     ///< its value as a reader would write it
  double at = 0;
  std::optional<std::pair<double, double>> interval;
  bool level = false;
};

/// A `plot` of the spec.
struct Figure {
  std::string stage;
  Axis x, y;
  std::vector<Series> series;
  std::vector<Mark> marks;
  bool heatmap = false;  ///< a row for each series; else a curve
  [[nodiscard]] std::size_t size() const;  ///< dots of all series
};

/// Every access of a stage that is timed `each` and kept `raw`: a row a run, a column an access. Where there are more than fit, a cell is
/// the slowest of several, so that a rare miss stays.
struct Raster {
  struct Row {
    std::string name;          ///< "n = 12 KiB, run 2"; of several rows in one, the first's and the last's
    double overhead = 0;       ///< cycles of each tick that are the timed region's own
    std::vector<std::uint32_t> ticks;  ///< by column; shorter than others where the walk is
  };
  struct Level {
    double centre = 0;         ///< median cycles, the region's own subtracted
    double to = 0;             ///< ticks above this are slower
    std::uint64_t support = 0; ///< accesses
  };
  std::string stage, record;
  std::vector<Row> rows;
  std::vector<Level> levels;   ///< latency classes, the fastest first; the last one's `to` is where outliers begin
  std::size_t runs = 0, steps = 0;             ///< rows and columns before any were joined
  std::size_t runs_a_row = 1, steps_a_column = 1;
  std::uint64_t accesses = 0;
};

struct Figures {
  std::vector<Figure> plots;
  std::vector<Raster> rasters;
};

/// Of a result that `infer_again` has read. `cells`: most cells of all rasters together. A plot of which nothing was measured is left out.
Result<Figures> figures(const compiler::Program& program, const RunResult& result, std::size_t cells);

}  // namespace gexp::result
