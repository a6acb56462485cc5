// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

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
/// wgmma: what a warp has of the product of two matrices in its block's shared memory. Why it cannot be; null: it was done.
const char* multiply_shared(const WideCall& call, std::span<const std::byte> shared);
/// wmma.mma (wide_fragments.cpp).
void multiply_fragments(const WideCall& call);

}  // namespace gexp::sim
