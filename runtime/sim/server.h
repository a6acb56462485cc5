// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

namespace gexp::sim {

/// Serves one request after another, in the order in which they come. Cycles, with fractions.
class Server {
 public:
  /// Cycles that a request of `service` cycles, coming at `time`, waits for those before it.
  double wait(double time, double service) {
    if (service <= 0) return 0;
    const double start = std::max(time, free_);
    free_ = start + service;
    return start - time;
  }
  /// When it has nothing left to do.
  [[nodiscard]] double free() const { return free_; }

 private:
  double free_ = 0;
};

}  // namespace gexp::sim
