// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace gexp::hostile {

/// False: it was refused. A crash, a hang or an exception is the finding.
bool try_result(const std::string& text);

}  // namespace gexp::hostile
