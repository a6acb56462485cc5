// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>

namespace gexp {

/// Items 0 … count - 1, worked on by up to `workers` threads and taken in one by one, in their order, by the calling thread, so
/// that what is made of them does not depend on how many threads there are. Returns when every item that was begun has ended.
///
/// `work` is called on any thread, once for each item. When `take` says false, no further item is begun or taken. Item i is begun
/// once item i - `ahead` is taken, so fewer than `ahead` are then worked on in vain.
void in_order(std::size_t count, std::size_t workers, std::size_t ahead, const std::function<void(std::size_t)>& work,
              const std::function<bool(std::size_t)>& take);

/// The same where nothing is taken in: each item is worked on once, by any thread.
inline void in_any_order(std::size_t count, std::size_t workers, const std::function<void(std::size_t)>& work) {
  in_order(count, workers, count, work, [](std::size_t) { return true; });
}

}  // namespace gexp
