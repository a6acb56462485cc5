// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/memory/memory_space.h"

// Shared memories lie one after the other in the block's dynamic array, and the idle cell behind them; or it is the first bytes of them, where
// nothing that a rehearsal reads or writes can be told, so that a block's memory can be as large as the device allows.
namespace gexp::compiler {
namespace {

void declare_shared(const Memory& memory, std::uint64_t bytes, MemoryTexts& texts) {
  texts.setup += fmt::format("  const u64 m_{} = shared + {};\n", memory.name, texts.shared);
  texts.shared += bytes;
}

void declare_cell(MemoryTexts& texts) {
  if (texts.shared == 0) return;
  if (!texts.shared_cell) {
    texts.setup += "  const u64 idle_shared = shared;\n";
    return;
  }
  texts.setup += fmt::format(
      "  const u64 idle_shared = shared + {0}; if (tid == 0) dynamic[{1}] = dynamic[{1} + 1] = dynamic[{1} + 2] = dynamic[{1} + 3] = 0;\n",
      texts.shared, texts.shared / 4);
  texts.shared += kCellBytes;
}

}  // namespace

const MemorySpace& shared_space() {
  static const MemorySpace space{.word = "shared",
                                 .ptx = "shared",
                                 .home = MemorySpace::Home::Block,
                                 .idle_cell = "idle_shared",
                                 .lone_chase = &kTotalTemplate,
                                 .declare = declare_shared,
                                 .declared_all = declare_cell};
  return space;
}

}  // namespace gexp::compiler
