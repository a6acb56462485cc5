// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "runtime/sim/ptx.h"

namespace gexp::sim {

/// Registers of 4 bytes that a thread of the kernel needs, about: the most that are live at one place, and a few for what a compiler
/// adds (assumed: 8), in steps of 8. PTX has as many registers as it likes; how many a block takes decides how many blocks fit an SM.
std::uint32_t estimate_registers(const Kernel& kernel);

}  // namespace gexp::sim
