// SPDX-License-Identifier: Apache-2.0
#include "lang/base/in_order.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "lang/base/budget.h"

namespace gexp {

void in_order(std::size_t count, std::size_t workers, std::size_t ahead, const std::function<void(std::size_t)>& work,
              const std::function<bool(std::size_t)>& take) {
  workers = std::min({workers, ahead, count});
  std::mutex mutex;  // of everything below
  std::condition_variable changed;
  std::vector<bool> ended(count);
  std::size_t begun = 0, taken = 0;
  bool stop = false;
  const auto run = [&, budget = Budget::own()] {
    const Budget::Use use(budget);
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return stop || begun == count || begun < taken + ahead; });
      if (stop || begun == count) return;
      const auto item = begun++;
      lock.unlock();
      work(item);
      lock.lock();
      ended[item] = true;
      changed.notify_all();
    }
  };
  std::vector<std::jthread> threads;
  try {
    while (workers > 1 && threads.size() < workers) threads.emplace_back(run);
  } catch (const std::system_error&) {  // the system gives no more threads: those that there are will do
  }
  if (threads.empty()) {
    for (std::size_t i = 0; i < count; ++i) {
      work(i);
      if (!take(i)) return;
    }
    return;
  }
  std::unique_lock lock(mutex);
  while (taken < count && !stop) {
    changed.wait(lock, [&] { return ended[taken]; });
    lock.unlock();
    const bool more = take(taken);
    lock.lock();
    ++taken;
    stop = !more;
    changed.notify_all();
  }
}

}  // namespace gexp
