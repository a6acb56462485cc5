// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "runtime/sim/ptx.h"

namespace gexp::sim {

/// Registers of 4 bytes that a thread of the kernel needs, functions that it calls included (ptx/registers.h).
std::uint32_t estimate_registers(const Kernel& kernel);

}  // namespace gexp::sim
