// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory/memory_space.h"
#include "compiler/memory/pointer_parameter.h"

// Pages that the driver moves to whoever touches them: to a thread of the device they are global memory, once they are there.
namespace gexp::compiler {

const MemorySpace& managed_space() {
  static const MemorySpace space = other_memory("managed", MemorySpace::Home::Managed);
  return space;
}

}  // namespace gexp::compiler
