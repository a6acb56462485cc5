// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include "compiler/memory/memory_space.h"

namespace gexp::compiler {

/// Declares a memory that the host hands to the kernel as a pointer.
inline void pointer_parameter(const Memory& memory, std::uint64_t, MemoryTexts& texts) { texts.parameters += fmt::format(", u64 m_{}", memory.name); }

/// A space whose bytes are not the device's own, or not always: its threads reach them by the instructions and the paths of global memory.
inline MemorySpace other_memory(std::string_view word, MemorySpace::Home home) {
  return {.word = word,
          .ptx = "global",
          .home = home,
          .chooses_path = true,
          .everywhere = false,
          .idle_cell = "idle_global",
          .lone_chase = &kEachTemplate,
          .declare = pointer_parameter};
}

}  // namespace gexp::compiler
