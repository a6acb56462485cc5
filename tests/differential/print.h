// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "tests/differential/program.h"

namespace gexp::differential {

/// What stands before the kernels of a text: the operations.
std::string preamble();
/// The kernel with its functions and constants, all named after its number. What it does not use is left out.
std::string print(const Program& program);
/// One text with all of them.
std::string print_all(std::span<const Program> programs);

}  // namespace gexp::differential
