// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/set_candidates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

// Functions are many, footprints too. A few footprints in which some addresses miss and others do not tell nearly all functions apart, so
// all are scored on these, and the best again on everything.
namespace gexp::infer::model {
namespace {

constexpr std::size_t kTelling = 6;        // footprints that all functions are scored on
constexpr std::uint32_t kMostSets = 1024;
constexpr std::size_t kMostSubsets = 1000;  // of bits of one number; beyond it, only neighbouring bits are tried
constexpr double kFamily = 2;              // bits that say which kind of function it is

/// Footprints that tell functions apart: those in which the fewest and the most addresses miss, and the largest in which none does.
std::vector<std::size_t> telling(const Walks& walks) {
  std::vector<std::pair<std::size_t, std::size_t>> partial;  // addresses that missed, footprint
  std::size_t quiet = walks.footprints.size();
  for (std::size_t f = 0; f < walks.footprints.size(); ++f) {
    const auto& footprint = walks.footprints[f];
    const auto missed = static_cast<std::size_t>(std::count(footprint.missed.begin(), footprint.missed.end(), true));
    if (missed > 0 && missed < footprint.missed.size()) partial.emplace_back(missed, f);
    if (missed == 0 && (quiet == walks.footprints.size() || footprint.addresses.size() > walks.footprints[quiet].addresses.size())) quiet = f;
  }
  std::sort(partial.begin(), partial.end());
  std::vector<std::size_t> chosen;
  if (quiet < walks.footprints.size()) chosen.push_back(quiet);
  for (std::size_t i = 0; i < partial.size() && chosen.size() < kTelling; ++i) {
    chosen.push_back(partial[i].second);
    if (chosen.size() < kTelling && partial.size() - 1 - i > i) chosen.push_back(partial[partial.size() - 1 - i].second);
  }
  return chosen;
}

std::int64_t furthest(const Walks& walks) { return walks.offsets.empty() ? 0 : *std::max_element(walks.offsets.begin(), walks.offsets.end()); }

double binomial(int n, int k) { return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)); }

SetIndex by_bits(const std::vector<int>& bits) {
  SetIndex index;
  index.mapping = bits.empty() ? "one set" : "bits";
  for (const int bit : bits) index.functions.push_back({bit});
  return index;
}

SetIndex by_residue(std::int64_t block_bytes) {
  SetIndex index;
  index.mapping = "modulo";
  index.block = block_bytes;
  return index;
}

/// Every choice of `count` bits between two, both included; only neighbouring ones where these are too many.
std::vector<std::vector<int>> choices(int low, int high, int count) {
  std::vector<std::vector<int>> all;
  const int from = high - low + 1;
  if (binomial(from, count) > kMostSubsets) {
    for (int first = low; first + count - 1 <= high; ++first) {
      auto& bits = all.emplace_back();
      for (int i = 0; i < count; ++i) bits.push_back(first + i);
    }
    return all;
  }
  std::vector<bool> taken(static_cast<std::size_t>(from));
  std::fill(taken.begin(), taken.begin() + count, true);
  do {
    auto& bits = all.emplace_back();
    for (int i = 0; i < from; ++i) {
      if (taken[static_cast<std::size_t>(i)]) bits.push_back(low + i);
    }
  } while (std::prev_permutation(taken.begin(), taken.end()));
  return all;
}

void add(std::vector<SetCandidate>& all, SetIndex index, std::size_t sets, std::int64_t line_bytes, double bits) {
  auto hypothesis = indexed(index, sets, line_bytes);
  hypothesis.bits = bits;
  all.push_back({std::move(hypothesis), std::move(index), {}});
}

}  // namespace

