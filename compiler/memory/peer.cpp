// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory/memory_space.h"
#include "compiler/memory/pointer_parameter.h"

// Memory of another GPU of this machine: threads reach it over the link between the two, by the instructions of global memory.
namespace gexp::compiler {

const MemorySpace& peer_space() {
  static const MemorySpace space = other_memory("peer", MemorySpace::Home::Peer);
  return space;
}

}  // namespace gexp::compiler
