// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/instructions.h"

namespace gexp::compiler {

std::int64_t alu_block(std::int64_t beside, std::int64_t registers) {
  std::int64_t block = 256;
  while (block > 1 && (block * beside > 512 || block * beside * registers > 4096)) block /= 2;
  return block;
}

std::int64_t alu_text(std::int64_t length, std::int64_t beside) {
  const auto block = alu_block(beside, 1);
  return length % block + (length >= block ? block : 0);
}

}  // namespace gexp::compiler
