// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace gexp::cli {

/// What decides records besides the versions of gexp and NVRTC: this program's build, and the templates where a folder
/// of them is given. A gexp that was built anew keeps nothing that an older one simulated.
std::string toolchain(const std::string& templates);

}  // namespace gexp::cli
