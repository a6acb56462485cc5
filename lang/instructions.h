// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

/// The instructions that `alu` can chain (instructions.def).
namespace gexp::lang {

struct Instruction {
  std::string_view name;     ///< as written in a spec: "fma.rn.f32" is written fma.f32
  std::string_view running;  ///< registers of the running value, a letter each
  std::string_view others;   ///< those of the other operands, which hold 1, or a large number (u, v)
  std::string_view ptx;      ///< text of one link of a chain; %0 is the first register of the running value
  int compute;               ///< the oldest compute capability that has it, times ten
  int nvrtc;                 ///< the oldest NVRTC that can make machine code of it, times ten: 121 for 12.1; 0: any

  /// All lanes of a warp run it together.
  [[nodiscard]] bool of_warp() const { return ptx.find(".sync") != std::string_view::npos; }
};

std::span<const Instruction> instructions();
/// Null when there is none of that name.
const Instruction* find_instruction(std::string_view name);
/// What to write instead of a name that is none; empty: nothing is near.
std::string meant_instruction(std::string_view name);

}  // namespace gexp::lang
