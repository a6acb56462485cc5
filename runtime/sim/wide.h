// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "runtime/sim/ptx.h"
#include "runtime/sim/warp.h"

namespace gexp::sim {

/// An instruction of more operands than three, or whose lanes know of each other.
struct WideCall {
  const Instruction& i;
  Warp& warp;
  std::uint32_t lanes;          ///< that run it, together
  const std::uint32_t* reads;   ///< slots: i.reads of them
  const std::uint32_t* writes;  ///< slots: i.writes of them
};

using WideFunction = void (*)(const WideCall& call);
WideFunction wide_function(WideOp op);

/// mma (wide_mma.cpp).
void multiply_matrices(const WideCall& call);

}  // namespace gexp::sim