SetHypothesis labelled(const std::vector<LabelledLine>& lines, std::size_t sets, std::int64_t line_bytes, std::unordered_map<std::int64_t, std::uint32_t> among) {
  std::unordered_map<std::int64_t, std::uint32_t> set_of;
  for (const auto& line : lines) set_of.emplace(line.line, static_cast<std::uint32_t>(line.set));
  return {fmt::format("{} sets of lines that begin to miss together", sets), line_bytes, static_cast<std::uint32_t>(sets),
          [set_of = std::move(set_of)](std::int64_t line) {
            const auto found = set_of.find(line);
            return found == set_of.end() ? kNoSet : found->second;
          },
          kFamily + static_cast<double>(lines.size()) * std::log2(static_cast<double>(sets)),
          [among = std::move(among), sets](std::int64_t line) {
            const auto found = among.find(line);
            return found == among.end() ? static_cast<std::uint32_t>(sets) : found->second;
          }};
}

SetHypothesis indexed(const SetIndex& index, std::size_t sets, std::int64_t line_bytes) {
  const auto count = static_cast<std::uint32_t>(sets);
  if (index.mapping == "one set") return {"one set", line_bytes, 1, [](std::int64_t) { return 0u; }, kFamily};
  if (index.mapping == "modulo") {
    return {fmt::format("{} sets by the residue of blocks of {} B", sets, index.block), line_bytes, count,
            [block = index.block / line_bytes, count](std::int64_t line) { return static_cast<std::uint32_t>(line / block % count); }, kFamily + std::log2(kMostSets) + 3};
  }
  std::vector<std::uint64_t> masks;
  std::vector<std::string> names;
  for (const auto& function : index.functions) {
    std::uint64_t mask = 0;
    for (const int bit : function) mask |= std::uint64_t{1} << bit;
    masks.push_back(mask);
    names.push_back(fmt::format("{}", fmt::join(function, "^")));
  }
  return {fmt::format("{} sets by bits {} of the offset", sets, fmt::join(names, ", ")), line_bytes, count,
          [masks, line_bytes](std::int64_t line) { return static_cast<std::uint32_t>(set_number(masks, static_cast<std::uint64_t>(line * line_bytes))); },
          kFamily + 16.0 * static_cast<double>(masks.size())};
}

std::vector<SetCandidate> likeliest_functions(const Walks& walks, std::int64_t line_bytes, std::int64_t fill_bytes, std::size_t count) {
  const auto some = telling(walks);
  const auto lines = furthest(walks) / line_bytes + 1;
  std::vector<SetCandidate> all;
  add(all, by_bits({}), 1, line_bytes, kFamily);
  if (std::has_single_bit(static_cast<std::uint64_t>(line_bytes))) {
    const int low = std::countr_zero(static_cast<std::uint64_t>(line_bytes)), high = low + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(lines - 1))) - 1;
    for (int taken = 1; taken <= high - low + 1 && (1 << taken) <= static_cast<int>(kMostSets); ++taken) {
      const double bits = kFamily + std::log2(static_cast<double>(high - low + 1)) + std::log2(binomial(high - low + 1, taken));
      for (const auto& chosen : choices(low, high, taken)) add(all, by_bits(chosen), std::size_t{1} << taken, line_bytes, bits);
    }
  }
  for (std::int64_t block = 1; block <= 64 && block < lines; block *= 2) {
    for (std::uint32_t sets = 2; sets <= kMostSets && block * sets <= lines; ++sets) {
      if (std::has_single_bit(sets) && std::has_single_bit(static_cast<std::uint64_t>(line_bytes))) continue;  // bits
      add(all, by_residue(block * line_bytes), sets, line_bytes, kFamily + std::log2(kMostSets) + 3);
    }
  }
  const auto better = [](const SetCandidate& a, const SetCandidate& b) { return a.score.log_posterior > b.score.log_posterior; };
  for (auto& candidate : all) candidate.hypothesis.fill_bytes = fill_bytes, candidate.score = score(candidate.hypothesis, walks, some);
  const auto kept = std::min(count, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(), better);
  all.resize(kept);
  for (auto& candidate : all) candidate.score = score(candidate.hypothesis, walks);
  std::sort(all.begin(), all.end(), better);
  return all;
}

}  // namespace gexp::infer::model
