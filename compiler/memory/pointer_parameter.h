// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include "compiler/memory/memory_space.h"

namespace gexp::compiler {

/// Declares a memory that the host hands to the kernel as a pointer.
inline void pointer_parameter(const Memory& memory, std::uint64_t, MemoryTexts& texts) { texts.parameters += fmt::format(", u64 m_{}", memory.name); }

}  // namespace gexp::compiler
