// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory/memory_space.h"
#include "compiler/memory/pointer_parameter.h"

namespace gexp::compiler {

const MemorySpace& global_space() {
  static const MemorySpace space{
      .word = "global", .ptx = "global", .chooses_path = true, .idle_cell = "idle_global", .lone_chase = &kEachTemplate, .declare = pointer_parameter};
  return space;
}

}  // namespace gexp::compiler
