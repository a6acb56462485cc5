// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "ptx/tree.h"

/// How many registers a thread needs. PTX has as many as it likes; how many a block takes decides how many blocks a multiprocessor holds.
namespace gexp::ptx {

/// An instruction as its registers see it, whatever it is kept as.
struct LiveStep {
  std::vector<std::uint32_t> reads, writes;  ///< registers by number
  std::vector<std::size_t> next;             ///< steps that may follow
  bool always = true;                        ///< it writes whatever holds: it has no guard
};

/// Registers of 4 bytes, about: the most that are live at one place, and a few for what a compiler adds (assumed: 8), in steps of 8.
/// `width`: of each register, 4 bytes each. 0: there is too much code to tell.
std::uint32_t registers_needed(const std::vector<LiveStep>& code, const std::vector<std::uint32_t>& width);

/// The same of a kernel without scopes (flatten), as far as its own body tells.
std::uint32_t registers_needed(const Function& kernel);

}  // namespace gexp::ptx
