// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace gexp::cuda {

/// What the driver API does not tell: through NVML where it is there, /proc otherwise. Never an error; empty and false are "not
/// known".
struct SystemFacts {
  std::string driver;  ///< "580.159.04"
  bool mig = false, persistence = false;
};
SystemFacts ask_system(const std::string& gpu_uuid);

/// The version in the text of /proc/driver/nvidia/version.
std::string driver_version_in(std::string_view text);

}  // namespace gexp::cuda
