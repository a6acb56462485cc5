// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/shared_memory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

// Banks as Mei17 section 6.2 and Mei14 Figure 6 draw them. Successive words of the mode's width lie in successive banks. A
// bank row is as long as all banks together; where banks are 8 bytes wide, 4-byte mode places words w and w + 32 into the two
// halves of one bank's row, so that stride 2 has no conflict and stride 6 has a two-way one, as measured on Kepler.
namespace gexp::sim {

SharedTiming::SharedTiming(const SharedModel& model, std::uint32_t mode) : model_(model), mode_(mode ? mode : model.default_mode) {
  for (std::uint32_t ways = 0; ways < known_.size(); ++ways) known_[ways] = interpolated(ways);
}

bool SharedTiming::conflict_free(const std::array<std::uint32_t, 32>& addresses, std::uint32_t mask) const {
  constexpr std::uint32_t kMostBanks = 64, kNone = ~0u;
  if (model_.banks > kMostBanks) return false;
  const std::uint32_t row_words = model_.banks * model_.bank_bytes / 4, mode_words = mode_ / 4;
  std::array<std::uint32_t, kMostBanks> rows;
  std::fill_n(rows.begin(), model_.banks, kNone);
  for (; mask != 0; mask &= mask - 1) {
    const std::uint32_t word = addresses[static_cast<std::size_t>(std::countr_zero(mask))] / 4, row = word / row_words;
    std::uint32_t& taken = rows[word / mode_words % model_.banks];
    if (taken != kNone && taken != row) return false;
    taken = row;
  }
  return true;
}

std::uint32_t SharedTiming::ways(const std::array<std::uint32_t, 32>& addresses, std::uint32_t mask, std::uint32_t bytes) const {
  // An access wider than a bank goes in half or quarter warps, one after the other (assumed; the papers use 4-byte words).
  const std::uint32_t parts = std::clamp<std::uint32_t>(bytes / model_.bank_bytes, 1, 32);
  const std::uint32_t lanes = 32 / parts;
  const std::uint32_t words = std::max<std::uint32_t>(bytes / 4, 1);
  const std::uint32_t row_words = model_.banks * model_.bank_bytes / 4;
  if (parts == 1 && words == 1 && conflict_free(addresses, mask)) return 1;
  std::uint32_t total = 0;
  std::array<std::pair<std::uint32_t, std::uint32_t>, 32 * 4> touched;  // bank, row
  for (std::uint32_t part = 0; part < parts; ++part) {
    auto end = touched.begin();
    for (std::uint32_t lane = part * lanes; lane < (part + 1) * lanes; ++lane) {
      if (!(mask >> lane & 1)) continue;
      for (std::uint32_t k = 0; k < words; ++k) {
        const std::uint32_t word = addresses[lane] / 4 + k;
        *end++ = {word / (mode_ / 4) % model_.banks, word / row_words};
      }
    }
    // Lanes that want one row of one bank share it, be it one word or two.
    std::sort(touched.begin(), end);
    end = std::unique(touched.begin(), end);
    std::uint32_t worst = 0, run = 0;
    for (auto at = touched.begin(); at != end; ++at) {
      run = at != touched.begin() && at->first == std::prev(at)->first ? run + 1 : 1;
      worst = std::max(worst, run);
    }
    total += worst;
  }
  return std::max<std::uint32_t>(total, 1);
}

std::uint32_t SharedTiming::interpolated(std::uint32_t ways) const {
  const auto& x = model_.ways;
  const auto& y = model_.cycles;
  if (x.size() == 1) return static_cast<std::uint32_t>(y[0]);
  // The last segment's line goes on beyond the table.
  std::size_t k = 1;
  while (k + 1 < x.size() && x[k] < ways) ++k;
  const double slope = (y[k] - y[k - 1]) / (x[k] - x[k - 1]);
  return static_cast<std::uint32_t>(std::lround(y[k - 1] + slope * (static_cast<double>(ways) - x[k - 1])));
}

}  // namespace gexp::sim
