// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/device/backend.h"
#include "tests/differential/program.h"

namespace gexp::differential {

/// Gives the PTX of a program's kernel the cache of S-L1, in a form that its seed chooses. How many of its loops have it.
Result<std::uint32_t> add_soft_l1(device::KernelImage& image, const Program& program);

}  // namespace gexp::differential
