// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/first_overflow.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/infer/bit_basis.h"

namespace gexp::infer {
namespace {

using Mask = BitBasis::Mask;

constexpr std::size_t kMostCommon = 12;        // limit: bits of a set's number
constexpr std::size_t kMostLeftOut = 4;        // limit: of more functions none is left out
constexpr std::size_t kLinesBeyondBasis = 10;  // limit: one function in a thousand is the same for so many lines by chance

/// The spaces of one function fewer within the space of some functions.
std::vector<std::vector<Mask>> with_one_fewer(const std::vector<Mask>& functions) {
  std::vector<std::vector<Mask>> all;
  for (Mask left_out = 1; left_out < Mask{1} << functions.size(); ++left_out) {  // what it holds an odd number of goes with its first
    const auto first = static_cast<std::size_t>(std::countr_zero(left_out));
    auto& space = all.emplace_back();
    for (std::size_t i = 0; i < functions.size(); ++i) {
      if (i != first) space.push_back(left_out >> i & 1 ? functions[i] ^ functions[first] : functions[i]);
    }
  }
  return all;
}

/// The lines that miss at the first level at which any do.
std::vector<std::size_t> first_to_miss(const SetGrowth& growth, const MissRange& border) {
  for (const auto& [added, level] : growth.levels) {
    std::vector<std::size_t> missed;
    for (std::size_t line = 0; line < level.present; ++line) {
      if (misses_at(level, line, border)) missed.push_back(line);
    }
    if (!missed.empty()) return missed;
  }
  return {};
}

}  // namespace

std::vector<SetIndex> of_first_overflow(const SetGrowth& growth, const MissRange& border, const std::vector<int>& bits,
                                        std::int64_t line_bytes) {
  const auto missed = first_to_miss(growth, border);
  BitBasis differences;
  for (const auto line : missed) differences.add(static_cast<Mask>((growth.number[line] ^ growth.number[missed.front()]) * line_bytes));
  Mask may = 0;
  for (const int bit : bits) may |= Mask{1} << bit;
  const auto functions = differences.annihilator(may);
  std::vector<SetIndex> all;
  if (functions.empty() || functions.size() > kMostCommon || missed.size() < differences.size() + kLinesBeyondBasis) return all;
  all.push_back(index_by(functions));
  if (functions.size() == 1 || functions.size() > kMostLeftOut) return all;
  for (const auto& fewer : with_one_fewer(functions)) all.push_back(index_by(fewer));
  return all;
}

double log_of_foretold(const SetGrowth& growth, const MissRange& border, const model::SetHypothesis& hypothesis,
                       const model::SetScore& score) {
  std::vector<bool> seen(growth.number.size());
  double foretold = 0;
  bool first = true;
  for (const auto& [added, level] : growth.levels) {
    std::vector<std::size_t> held(hypothesis.sets);
    for (std::size_t line = 0; line < level.present; ++line) {
      if (const auto set = hypothesis.set_of(growth.number[line]); set != model::kNoSet) ++held[set];
    }
    std::size_t of_full_sets = 0, lines = 0, overflowing = 0;
    for (std::size_t line = 0; line < level.present; ++line) {
      const auto set = hypothesis.set_of(growth.number[line]);
      if (set == model::kNoSet) continue;
      ++lines, overflowing += held[set] > score.sizes[set];
      if (seen[line] || !misses_at(level, line, border)) continue;
      seen[line] = true;
      of_full_sets += !first && held[set] > score.sizes[set];
    }
    if (overflowing > 0)
      foretold += static_cast<double>(of_full_sets) * std::log(static_cast<double>(lines) / static_cast<double>(overflowing));
    first = first && std::find(seen.begin(), seen.end(), true) == seen.end();
  }
  return foretold;
}

}  // namespace gexp::infer
