// SPDX-License-Identifier: Apache-2.0
// A chase takes from microseconds to seconds. Spinning for the first moments keeps thousands of short launches from paying a
// sleep each; after that a sleep of a twentieth of the time gone, at most a millisecond, costs little of either machine.
#include "runtime/cuda/wait.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/cuda/cuda.h"

namespace gexp::cuda {
namespace {

constexpr double kSpin = 300e-6;
constexpr double kLongestSleep = 1e-3;

std::atomic<bool> interrupt = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

}  // namespace

void request_interrupt() { interrupt.store(true, std::memory_order_relaxed); }
void clear_interrupt() { interrupt.store(false, std::memory_order_relaxed); }
bool interrupt_requested() { return interrupt.load(std::memory_order_relaxed); }

WaitEnd wait_for(const Driver& driver, EventHandle event, double seconds, bool interruptible, int& status) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  bool interrupted = false;
  while (true) {
    status = driver.event_query(event);
    if (status != kNotReady) {
      if (status != kSuccess) return WaitEnd::Failed;
      return interrupted ? WaitEnd::Interrupted : WaitEnd::Done;
    }
    const double gone = std::chrono::duration<double>(Clock::now() - start).count();
    if (interruptible && !interrupted && interrupt_requested()) {
      interrupted = true;
      seconds = std::min(seconds, gone + kInterruptGrace);
    }
    if (gone >= seconds) return interrupted ? WaitEnd::Interrupted : WaitEnd::TimedOut;
    if (gone > kSpin)
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min({gone / 20, kLongestSleep, seconds - gone})));
  }
}

}  // namespace gexp::cuda
