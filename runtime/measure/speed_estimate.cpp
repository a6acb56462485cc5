// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/speed_estimate.h"

#include <algorithm>

namespace gexp::measure {

compiler::SpeedEstimate speed_estimate(const device::DeviceInfo& device) {
  constexpr double compile = 0.06;
  if (device.kind == "simulated") return {{10e-6, 1e-3}, {50e-9, 400e-9}, {50e-9, 400e-9}, {5e-9, 40e-9}, {0, compile}, 1};
  const double resident = 2048.0 * std::max(1, device.sms);
  return {{10e-6, 200e-6}, {20e-9, 600e-9}, {0.5e-9, 600e-9}, {0.5e-9, 30e-9}, {0, compile}, resident};
}

}  // namespace gexp::measure
