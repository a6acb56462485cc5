// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "runtime/sim/device_model.h"

namespace gexp::sim {

/// A model's hierarchy for people to read: what an SM has, what more SMs share, memory, and the latencies of every path. UTF-8
/// with box characters; the boxes are `width` columns wide, at least 60. Ends in a line end.
std::string draw(const DeviceModel& model, std::size_t width);

}  // namespace gexp::sim
