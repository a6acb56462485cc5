// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/lanes.h"

#include <array>
#include <bit>
#include <cmath>
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

/// Of single-precision floats, where nothing but the operation decides: rounded to nearest, and every NaN with the same bits.
template <Op O> void run_float(const Instruction&, std::uint32_t mask, std::uint32_t, const std::uint64_t* a, const std::uint64_t* b,
                               const std::uint64_t* c, std::uint64_t* to) {
  for (; mask != 0; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    const auto value = [lane](const std::uint64_t* slot) { return std::bit_cast<float>(static_cast<std::uint32_t>(slot[lane])); };
    const float result = O == Op::FAdd   ? value(a) + value(b)
                         : O == Op::FSub ? value(a) - value(b)
                         : O == Op::FMul ? value(a) * value(b)
                                         : std::fma(value(a), value(b), value(c));
    to[lane] = std::isnan(result) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(result);
  }
}

bool is_plain(const Instruction& i) { return i.type == Type::F32 && !i.saturate && !i.nan && !i.magnitude && !i.flush && i.inexact == 0; }

template <Op O> std::uint64_t run_one(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return compute(O, i, a, b, c);
}

constexpr std::size_t kOperations = static_cast<std::size_t>(Op::CvtPack) + 1;

template <std::size_t... I> constexpr std::array<LaneFunction, kOperations> table(std::index_sequence<I...>) {
  return {run<static_cast<Op>(I)>...};
}
template <std::size_t... I> constexpr std::array<ScalarFunction, kOperations> scalars(std::index_sequence<I...>) {
  return {run_one<static_cast<Op>(I)>...};
}

constexpr auto kFunctions = table(std::make_index_sequence<kOperations>());
constexpr auto kScalars = scalars(std::make_index_sequence<kOperations>());

}  // namespace

LaneFunction lane_function(const Instruction& i) {
  if (is_plain(i)) {
    switch (i.op) {
      case Op::FAdd: return run_float<Op::FAdd>;
      case Op::FSub: return run_float<Op::FSub>;
      case Op::FMul: return run_float<Op::FMul>;
      case Op::FFma: return run_float<Op::FFma>;
      default: break;
    }
  }
  return kFunctions[static_cast<std::size_t>(i.op)];
}
ScalarFunction scalar_function(Op op) { return kScalars[static_cast<std::size_t>(op)]; }

}  // namespace gexp::sim
