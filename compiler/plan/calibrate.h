// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "compiler/plan/access.h"
#include "compiler/program.h"

namespace gexp::compiler {

/// `asm volatile` that nothing is moved over and that waits for a 64-bit value (body.cu says why).
std::string settle_text(const std::string& value);
/// The same for a fetch's index, which is less than 2^27 and so never the number that would trap.
std::string settle_index_text(const std::string& index);

/// What each.cu and body.cu tell the host of a timed region's own cost, in words: so many times of a chain of kShortChain loads of a
/// hit, as many of one of kLongChain, then times of the region with such a hit in it. Chains of no time: the region without a load.
inline constexpr int kChainTimes = 16, kShortChain = 4, kLongChain = 20, kRegionTimes = 32;
inline constexpr int kCalibrationWords = 2 * kChainTimes + kRegionTimes;

/// Whether a chain of loads through the idle cell tells what a hit takes in this memory by this path.
bool has_chain(const Memory& memory, Via via);

/// The text that measures what a timed region costs besides what it times, into `overhead`, where calibrating passes have not. `first`: what the region accesses first,
/// null when nothing. `settle`: the text by which the region waits for what it loaded.
std::string calibration_text(Timing timing, const std::string& settle, const Memory* first, bool chase, const Manner& manner, int width, bool loads = true);

}  // namespace gexp::compiler
