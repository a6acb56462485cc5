// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "tests/differential/program.h"

namespace gexp::differential {

/// Says of each program, in one go, whether it still fails.
using StillFails = std::function<std::vector<bool>(const std::vector<Program>&)>;

/// A smaller program that fails too: statements are dropped and expressions replaced by their parts or by constants, as long as that works.
Program shrink(Program program, const StillFails& still_fails);

}  // namespace gexp::differential
