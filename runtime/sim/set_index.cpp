// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/set_index.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "runtime/sim/random.h"

namespace gexp::sim {
namespace {

// Residues are dealt out to the sets in turn; a full set drops out. Any aligned run of as many lines as there are ways fits
// exactly, and the first line too many falls into set 0: what Mei17 section 4.4 saw of the L2 TLB (17, then 8 at a time).
std::vector<std::uint32_t> deal(std::vector<std::uint32_t> free) {
  std::vector<std::uint32_t> sets;
  const std::uint32_t total = std::accumulate(free.begin(), free.end(), 0u);
  for (std::uint32_t set = 0; sets.size() < total; set = (set + 1) % static_cast<std::uint32_t>(free.size())) {
    if (free[set] == 0) continue;
    --free[set];
    sets.push_back(set);
  }
  return sets;
}

constexpr int kSetBits = 19;
constexpr std::uint64_t kMostBlocks = 1ull << (64 - kSetBits);

}  // namespace

std::size_t remembered(std::size_t lines) {
  constexpr std::size_t kMost = 1 << 16, kFew = 1 << 12;  // of 8 B each
  return lines <= kMost ? std::bit_ceil(std::max<std::size_t>(lines, 1)) : kFew;
}

std::uint64_t mask_of_bits(const std::vector<int>& bits) {
  std::uint64_t mask = 0;
  for (const int bit : bits) mask |= 1ull << bit;
  return mask;
}

SetIndex::SetIndex(const CacheModel& cache, std::uint64_t seed)
    : kind_(cache.index.kind), sets_(static_cast<std::uint32_t>(cache.ways.size())), seed_(mix(seed)) {
  unit_ = cache.index.block > 0 ? cache.index.block : cache.line;
  unit_shift_ = std::has_single_bit(unit_) ? std::countr_zero(unit_) : -1;
  for (const std::vector<int>& group : cache.index.bits) masks_.push_back(mask_of_bits(group));
  if (!masks_.empty() && std::has_single_bit(masks_[0])) {
    first_bit_ = std::countr_zero(masks_[0]);
    for (std::size_t i = 0; i < masks_.size(); ++i) {
      if (masks_[i] != masks_[0] << i) first_bit_ = -1;
    }
  }
  if (kind_ == IndexModel::Kind::Dealt) dealt_ = deal(cache.ways);
  while ((1u << (2 * half_bits_)) < sets_) ++half_bits_;
  if (kind_ == IndexModel::Kind::Scattered && sets_ < 1u << kSetBits) known_.resize(remembered(std::accumulate(cache.ways.begin(), cache.ways.end(), std::size_t{1})));
}

std::uint32_t SetIndex::operator()(std::uint64_t address) const {
  const std::uint64_t unit = unit_shift_ >= 0 ? address >> unit_shift_ : address / unit_;
  switch (kind_) {
    case IndexModel::Kind::Single: return 0;
    case IndexModel::Kind::Bits:
    case IndexModel::Kind::Xor: {
      if (first_bit_ >= 0) return static_cast<std::uint32_t>(address >> first_bit_) & ((1u << masks_.size()) - 1);
      std::uint32_t set = 0;
      for (std::size_t i = 0; i < masks_.size(); ++i) set |= static_cast<std::uint32_t>(__builtin_parityll(address & masks_[i])) << i;
      return set;
    }
    case IndexModel::Kind::Modulo: return static_cast<std::uint32_t>(unit % sets_);
    case IndexModel::Kind::Dealt: return dealt_[unit % dealt_.size()];
    case IndexModel::Kind::Hashed: return static_cast<std::uint32_t>(((mix(seed_ ^ unit) >> 32) * sets_) >> 32);
    case IndexModel::Kind::Scattered: {
      if (known_.empty() || unit + 1 >= kMostBlocks) return scattered(unit);
      std::uint64_t& known = known_[unit & (known_.size() - 1)];
      if (known >> kSetBits != unit + 1) known = (unit + 1) << kSetBits | scattered(unit);
      return static_cast<std::uint32_t>(known & ((1u << kSetBits) - 1));
    }
  }
  return 0;
}

// Each group of as many blocks as there are sets is a permutation of the sets, keyed by the group's number: balanced, yet no
// function of few address bits. A Feistel network permutes the next power of four; walking its cycle stays below `sets_`.
std::uint32_t SetIndex::scattered(std::uint64_t block) const {
  const std::uint64_t key = mix(seed_ ^ (block / sets_));
  const std::uint32_t half = (1u << half_bits_) - 1;
  auto x = static_cast<std::uint32_t>(block % sets_);
  do {
    std::uint32_t left = x >> half_bits_, right = x & half;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint32_t next = left ^ (static_cast<std::uint32_t>(mix(key + (round << 32) + right) >> 20) & half);
      left = right;
      right = next;
    }
    x = left << half_bits_ | right;
  } while (x >= sets_);
  return x;
}

}  // namespace gexp::sim
