// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace gexp::device {

/// How a device does at one moment, as its management library tells. Numbers that it does not tell are 0.
struct Condition {
  double sm_clock_hz = 0, sm_clock_max_hz = 0, memory_clock_hz = 0;
  int temperature = 0;  ///< degrees Celsius
  int busy = 0;         ///< percent of the last moments in which some kernel ran, ours included
  /// What holds its clocks down now: "power cap", "thermal slowdown", … Clocks that somebody set are none.
  std::vector<std::string> slowed;
  struct Process {
    std::uint32_t pid = 0;    ///< as the driver numbers it: inside a container it may be the host's
    std::uint64_t bytes = 0;  ///< of the device's memory; 0: not told
  };
  std::vector<Process> others;  ///< other processes that compute on it
};

}  // namespace gexp::device
