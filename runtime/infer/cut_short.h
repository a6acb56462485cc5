// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "lang/base/budget.h"

namespace gexp::infer {

/// Thrown where the budget is over, so that nothing is concluded from half of a computation. Whatever other rooms call catches it.
struct CutShort {};

/// What this needs was cut short where it was made, maybe by another thread. CutShort.
[[noreturn]] inline void cut_short() {
  Budget::told_elsewhere();
  throw CutShort{};
}

/// About so many steps of 100 ns are to be made: in every loop whose length records or a spec decide. CutShort.
inline void work(std::size_t steps = 1) {
  if (!Budget::tick(static_cast<std::int64_t>(steps))) throw CutShort{};
}

/// Why a question has no answer.
inline std::string why_cut_short() { return "it was not answered: " + Budget::exceeded({}).message + "; `gexp infer` answers it from the records"; }

}  // namespace gexp::infer
