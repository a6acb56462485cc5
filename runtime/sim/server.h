// SPDX-License-Identifier: Apache-2.0
#pragma once
namespace gexp::sim {

/// Serves one request after another, in the order in which they come. Cycles, with fractions.
class Server {
 public:
  /// Cycles that a request of `service` cycles, coming at `time`, waits for those before it.
  double wait(double time, double service) {
    if (service <= 0) return 0;
    // Mostly nobody is before it. As a branch, what comes after need not wait for this comparison.
    if (free_ <= time) [[likely]] {
      free_ = time + service;
      return 0;
    }
    const double wait = free_ - time;
    free_ += service;
    return wait;
  }
  /// When it has nothing left to do.
  [[nodiscard]] double free() const { return free_; }

 private:
  double free_ = 0;
};

}  // namespace gexp::sim
