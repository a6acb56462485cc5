// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/condition.h"

namespace gexp::measure {

/// Looks at a device's clocks while points are measured, and says which of them were measured at another clock than the others, or
/// while something held the clocks down. It sees what the management library tells, some 20 times a second; a clock that slides under
/// the repetitions of one point shows in the records (infer/drift.h).
class ClockWatch {
 public:
  using Look = std::function<std::optional<device::Condition>()>;
  using Clock = std::function<double()>;  ///< seconds, of any origin
  explicit ClockWatch(Look look, Clock clock = seconds_now);

  /// One more point was measured; `points` of them by now.
  void point(std::size_t points);
  /// Which of all points are unsteady, in order. None where most are at one clock and nothing holds it down, or nobody tells.
  std::vector<std::size_t> unsteady(std::size_t points);

  /// Lowest and highest clock seen, Hz.
  [[nodiscard]] std::pair<double, double> range() const;
  /// What held the clocks down, once each: "power cap, thermal slowdown".
  [[nodiscard]] std::string slowed_by() const;

  [[nodiscard]] bool steady_now() const;
  /// Waits up to two seconds until nothing holds the clocks down. False: something still does.
  [[nodiscard]] bool wait_until_steady() const;

 private:
  struct Sample {
    std::size_t points;  ///< measured before it
    double clock;
    std::vector<std::string> slowed;
  };
  static double seconds_now();
  void sample(std::size_t points);

  Look look_;
  Clock clock_;
  double last_;
  int silent_ = 0;  ///< looks in a row that told nothing
  std::vector<Sample> samples_;
};

}  // namespace gexp::measure
