// SPDX-License-Identifier: Apache-2.0
#include "compiler/calibrate.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/access.h"

// `total`: two clock reads with nothing between. `each`: the region of the first access over a hit whose latency is known from
// a chain through the idle cell, which holds its own address (as in each.cu); where a space has none, the clock reads again.
namespace gexp::compiler {

const char* idle_cell(const Memory& memory) {
  switch (memory.space) {
    case Space::Shared: return "idle_shared";
    case Space::Local: return "idle_local";
    case Space::Constant: return "idle_constant";
    case Space::Texture: return "0ull";
    case Space::Global: break;
  }
  return "idle_global";
}

std::string calibration_text(Timing timing, const Memory* first, Via via, int width) {
  if (timing == Timing::Wall) return "    least = 0;\n";
  const std::string clock0 = "asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(t0) :: \"memory\"); ";
  const std::string clock1 = "asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(t1) :: \"memory\"); ";
  const std::string repeat = "    _Pragma(\"unroll 1\") for (u32 i = 0; i < 16; ++i) { ";
  const std::string keep = "least = t1 - t0 < least ? t1 - t0 : least; }\n";
  const bool cell = first && timing == Timing::Each && first->space != Space::Texture && first->space != Space::Constant && path_of(*first, via) != Via::Tex;
  if (!cell) return repeat + clock0 + clock1 + keep;
  const auto at = std::string(first->space == Space::Global ? "cell" : idle_cell(*first));
  std::string text = fmt::format("    u64 self = {}; ", at);
  if (first->space != Space::Global) text += fmt::format("asm volatile(\"st.{}.u64 [%0], %0;\" :: \"l\"(self) : \"memory\"); ", word(first->space));
  text += "u32 chain[2] = {0, 0};\n    _Pragma(\"unroll 1\") for (u32 turn = 0; turn < 2; ++turn) {\n";
  const auto load = load_text(*first, via, 8, "self", "self");
  for (const auto& [index, length] : {std::pair{0, 16}, std::pair{1, 80}}) {
    text += fmt::format("      {}_Pragma(\"unroll\") for (int i = 0; i < {}; ++i) {{ {} }} asm volatile(\"add.u64 %0, %0, 0;\" : \"+l\"(self) :: \"memory\"); {}chain[{}] = t1 - t0;\n", clock0, length, load, clock1, index);
  }
  text += "    }\n    const u32 latency = (chain[1] - chain[0] + 32) / 64;\n";
  text += fmt::format("    {} seen;\n{}{}{} ", value_type(width), repeat, clock0, load_text(*first, via, width >= 8 ? 8 : width, "self", "seen"));
  text += width >= 8 ? "asm volatile(\"xor.b64 %0, %0, %1;\" : \"+l\"(sum) : \"l\"(seen) : \"memory\"); "
                            : "asm volatile(\"{ .reg .u64 w; cvt.u64.u32 w, %1; xor.b64 %0, %0, w; }\" : \"+l\"(sum) : \"r\"(seen) : \"memory\"); ";
  return text + clock1 + keep + "    least = least > latency ? least - latency : 0;\n";
}

}  // namespace gexp::compiler
