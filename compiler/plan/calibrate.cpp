// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/codegen/append.h"
#include "compiler/memory/memory_space.h"
#include "compiler/plan/access.h"

// `total`: two clock reads and the wait for what was loaded. `each`: the region of the first access over a hit whose latency is known from
// chains through the idle cell, which holds its own address (as in each.cu). The region is timed by body.cu's calibrating passes; a copy of
// it stands in where they never came to the access. Where a space has no such cell: the region without its load, in which each
// instruction waits for the one before as it does there.
namespace gexp::compiler {

namespace {

/// `to`, as a chase makes its next address of what it has `seen`.
std::string next_address(int width, const char* base) {
  const bool wide = link_bytes(width) == 8;
  return fmt::format("asm volatile(\"{} %0, %1, {}, %2;\" : \"=l\"(to) : \"{}\"(seen), \"l\"({}) : \"memory\"); ", wide ? "mad.lo.u64" : "mad.wide.u32", width, wide ? "l" : "r", base);
}

/// `sum` takes in what was `seen`, as a region of loads does.
std::string consume(int width) {
  return width >= 8 ? "asm volatile(\"xor.b64 %0, %0, %1;\" : \"+l\"(sum) : \"l\"(seen) : \"memory\"); "
                    : "asm volatile(\"{ .reg .u64 w; cvt.u64.u32 w, %1; xor.b64 %0, %0, w; }\" : \"+l\"(sum) : \"r\"(seen) : \"memory\"); ";
}

}  // namespace

bool has_chain(const Memory& memory, Via via) { return memory.space->cell_holds_links || is_texture(memory, via); }

std::string settle_index_text(const std::string& index) {
  return "asm volatile(\"{ .reg .pred p; setp.eq.u32 p, %0, 0x9e3779b9; @p trap; }\" :: \"r\"(" + index + ") : \"memory\");";
}

std::string settle_text(const std::string& value) {
  return "asm volatile(\"{ .reg .pred p; setp.eq.u64 p, %0, 0x9e3779b97f4a7c15; @p trap; }\" :: \"l\"(" + value + ") : \"memory\");";
}

std::string calibration_text(Timing timing, const std::string& settle, const Memory* first, bool chase, const Manner& manner, int width, bool loads) {
  if (timing == Timing::Wall || timing == Timing::Values) return "";
  const std::string clock0 = "t0 = gexp_clock(); ", clock1 = "t1 = gexp_clock(); ";
  const std::string repeat = fmt::format("    _Pragma(\"unroll 1\") for (u32 i = {}; i < {}; ++i) {{ ", 2 * kChainTimes, kCalibrationWords);
  const std::string keep = "overhead[i] = gexp_ticks(t0, t1, ~0u); }\n";
  const std::string no_chain = fmt::format("    _Pragma(\"unroll 1\") for (u32 i = 0; i < {}; ++i) overhead[i] = 0;\n", 2 * kChainTimes);
  if (timing != Timing::Each || !first || !loads || !has_chain(*first, manner.via)) {
    if (!first || timing != Timing::Each) return no_chain + repeat + clock0 + settle + " " + clock1 + keep;
    if (!chase) return no_chain + "    unsigned int seen = 0;\n" + repeat + clock0 + consume(4) + settle + " " + clock1 + keep;
    const auto text = fmt::format("    u64 to = sum; {0} seen = ({0})sum;\n", value_type(link_bytes(width)));
    return no_chain + text + repeat + clock0 + next_address(width, "sum") + settle_text("to") + " " + clock1 + keep;
  }
  const bool texture = is_texture(*first, manner.via), by_host = texture || first->space->by_pointer();  // whose cell the host fills
  const auto at = by_host ? "cell" : std::string(first->space->idle_cell);
  std::string text = texture ? fmt::format("    const u64 t_{} = {}; u32 self = 0; ", first->name, idle_texture(first->pitch != nullptr)) : fmt::format("    u64 self = {}; ", at);
  if (!by_host && !texture) append(text, "asm volatile(\"st.{}.u64 [%0], %0;\" :: \"l\"(self) : \"memory\"); ", first->space->ptx);
  append(text, "\n    _Pragma(\"unroll 1\") for (u32 turn = 0; turn < {}; ++turn) {{\n", kChainTimes);
  const auto load = load_text(*first, manner, texture ? 4 : 8, "self", "self"), wait = texture ? settle_index_text("self") : settle_text("self");
  for (const auto& [place, length] : {std::pair{0, kShortChain}, std::pair{kChainTimes, kLongChain}}) {
    append(text, "      {}_Pragma(\"unroll\") for (int i = 0; i < {}; ++i) {{ {} }} {} {}overhead[{} + turn] = gexp_ticks(t0, t1, ~0u);\n", clock0, length, load, wait, clock1, place);
  }
  text += "    }\n";
  const int read = chase ? link_bytes(width) : std::min(width, 8);
  append(text, "    for (u32 i = calibrated; 0 < i && i < {0}; ++i) overhead[{1} + i] = overhead[{1} + i % calibrated];\n", kRegionTimes, 2 * kChainTimes);
  append(text, "    {} seen;\n    if (calibrated == 0)\n{}{}{} ", value_type(read), repeat, clock0, load_text(*first, manner, read, "self", "seen"));
  if (chase && !texture) {  // its consumer makes the next address of what it loaded
    text += "u64 to; " + next_address(width, "self");
    return text + settle_text("to") + " " + clock1 + keep;
  }
  return text + consume(width) + settle_text("sum") + " " + clock1 + keep;
}

}  // namespace gexp::compiler
