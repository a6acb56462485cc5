// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/lanes.h"

#include <array>
#include <bit>
#include <utility>

#include "runtime/sim/compute.h"

// One function an operation, so that the choice among operations is made once a warp and not once a lane.
namespace gexp::sim {
namespace {

template <Op O> void run(const Instruction& i, std::uint32_t mask, std::uint32_t width, const std::uint64_t* a, const std::uint64_t* b,
                         const std::uint64_t* c, std::uint64_t* to) {
  if (mask == (width == 32 ? ~0u : (1u << width) - 1)) {
    for (std::uint32_t lane = 0; lane < width; ++lane) to[lane] = compute(O, i, a[lane], b[lane], c[lane]);
    return;
  }
  for (; mask != 0; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    to[lane] = compute(O, i, a[lane], b[lane], c[lane]);
  }
}

template <Op O> std::uint64_t run_one(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c) { return compute(O, i, a, b, c); }

constexpr std::size_t kOperations = static_cast<std::size_t>(Op::CvtPack) + 1;

template <std::size_t... I> constexpr std::array<LaneFunction, kOperations> table(std::index_sequence<I...>) { return {run<static_cast<Op>(I)>...}; }
template <std::size_t... I> constexpr std::array<ScalarFunction, kOperations> scalars(std::index_sequence<I...>) {
  return {run_one<static_cast<Op>(I)>...};
}

constexpr auto kFunctions = table(std::make_index_sequence<kOperations>());
constexpr auto kScalars = scalars(std::make_index_sequence<kOperations>());

}  // namespace

LaneFunction lane_function(Op op) { return kFunctions[static_cast<std::size_t>(op)]; }
ScalarFunction scalar_function(Op op) { return kScalars[static_cast<std::size_t>(op)]; }

}  // namespace gexp::sim
