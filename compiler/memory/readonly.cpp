// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory/memory_space.h"
#include "compiler/memory/pointer_parameter.h"

// Global memory that kernels promise not to write, so that its loads may take the path of read-only data.
namespace gexp::compiler {

const MemorySpace& readonly_space() {
  static const MemorySpace space{.word = "readonly",
                                 .ptx = "global",
                                 .path = Via::Nc,
                                 .chooses_path = true,
                                 .stores = false,
                                 .idle_cell = "idle_global",
                                 .lone_chase = &kEachTemplate,
                                 .declare = pointer_parameter};
  return space;
}

}  // namespace gexp::compiler
