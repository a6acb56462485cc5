// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "runtime/sim/ptx.h"

namespace gexp::sim {

/// Computes an instruction for the lanes of `mask`. The operands are one value a lane; `width`: lanes there are.
using LaneFunction = void (*)(const Instruction& i, std::uint32_t mask, std::uint32_t width, const std::uint64_t* a, const std::uint64_t* b,
                              const std::uint64_t* c, std::uint64_t* to);
LaneFunction lane_function(const Instruction& i);

/// The same for one lane.
using ScalarFunction = std::uint64_t (*)(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c);
ScalarFunction scalar_function(Op op);

}  // namespace gexp::sim
