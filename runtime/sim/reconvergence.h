// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/sim/ptx.h"

namespace gexp::sim {

/// Notes at each branch where lanes that part there meet again: Instruction::meeting.
void note_meetings(Kernel& kernel);

}  // namespace gexp::sim
