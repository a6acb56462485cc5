// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/sim/device_model.h"

namespace gexp::sim {

/// How much to remember of a cache of so many lines, a power of two. Where all would be more than the host's own caches hold, only
/// neighbours profit.
[[nodiscard]] std::size_t remembered(std::size_t lines);

/// The mask of these address bits.
[[nodiscard]] std::uint64_t mask_of_bits(const std::vector<int>& bits);

/// From an address to the set its line belongs to.
class SetIndex {
 public:
  SetIndex(const CacheModel& cache, std::uint64_t seed);
  [[nodiscard]] std::uint32_t operator()(std::uint64_t address) const;

 private:
  [[nodiscard]] std::uint32_t scattered(std::uint64_t block) const;

  IndexModel::Kind kind_;
  std::uint32_t sets_;
  int unit_shift_ = 0;                  // line or block, when a power of two
  std::uint64_t unit_ = 1;
  std::vector<std::uint64_t> masks_;    // Bits, Xor: parity of address & mask is set bit i
  int first_bit_ = -1;                  // Bits: of neighbouring ones, which the masks are then of; negative: they are not
  std::vector<std::uint32_t> dealt_;    // Dealt: residue -> set
  std::uint64_t seed_;
  int half_bits_ = 0;                   // Scattered: of a half of the Feistel network
  // Scattered: the sets of blocks that were asked for, the last one of each place: the block's number and one, then 19 bits of its set.
  mutable std::vector<std::uint64_t> known_;
};

}  // namespace gexp::sim
