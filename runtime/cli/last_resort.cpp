// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/last_resort.h"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <optional>

#include "runtime/cli/app.h"

namespace gexp::cli {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(20);
constexpr double kOrderly = 0.9;                    // seconds in which a command ends by itself, if it heard that it has to
constexpr double kOrderlyWork = 0.6, kAnyway = 10;  // seconds of a processor that it has had by then, or how long it waits for one
constexpr std::uint64_t kMemoryBeyond = 256u << 20;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

LastResort::LastResort(const Budget& budget) : budget_(budget), thread_([this] { watch(); }) {}

LastResort::~LastResort() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LastResort::watch() {
  const Budget::Use use(budget_);
  std::optional<Stopwatch> over;
  double work = 0;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLookEvery, [this] { return done_; })) {
    const auto end = budget_.look();
    if (end == Budget::End::None) {
      over.reset();  // memory that was given back
      continue;
    }
    if (!over) over.emplace(), work = processor_seconds();
    // A process that waits uses no processor: one that has had none for long enough waits for something else than one.
    const bool late = over->seconds() > kOrderly && (processor_seconds() - work > kOrderlyWork || over->seconds() > kAnyway);
    if (!late && resident_bytes() <= budget_.memory() + kMemoryBeyond) continue;
    (void)Budget::go_on();
    print(Budget::exceeded({}), nullptr);
    _exit(end == Budget::End::Interrupted ? kInterrupted : end == Budget::End::Memory ? kEnvironment : kFault);
  }
}

}  // namespace gexp::cli
