// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory/memory_space.h"
#include "compiler/memory/pointer_parameter.h"

// This machine's own memory, pinned: threads reach it over the bus, by the instructions and the paths of global memory.
namespace gexp::compiler {

const MemorySpace& host_space() {
  static const MemorySpace space = other_memory("host", MemorySpace::Home::Host);
  return space;
}

}  // namespace gexp::compiler
