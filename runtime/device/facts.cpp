// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/facts.h"

namespace gexp::device {

Value device_facts(const DeviceInfo& device) {
  const auto number = [](double value, Dimension dimension) { return value > 0 ? Value(value, dimension) : Value(); };
  const auto bytes = [&](std::uint64_t value) { return number(static_cast<double>(value), kBytes); };
  return Fields{{"name", Value(device.name)},
                {"sms", number(device.sms, {})},
                {"compute", number(10 * device.compute_major + device.compute_minor, {})},
                {"clock", number(device.sm_clock_hz, find_unit("GHz")->dimension)},
                {"l2", Fields{{"bytes", bytes(device.l2_bytes)}}},
                {"memory", Fields{{"bytes", bytes(device.memory_bytes)}}},
                {"shared", Fields{{"per_block", bytes(device.shared_per_block)}, {"per_sm", bytes(device.shared_per_sm)}}},
                {"simulated", Value(device.kind == "simulated" ? 1.0 : 0.0, {})},
                {"dram", Fields{{"peak", number(device.memory_peak, kBytes / kSeconds)}}}};
}

}  // namespace gexp::device
