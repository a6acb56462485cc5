// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/line_walks.h"

/// A cache as a hypothesis: which lines share a set. What its sets hold, the evidence tells.
namespace gexp::infer::model {

constexpr std::uint32_t kNoSet = ~std::uint32_t{0};  ///< fact: of a line about which a hypothesis says nothing

struct SetHypothesis {
  std::string name;            ///< "4 sets by bits 7, 8 of the offset"
  std::int64_t line_bytes = 0;
  std::uint32_t sets = 1;
  std::function<std::uint32_t(std::int64_t line)> set_of;  ///< below `sets`, or kNoSet; line: offset div line_bytes
  double bits = 0;             ///< length of its description, without the sizes
  std::function<std::uint32_t(std::int64_t line)> among = nullptr;  ///< of a line without a set: it is of one of the first so many; null: of any
  std::int64_t fill_bytes = 0; ///< that a miss brings in: what comes right after another address of them finds it there; 0: each address alone
  int block_bits = 0;          ///< lines whose numbers differ in no higher bits are of one set, those without a set, too
};

/// What the walks say of a hypothesis.
struct SetScore {
  double log_posterior = 0;        ///< of the likeliest sizes: tempered likelihood and prior; natural logarithm, not normalised
  double unsaid = 0;               ///< what it would take to say which sets those lines are of that the hypothesis leaves out, where that matters;
                                   ///< natural logarithm
  std::vector<bool> telling;       ///< by footprint: some lines missed, and not all sets overflow, so it matters which set a line is of
  std::vector<std::size_t> sizes;  ///< by set: lines that it holds; 0: no line of it was walked
  std::vector<std::size_t> least, most;  ///< by set: sizes that the walks do not tell from that one
  double worst = 0;                ///< what the footprint that is predicted worst lacks of what any sizes could give it
  std::size_t worst_footprint = 0; ///< index into the walks'
};
SetScore score(const SetHypothesis& hypothesis, const Walks& walks);
/// The same of walks by lines of the hypothesis' length and fill.
SetScore score(const SetHypothesis& hypothesis, const LineWalks& walks);

/// What a miss brings in, of a line, a sector or what was asked for, by which the walks are predicted best.
std::int64_t likeliest_fill(const SetHypothesis& hypothesis, const Walks& walks);

/// Whole laps over sets that overflow, of which it is known whether one of their addresses missed.
struct Laps {
  double loud = 0, silent = 0;  ///< with a miss, without one
  double by_rates = 0;          ///< log-likelihood of the silent ones, by the rates at which the addresses miss
  Laps() = default;
  /// By lap, a bit for each: those with a miss, and those that may have one. `log_silence`: log of the chance of a silent one, by these rates.
  Laps(std::span<const std::uint64_t> missed_in, std::span<const std::uint64_t> unsure_in, std::size_t whole_laps, double log_silence);
  Laps& operator+=(const Laps& other) { return loud += other.loud, silent += other.silent, by_rates += other.by_rates, *this; }
  Laps& operator-=(const Laps& other) { return loud -= other.loud, silent -= other.silent, by_rates -= other.by_rates, *this; }
  /// Logarithm of their likely rate of silence.
  [[nodiscard]] double log_rate(Silence range) const { return std::log(std::max(range.least, std::min(range.most, (silent + 0.5) / (loud + silent + 1)))); }
  /// By how much less likely the silent ones are if laps are silent at that rate: a logarithm, at most 0.
  [[nodiscard]] double lack(double log_rate_of_silence) const { return std::min(0.0, silent * log_rate_of_silence - by_rates); }
  /// The same at their own rate.
  [[nodiscard]] double lack_at_own_rate(Silence range) const { return lack(log_rate(range)); }
};

/// The same of 'none of these': each address misses as it likes wherever it is walked.
double log_of_none(const Walks& walks);

}  // namespace gexp::infer::model
