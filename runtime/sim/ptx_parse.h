// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "lang/base/result.h"
#include "runtime/sim/ptx.h"

namespace gexp::sim {

/// The kernel `entry` of a PTX module (as NVRTC 11.8 to 13 writes them), decoded. What this simulator does not know
/// (instruction, directive, special register, operand form) is E0801, naming it and its line. Bodies of other kernels are skipped.
Result<Kernel> parse_ptx(std::string_view text, std::string_view entry);

}  // namespace gexp::sim
