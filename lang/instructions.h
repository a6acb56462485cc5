// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
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

  /// Threads that run it together: 32 of a warp, or 128 of a warpgroup; 1: each by itself.
  [[nodiscard]] std::uint32_t together() const { return of_warpgroup() ? 128 : ptx.find(".sync") != std::string_view::npos ? 32 : 1; }
  /// It is in compute capability 9.0 alone, and not in the devices after it.
  [[nodiscard]] bool of_warpgroup() const { return ptx.find("wgmma.") != std::string_view::npos; }
  /// Its links go on without their results, which a chain waits for at its end.
  [[nodiscard]] bool waits_at_end() const { return of_warpgroup() && ptx.find("wait_group") == std::string_view::npos; }
  /// Of `wgmma`: bytes of the matrices a, b that its descriptors name, 4 bytes of ones in their type, and bytes of the swizzle; 0: none.
  struct Matrices {
    std::uint32_t a = 0, b = 0, ones = 0, swizzle = 0;
  };
  [[nodiscard]] Matrices matrices() const;
  /// `ptx` with every register of a list written out.
  [[nodiscard]] std::string text() const;
};

std::span<const Instruction> instructions();
/// Null when there is none of that name.
const Instruction* find_instruction(std::string_view name);
/// What to write instead of a name that is none; empty: nothing is near.
std::string meant_instruction(std::string_view name);

}  // namespace gexp::lang
