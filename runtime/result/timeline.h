// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/counters.h"

namespace gexp::result {

/// What some warps of one SM of a simulated device did from one cycle of a launch to another: all of it, and little enough to draw.
/// For people; no finding reads it.
struct Timeline {
  static constexpr std::size_t kMostSpans = 800, kMostWarps = 8;  ///< limit: a drawing with more cannot be read
  static constexpr std::size_t kMostNames = 64;                   ///< limit: kinds of waits, caches, and what is beyond them
  enum class Kind { Issues, Waits, Loads };

  struct Name {
    Kind kind = Kind::Issues;
    std::string text;  ///< Waits: for what; Loads: where the furthest part was found
  };
  struct Instruction {
    std::string place, opcode, statement;  ///< "PTX:41", "ld.global.u32", "chase A"; without a statement where none is known
  };
  struct Span {
    std::uint64_t begin = 0, end = 0;  ///< cycles of the launch, within `from` and `to`
    std::uint32_t name = 0, instruction = 0;
  };
  struct Warp {
    std::uint64_t block = 0;
    std::uint32_t first_thread = 0;
    std::vector<Span> spans;  ///< by begin; loads overlap the rest, and each other
  };

  std::string of;                           ///< "capacity at n = 8 KiB"
  std::uint64_t launch = 1, launches = 1;   ///< which of those of the repetition
  std::uint64_t from = 0, to = 0, cycles = 0;  ///< what is shown of the launch, and how long it took
  bool noted_whole = true;                  ///< false: more happened in the launch than was noted
  std::uint32_t sm = 0;
  std::uint64_t warps_of_sm = 0;            ///< that ran on it in the launch, as far as it was noted
  std::vector<Name> names;
  std::vector<Instruction> instructions;
  std::vector<Warp> warps;
  device::Counters counters;                ///< of all launches of the repetition
};

}  // namespace gexp::result
