// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <bit>
#include <cmath>
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

/// A byte as a whole number.
inline std::int64_t byte_value(std::uint64_t bits, bool with_sign) { return with_sign ? static_cast<std::int8_t>(bits) : static_cast<std::int64_t>(bits); }
/// A sum in single precision; one that is no number is NaN as a GPU writes it.
inline std::uint32_t single_bits(double sum) { return std::isnan(sum) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(static_cast<float>(sum)); }

/// mma (wide_mma.cpp).
void multiply_matrices(const WideCall& call);
/// wgmma: what a warp has of the product of two matrices in its block's shared memory. Why it cannot be; null: it was done.
const char* multiply_shared(const WideCall& call, std::span<const std::byte> shared);
/// wmma.mma (wide_fragments.cpp).
void multiply_fragments(const WideCall& call);

}  // namespace gexp::sim
