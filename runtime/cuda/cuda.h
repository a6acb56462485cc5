// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "lang/base/result.h"
#include "runtime/backend.h"

/// Real GPUs through the driver API. libcuda is opened at run time; nothing here needs CUDA to build.
/// Codes: E0703 no driver, E0704 driver too old, E0705 no such device, E0707 a driver call failed; E0501 a requirement that the
/// device does not meet; E0801 a kernel does not load, E0802 no memory, E0803 a copy failed or the device can no longer be used.
namespace gexp::cuda {

/// Every device that the driver sees, in its order: the index is the ordinal of open(). Never empty: no device is E0705.
Result<std::vector<runtime::DeviceInfo>> devices();

/// The device with a context of its own. A fault ends that context and all in it; the backend makes a new one at once, and
/// addresses and kernels from before mean nothing any more. A kernel that does not end cannot be stopped from within its process:
/// from then on every launch is an Outcome::Timeout, everything else E0803, and hung() is true.
Result<std::unique_ptr<runtime::Backend>> open(int ordinal);

/// Makes a launch that waits, and every later one, return Interrupted. May be called from a signal handler.
void request_interrupt();
void clear_interrupt();

/// Whether a kernel of this process still runs past its time limit. Such a process should leave by std::_Exit once it has saved what
/// it has: libcuda's own exit handlers may wait for the kernel.
bool hung();

}  // namespace gexp::cuda
