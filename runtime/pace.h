// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/estimate.h"
#include "runtime/backend.h"

namespace gexp::runtime {

/// How fast a device is taken to be by a plan (docs/reference/plan.md). Rough: no answer is made from it.
compiler::Pace pace_of(const DeviceInfo& device);

}  // namespace gexp::runtime
