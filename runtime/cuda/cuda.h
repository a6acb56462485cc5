// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "lang/base/result.h"
#include "runtime/device/backend.h"

/// Real GPUs through the driver API. libcuda is opened at run time; nothing here needs CUDA to build.
/// Codes: E0703 no driver, E0704 driver too old, E0705 no such device, E0707 a driver call failed; E0501 a requirement that the
/// device does not meet; E0801 a kernel does not load, E0802 no memory, E0803 a copy failed or the device can no longer be
/// used.
namespace gexp::cuda {

/// Every device that the driver sees, in its order: the index is the ordinal of open(). Never empty: no device is E0705.
Result<std::vector<device::DeviceInfo>> devices();

/// The device with a context of its own. A fault ends that context and all in it: addresses and kernels from before mean
/// nothing any more. The backend asks the driver for a new one; driver 580 (H200) refuses it to the process that faulted, other
/// contexts of the process included, and then every launch is an Outcome::Fault that says so and everything else E0803. A
/// kernel that does not end cannot be stopped from within its process either: from then on every launch is an Outcome::Timeout
/// and everything else E0803.
Result<std::unique_ptr<device::Backend>> open(int ordinal);

/// Makes a launch that waits, and every later one, return Interrupted. May be called from a signal handler.
void request_interrupt();
void clear_interrupt();

/// Whether a kernel of this process still runs past its time limit; the process's end stops it. Nothing may wait for the device
/// then (destroying its context would, for ever; the backend's destructor does not).
bool hung();

}  // namespace gexp::cuda
