// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/speed_estimate.h"

#include <algorithm>

namespace gexp::measure {

compiler::SpeedEstimate speed_estimate(const device::DeviceInfo& device) {
  // NVRTC 13.0 on one core: 0.06 s for a short text as PTX and 0.5 s for one of 1,000 loads; for sm_90 0.2 s and 10 s.
  if (device.kind == "simulated") return {{10e-6, 1e-3}, {50e-9, 400e-9}, {50e-9, 400e-9}, {5e-9, 40e-9}, {0, 0.06}, {0, 0.5e-3}, 1};
  const double resident = 2048.0 * std::max(1, device.sms);
  return {{10e-6, 200e-6}, {20e-9, 600e-9}, {0.5e-9, 600e-9}, {0.5e-9, 30e-9}, {0, 0.2}, {0, 10e-3}, resident};
}

}  // namespace gexp::measure
