// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/differential/program.h"

namespace gexp::differential {

/// The largest launch of a random kernel, both powers of two.
struct Limits {
  std::uint32_t block = 256, grid = 4;
  bool walks = false;  ///< most statements are loops that go through arrays, in many ways; each array is behind a parameter of its own
};

/// The kernel of a seed: always the same one.
Program generate(std::uint64_t seed, const Limits& limits);

/// What global memory holds before its launch.
Memory initial_memory(const Program& program);

}  // namespace gexp::differential
