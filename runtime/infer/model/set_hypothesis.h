// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/infer/model/walks.h"

/// A cache as a hypothesis: which lines share a set. What its sets hold, the evidence tells.
namespace gexp::infer::model {

constexpr std::uint32_t kNoSet = ~std::uint32_t{0};  ///< of a line about which a hypothesis says nothing

struct SetHypothesis {
  std::string name;            ///< "4 sets by bits 7, 8 of the offset"
  std::int64_t line_bytes = 0;
  std::uint32_t sets = 1;
  std::function<std::uint32_t(std::int64_t line)> set_of;  ///< below `sets`, or kNoSet; line: offset div line_bytes
  double bits = 0;             ///< length of its description, without the sizes
  std::function<std::uint32_t(std::int64_t line)> among = nullptr;  ///< of a line without a set: it is of one of the first so many; null: of any
  std::int64_t fill_bytes = 0; ///< that a miss brings in: what comes right after another address of them finds it there; 0: each address alone
};

/// What the walks say of a hypothesis.
struct SetScore {
  double log_posterior = 0;        ///< of the likeliest sizes: tempered likelihood and prior; natural logarithm, not normalised
  std::vector<std::size_t> sizes;  ///< by set: lines that it holds; 0: no line of it was walked
  std::vector<std::size_t> least, most;  ///< by set: sizes that the walks do not tell from that one
  double worst = 0;                ///< what the footprint that is predicted worst lacks of what any sizes could give it
  std::size_t worst_footprint = 0;
};
SetScore score(const SetHypothesis& hypothesis, const Walks& walks);
/// The same of some footprints, by index.
SetScore score(const SetHypothesis& hypothesis, const Walks& walks, const std::vector<std::size_t>& footprints);

/// What a miss brings in, of a line, a sector or what was asked for, by which the walks are predicted best.
std::int64_t likeliest_fill(const SetHypothesis& hypothesis, const Walks& walks);

/// Whether address `i` of a footprint is visited right after another of what one miss brings in, so that it finds itself there.
bool follows(std::int64_t line_bytes, std::int64_t fill_bytes, const Walks& walks, const Footprint& footprint, std::size_t i);

/// log(exp(a) + exp(b)).
double log_sum(double a, double b);

/// The same of 'none of these': each address misses as it likes wherever it is walked.
double log_of_none(const Walks& walks);

}  // namespace gexp::infer::model
