// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "lang/base/result.h"
#include "ptx/tree.h"

namespace gexp::ptx {

/// Says of how many threads the kernel's blocks are (`.maxntid`): a compiler then gives each no more registers than such a block can have,
/// and spills what is beyond. False: it bounds them itself, and is left as it is.
bool bound_threads(Module& module, Function& kernel, std::uint32_t threads);

/// The same of the text; where the kernel bounds them itself, that text. E0801: it is no PTX that can be read.
Result<std::string> bound_threads(std::string_view text, std::string_view entry, std::uint32_t threads);

}  // namespace gexp::ptx
