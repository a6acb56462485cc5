// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/memory/memory_space.h"
#include "compiler/plan/access.h"

// `total`: two clock reads and the wait for what was loaded. `each`: the region of the first access over a hit whose latency is known from
// chains through the idle cell, which holds its own address (as in each.cu); where a space has none, the region without its load,
// in which each instruction waits for the one before as it does there.
namespace gexp::compiler {

namespace {

/// `to`, as a chase makes its next address of what it has `seen`.
std::string next_address(int width, const char* base) {
  const bool wide = link_bytes(width) == 8;
  return fmt::format("asm volatile(\"{} %0, %1, {}, %2;\" : \"=l\"(to) : \"{}\"(seen), \"l\"({}) : \"memory\"); ", wide ? "mad.lo.u64" : "mad.wide.u32", width, wide ? "l" : "r", base);
}

}  // namespace

std::string settle_text(const std::string& value) {
  return fmt::format("asm volatile(\"{{ .reg .pred p; setp.eq.u64 p, %0, 0x9e3779b97f4a7c15; @p trap; }}\" :: \"l\"({}) : \"memory\");", value);
}

std::string calibration_text(Timing timing, const std::string& settle, const Memory* first, bool chase, Via via, int width) {
  if (timing == Timing::Wall) return "";
  const std::string clock0 = "asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(t0) :: \"memory\"); ";
  const std::string clock1 = "asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(t1) :: \"memory\"); ";
  const std::string repeat = fmt::format("    _Pragma(\"unroll 1\") for (u32 i = {}; i < {}; ++i) {{ ", 2 * kChainTimes, kCalibrationWords);
  const std::string keep = "overhead[i] = t1 - t0; }\n";
  const std::string no_chain = fmt::format("    _Pragma(\"unroll 1\") for (u32 i = 0; i < {}; ++i) overhead[i] = 0;\n", 2 * kChainTimes);
  const bool cell = first && timing == Timing::Each && first->space->cell_holds_links && path_of(*first, via) != Via::Tex;
  if (!cell) {
    if (!chase || !first || timing != Timing::Each) return no_chain + repeat + clock0 + settle + " " + clock1 + keep;
    std::string text = fmt::format("    u64 to = sum; {0} seen = ({0})sum;\n", value_type(link_bytes(width))), step;
    if (path_of(*first, via) == Via::Tex) step = "asm volatile(\"{ .reg .u32 i; cvt.u32.u64 i, %0; cvt.u64.u32 %0, i; }\" : \"+l\"(to) :: \"memory\"); ";
    else step = next_address(width, "sum");
    return no_chain + text + repeat + clock0 + step + settle_text("to") + " " + clock1 + keep;
  }
  const bool by_host = first->space->home == MemorySpace::Home::Device;
  const auto at = by_host ? "cell" : std::string(first->space->idle_cell);
  std::string text = fmt::format("    u64 self = {}; ", at);
  if (!by_host) text += fmt::format("asm volatile(\"st.{}.u64 [%0], %0;\" :: \"l\"(self) : \"memory\"); ", first->space->ptx);
  text += fmt::format("\n    _Pragma(\"unroll 1\") for (u32 turn = 0; turn < {}; ++turn) {{\n", kChainTimes);
  const auto load = load_text(*first, via, 8, "self", "self");
  for (const auto& [place, length] : {std::pair{0, kShortChain}, std::pair{kChainTimes, kLongChain}}) {
    text += fmt::format("      {}_Pragma(\"unroll\") for (int i = 0; i < {}; ++i) {{ {} }} {} {}overhead[{} + turn] = t1 - t0;\n", clock0, length, load, settle_text("self"), clock1, place);
  }
  text += "    }\n";
  const int read = chase ? link_bytes(width) : std::min(width, 8);
  text += fmt::format("    {} seen;\n{}{}{} ", value_type(read), repeat, clock0, load_text(*first, via, read, "self", "seen"));
  if (chase) {  // its consumer makes the next address of what it loaded
    text += "u64 to; " + next_address(width, "self");
    return text + settle_text("to") + " " + clock1 + keep;
  }
  text += width >= 8 ? "asm volatile(\"xor.b64 %0, %0, %1;\" : \"+l\"(sum) : \"l\"(seen) : \"memory\"); "
                            : "asm volatile(\"{ .reg .u64 w; cvt.u64.u32 w, %1; xor.b64 %0, %0, w; }\" : \"+l\"(sum) : \"r\"(seen) : \"memory\"); ";
  return text + settle_text("sum") + " " + clock1 + keep;
}

}  // namespace gexp::compiler
