// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lang/base/value.h"
#include "runtime/device/outcome.h"

/// Records as the inference engine sees them: what was accessed, in which order, and how long each access took.
/// Nothing else is known here; above all, nothing of a simulated device.
namespace gexp::records {

/// One repetition of a point.
struct Run {
  /// `timed each`: ticks of every access in order, `steps` of them (cycles, the empty region not yet subtracted).
  /// `timed total`: one value a warp. `timed wall`: one value, the launch's time in nanoseconds.
  /// `timed values`: what the threads kept, one thread after the other, without a unit.
  std::vector<std::uint32_t> ticks;
  /// Indices into `ticks` where a new launch took over (a trace longer than the buffer is measured in windows over repeated
  /// launches with the same warm-up). Always begins with 0. Only within a window is the history that of one run.
  std::vector<std::uint32_t> windows{0};
  double elapsed = 0;  ///< `timed total` by several warps: cycles from the first one's begin to the last one's end on one multiprocessor
  /// Of a stage in a launch of several, by warp: its multiprocessor, and what its clock said before and after the region.
  std::vector<std::uint32_t> sms{};
  std::vector<std::uint64_t> begins{}, ends{};
};

/// One sweep point: its coordinates and everything measured there.
struct Point {
  std::map<std::string, Value> at;        ///< sweep coordinates, then the stage's lets
  std::shared_ptr<const Pattern> walk;    ///< the pattern of the timed chase; null when nothing is chased
  std::int64_t warm_steps = 0;            ///< accesses of the warm-up before the timed region, same launch
  std::shared_ptr<const Pattern> warm_walk;  ///< the (last) warm chase's pattern; null when there is none
  std::int64_t steps = 0;                 ///< timed accesses of a run; access i is at walk->at(0, i mod walk->steps)
  double moved = 0;                       ///< bytes that the timed region reads and writes, over all threads; negative: not known
  double overhead = 0;                    ///< cycles of the empty timed region, same launch shape
  double overhead_error = 0;              ///< its standard error, over the repetitions
  std::vector<Run> runs;
  bool converged = true;                  ///< false: the stopping rule's bound was reached first
  device::Outcome outcome;               ///< of the launch that ended this point, when not Done
  std::vector<Point> beside{};           ///< while it is measured: the same point of the stages in its launch
  std::vector<std::uint32_t> calibration{};  ///< while it is measured: what its runs wrote of the empty region (compiler/plan/calibrate.h)
};

/// All points of one stage, in the order of its sweeps.
struct Table {
  enum class Timing { Each, Total, Wall, Values };
  std::string stage;
  std::string timed;                 ///< the record's name: `lat`, `t`
  Timing timing = Timing::Each;
  std::vector<std::string> columns;  ///< sweep names, outermost first
  std::vector<Point> points;
};

/// Coordinates as a reader would write them: "n = 64 KiB, k = 2"; empty for the only point of a stage without sweeps.
std::string coordinates_text(const std::vector<std::pair<std::string, Value>>& at);
std::string coordinates_text(const Table& table, const Point& point);
/// The same behind the stage's name: "capacity, n = 64 KiB".
std::string place_text(const std::string& stage, const Table& table, const Point& point);

}  // namespace gexp::records
