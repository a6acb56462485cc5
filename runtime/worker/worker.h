// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lang/base/result.h"
#include "runtime/device/backend.h"

/// A device driven by another process. What a kernel can do to a process (a fault after which the driver refuses it a new context,
/// a kernel that never ends) it does to the worker; gexp kills that and starts another. docs/decisions/worker.md says why.
namespace gexp::worker {

struct Options {
  std::vector<std::string> command;    ///< of the worker: a program's path and its arguments; it must call serve()
  std::function<bool()> interrupted;   ///< asked a few times a second while a call is under way; empty: never
  double grace = 5;                    ///< seconds beyond a launch's limit after which the worker itself is taken to hang
};

/// Starts a worker; its device as a backend. Call it from a thread that lives as long as the backend: the system ends a worker
/// with the thread that started it. E0708: no worker; otherwise what opening the device says.
///
/// After a fault that left the worker's device unusable, a launch beyond its limit, or the death of the worker, the next call
/// starts a new one, and `losses()` has grown: allocations and kernels made before are gone.
Result<std::unique_ptr<device::Backend>> open(Options options);

/// The worker's side: serves calls until the other end is gone, then ends the process. Needs the descriptors that the worker was started with.
/// `open_device` is asked once. `parent`: who must be alive.
[[noreturn]] void serve(const std::function<Result<std::unique_ptr<device::Backend>>()>& open_device, int parent);

}  // namespace gexp::worker
