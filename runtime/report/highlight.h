// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace gexp::report {

/// A spec's text as HTML: each token in a <span class="…"> of its role where it has one. The text as it is where it does not parse.
std::string highlighted(const std::string& path, const std::string& text);

}  // namespace gexp::report
