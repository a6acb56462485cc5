// SPDX-License-Identifier: Apache-2.0
#pragma once
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
/// Null when there is none of that name.
const Instruction* find_instruction(std::string_view name);

}  // namespace gexp::compiler
