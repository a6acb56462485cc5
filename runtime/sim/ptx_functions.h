// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "lang/base/result.h"
#include "runtime/sim/ptx.h"

namespace gexp::sim {

/// Holds each call against the function that it names, and makes room for the frames of functions in the threads' local memory. What
/// is wrong with them, if anything is: E0801.
std::optional<Diagnostic> link_functions(Kernel& kernel);

}  // namespace gexp::sim
