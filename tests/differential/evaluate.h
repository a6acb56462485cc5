// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/differential/program.h"

namespace gexp::differential {

/// Runs the kernel on the host, thread after thread within each phase: `memory` as every launch must leave it.
void evaluate(const Program& program, Memory& memory);

}  // namespace gexp::differential
