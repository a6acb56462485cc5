// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

/// The instructions that `alu` can chain: PTX names, and how one reads its own result.
namespace gexp::compiler {

struct Instruction {
  std::string_view name;      ///< as written in a spec and in PTX: "fma.rn.f32" is written fma.f32
  std::string_view ptx;       ///< text of one link of a chain; %0 is the running value, %1 a constant of the same type
  char letter;                ///< constraint of the registers: r, l, f, d
  std::string_view type;      ///< CUDA type of the running value
};

std::span<const Instruction> instructions();
/// Instructions of a chain between two jumps, where so many chains run beside each other: what fits the innermost instruction cache.
std::int64_t alu_block(std::int64_t beside);
/// How many instructions of each chain of `length` stand in the text: one block for a loop, and what is left.
std::int64_t alu_text(std::int64_t length, std::int64_t beside);
/// Null when there is none of that name.
const Instruction* find_instruction(std::string_view name);

}  // namespace gexp::compiler
