// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/memory/memory_space.h"

// An array of the kernel's module, which the host fills: no kernel can write the idle cell behind it.
namespace gexp::compiler {
namespace {

void declare_constant(const Memory& memory, std::uint64_t bytes, MemoryTexts& texts) {
  texts.constants += fmt::format("extern \"C\" {{ __constant__ u32 c_{}[{}]; }}\n", memory.name, (bytes + kCellBytes) / 4);
  texts.setup += fmt::format("  u64 m_{0}; asm(\"cvta.to.const.u64 %0, %1;\" : \"=l\"(m_{0}) : \"l\"(c_{0}));\n", memory.name);
  texts.setup += fmt::format("  const u64 idle_constant = m_{} + {};\n", memory.name, bytes);
}

}  // namespace

const MemorySpace& constant_space() {
  static const MemorySpace space{.word = "constant",
                                 .ptx = "const",
                                 .home = MemorySpace::Home::Module,
                                 .stores = false,
                                 .everywhere = false,
                                 .idle_cell = "idle_constant",
                                 .cell_holds_links = false,
                                 .too_large = "constant memory holds {}",
                                 .instead = "larger ones are in `readonly` or `global`",
                                 .declare = declare_constant};
  return space;
}

}  // namespace gexp::compiler
