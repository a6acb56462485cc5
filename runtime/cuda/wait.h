// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/cuda/driver.h"

namespace gexp::cuda {

enum class WaitEnd { Done, Failed, TimedOut, Interrupted };

/// Polls until the event has happened, the driver reports an error (`status`), or `seconds` are over. Blocking calls are no
/// choice: a kernel that never ends would never give the thread back. After an interrupt a kernel still has `kInterruptGrace`
/// seconds: then Interrupted tells through `status` whether it ended (kSuccess) or still runs (kNotReady).
WaitEnd wait_for(const Driver& driver, EventHandle event, double seconds, bool interruptible, int& status);

inline constexpr double kInterruptGrace = 2;

bool interrupt_requested();

}  // namespace gexp::cuda
