// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>

#include "lang/base/in_order.h"
#include "runtime/infer/cut_short.h"

namespace gexp::infer {

/// f(0) … f(count - 1), each once and on any of the threads that the budget allows; without a budget on this one. What they make must not
/// depend on their order. CutShort, where one of them was.
template <class F> void in_parallel(std::size_t count, const F& f) {
  std::atomic<bool> was_cut_short = false;
  const auto guarded = [&](std::size_t i) {
    try {
      if (!was_cut_short) f(i);
    } catch (const CutShort&) {
      was_cut_short = true;
    }
  };
  in_any_order(count, Budget::own() ? Budget::own()->threads() : 1, guarded);
  if (was_cut_short) cut_short();
}

}  // namespace gexp::infer
