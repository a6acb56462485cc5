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

std::string settle_text(const std::string& value) {
  return fmt::format("asm volatile(\"{{ .reg .pred p; setp.eq.u64 p, %0, 0x9e3779b97f4a7c15; @p trap; }}\" :: \"l\"({}) : \"memory\");", value);
}

std::string calibration_text(Timing timing, const Memory* first, bool chase, Via via, int width) {
  if (timing == Timing::Wall) return "    least = 0;\n";
  const std::string clock0 = "asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(t0) :: \"memory\"); ";
  const std::string clock1 = "asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(t1) :: \"memory\"); ";
  const std::string repeat = "    _Pragma(\"unroll 1\") for (u32 i = 0; i < 16; ++i) { ";
  const std::string keep = "least = t1 - t0 < least ? t1 - t0 : least; }\n";
  const bool cell = first && timing == Timing::Each && first->space != Space::Texture && first->space != Space::Constant && path_of(*first, via) != Via::Tex;
  if (!cell) return repeat + clock0 + settle_text("sum") + " " + clock1 + keep;
  const auto at = std::string(first->space == Space::Global ? "cell" : idle_cell(*first));
  std::string text = fmt::format("    u64 self = {}; ", at);
  if (first->space != Space::Global) text += fmt::format("asm volatile(\"st.{}.u64 [%0], %0;\" :: \"l\"(self) : \"memory\"); ", word(first->space));
  text += "u32 chain[2] = {0, 0};\n    _Pragma(\"unroll 1\") for (u32 turn = 0; turn < 2; ++turn) {\n";
  const auto load = load_text(*first, via, 8, "self", "self");
  for (const auto& [index, length] : {std::pair{0, 16}, std::pair{1, 80}}) {
    text += fmt::format("      {}_Pragma(\"unroll\") for (int i = 0; i < {}; ++i) {{ {} }} {} {}chain[{}] = t1 - t0;\n", clock0, length, load, settle_text("self"), clock1, index);
  }
  const std::string rest = "    least = least > latency ? least - latency : 0;\n";
  text += "    }\n    const u32 latency = (chain[1] - chain[0] + 32) / 64;\n";
  text += fmt::format("    {} seen;\n{}{}{} ", value_type(width), repeat, clock0, load_text(*first, via, width >= 8 ? 8 : width, "self", "seen"));
  if (chase) {  // its consumer makes the next address of what it loaded
    const char* letter = link_bytes(width) == 8 ? "l" : "r";
    text += fmt::format("u64 to; asm volatile(\"{} %0, %1, {}, %2;\" : \"=l\"(to) : \"{}\"(seen), \"l\"(self) : \"memory\"); ", link_bytes(width) == 8 ? "mad.lo.u64" : "mad.wide.u32", width, letter);
    return text + settle_text("to") + " " + clock1 + keep + rest;
  }
  text += width >= 8 ? "asm volatile(\"xor.b64 %0, %0, %1;\" : \"+l\"(sum) : \"l\"(seen) : \"memory\"); "
                            : "asm volatile(\"{ .reg .u64 w; cvt.u64.u32 w, %1; xor.b64 %0, %0, w; }\" : \"+l\"(sum) : \"r\"(seen) : \"memory\"); ";
  return text + settle_text("sum") + " " + clock1 + keep + rest;
}

}  // namespace gexp::compiler
