// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace gexp::sim {

/// SHA-256 (FIPS 180-4) in lower-case hexadecimal.
std::string sha256(std::string_view bytes);

}  // namespace gexp::sim
