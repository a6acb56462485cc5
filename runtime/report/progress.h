// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gexp::report {

/// How far something is that takes a while.
struct Going {
  std::string what;               ///< "cache_structure [2/6] capacity"
  std::string things = "points";  ///< what is counted
  std::size_t done = 0;
  std::optional<std::size_t> of;  ///< where it is known beforehand
  std::optional<double> rate;     ///< things a second
  std::optional<double> left;     ///< seconds
  std::string at;                 ///< "n = 64 KiB"
};

/// "cache_structure [2/6] capacity: 37 of 126 points, 4.2/s, 21 s left, n = 64 KiB"
std::string progress_text(const Going& going);
/// The same with a bar, in at most so many columns: what does not fit is left out, the least important first.
std::string progress_line(const Going& going, std::size_t width, bool colour);

/// How fast things get done, by when each of them began.
class Speed {
 public:
  void begin(double seconds) { times_.push_back(seconds); }
  /// A second; nothing before there is something to tell it by.
  [[nodiscard]] std::optional<double> rate() const;
  /// Seconds for the rest of so many, at the pace of the later half of those done: points of a sweep tend to grow.
  [[nodiscard]] std::optional<double> left(std::size_t of) const;

 private:
  std::vector<double> times_;
};

}  // namespace gexp::report
