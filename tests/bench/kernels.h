// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace gexp::bench {

/// Prints how fast the simulator runs kernels of each kind, those whose names have `filter` in them.
void kernels(const std::string& filter);

}  // namespace gexp::bench
