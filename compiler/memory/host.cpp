// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory/memory_space.h"
#include "compiler/memory/pointer_parameter.h"

// This machine's own memory, pinned: threads reach it over the bus, by the instructions and the paths of global memory.
namespace gexp::compiler {

const MemorySpace& host_space() {
  static const MemorySpace space{.word = "host",
                                 .ptx = "global",
                                 .home = MemorySpace::Home::Host,
                                 .chooses_path = true,
                                 .everywhere = false,
                                 .idle_cell = "idle_global",
                                 .lone_chase = &kEachTemplate,
                                 .declare = pointer_parameter};
  return space;
}

}  // namespace gexp::compiler
