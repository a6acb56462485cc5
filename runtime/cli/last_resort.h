// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <condition_variable>
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

}  // namespace gexp::cli
