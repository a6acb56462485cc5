// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace gexp::bench {

/// Prints what each analysis costs, in time and memory, on growing records; those whose name has `filter` in it.
void findings(const std::string& filter);

}  // namespace gexp::bench
