// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/plan/estimate.h"
#include "runtime/device/backend.h"

namespace gexp::measure {

/// How fast a device is taken to be by a plan (docs/reference/plan.md). Rough: no answer is made from it.
compiler::SpeedEstimate speed_estimate(const device::DeviceInfo& device);

}  // namespace gexp::measure
