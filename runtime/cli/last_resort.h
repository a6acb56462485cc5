// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "lang/base/budget.h"

namespace gexp::cli {

/// While one lives, a command that is over by `budget` and does not end by itself is ended with a message: whatever loop, library or
/// file it waits for. For what loses nothing by it. It gives the orderly end some time, unless the memory grows far beyond the limit.
class LastResort {
 public:
  explicit LastResort(const Budget& budget);
  ~LastResort();
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;

 private:
  void watch();

  const Budget& budget_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

/// One that looks at the memory alone: for commands that have NVRTC compile somebody else's text, which nobody else can stop. What was
/// measured by then is in the store.
class MemoryWatch {
 public:
  /// Bytes; 0: as much as gexp may hold.
  explicit MemoryWatch(std::uint64_t memory) : budget_({.memory = memory}), last_resort_(budget_) {}

 private:
  const Budget budget_;
  const LastResort last_resort_;
};

}  // namespace gexp::cli
