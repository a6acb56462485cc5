// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lang/base/value.h"
#include "runtime/device/backend.h"

namespace gexp::device {

/// What a spec reads as `device.sms`, `device.l2.bytes`, …: as the device's own interface tells it, never a finding. What it does
/// not tell is unknown.
Value device_facts(const DeviceInfo& device);

}  // namespace gexp::device
