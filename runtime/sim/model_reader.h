// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "lang/base/diagnostic.h"
#include "runtime/sim/device_model.h"

namespace gexp::sim {

/// A model file as a device; nothing when `diagnostics` has got an error (E06xx). The format is docs/device-models.md.
std::optional<DeviceModel> read_device_model(const Source& source, Diagnostics& diagnostics);

}  // namespace gexp::sim
