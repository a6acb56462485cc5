// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/memory/memory_space.h"

// An array of each thread. The idle cell behind it is written, so that the compiler keeps the array in memory.
namespace gexp::compiler {
namespace {

void declare_local(const Memory& memory, std::uint64_t bytes, MemoryTexts& texts) {
  texts.setup += fmt::format("  u32 l_{0}[{1}]; u64 m_{0}; asm volatile(\"cvta.to.local.u64 %0, %1;\" : \"=l\"(m_{0}) : \"l\"(l_{0}) : \"memory\");\n",
                             memory.name, (bytes + kCellBytes) / 4);
  texts.setup += fmt::format(
      "  const u64 idle_local = m_{0} + {1}; asm volatile(\"st.local.v4.u32 [%0], {{%1, %1, %1, %1}};\" :: \"l\"(idle_local), \"r\"(0) : \"memory\");\n",
      memory.name, bytes);
}

}  // namespace

const MemorySpace& local_space() {
  static const MemorySpace space{.word = "local",
                                 .ptx = "local",
                                 .home = MemorySpace::Home::Thread,
                                 .everywhere = false,
                                 .idle_cell = "idle_local",
                                 .too_large = "a thread's local memory holds {} here",
                                 .instead = "larger ones are in `global`",
                                 .declare = declare_local};
  return space;
}

}  // namespace gexp::compiler
