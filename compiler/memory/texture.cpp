// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory/memory_space.h"

// Fetches have an index, not an address; the kernel gets a handle (codegen/body_memories.cpp), as for loads `via tex`.
namespace gexp::compiler {

const MemorySpace& texture_space() {
  static const MemorySpace space{.word = "texture", .path = Via::Tex, .stores = false, .everywhere = false, .idle_cell = "0ull"};
  return space;
}

}  // namespace gexp::compiler
