// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/set_candidates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/in_parallel.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"

// Functions are many, footprints too. A few footprints in which some addresses miss and others do not tell nearly all functions apart. So all
// functions are scored on the two most telling ones, the better of them on a few more, and the best on everything.
namespace gexp::infer::model {
namespace {

constexpr std::size_t kMostTelling = 2;     // limit: footprints that all functions are scored on
constexpr std::size_t kBetter = 8;          // limit: one function in so many is one of the better ones
constexpr std::size_t kLeastBetter = 256;   // limit: and so many are
constexpr std::uint32_t kMostSets = 1024;  // limit: sets of a function
constexpr std::size_t kMostSubsets = 1000;  // limit: of bits of one number; beyond it, only neighbouring bits are tried
constexpr std::int64_t kMostBlock = 64;       // limit: lines that go to one set together, before a residue of sets
constexpr double kFamily = 2;              // fact: bits that say which of four kinds it is: one set, bits, exclusive ors, a residue

/// Footprints that tell functions apart: the largest in which no address misses, those in which the fewest and the most miss, and some between,
/// in which some sets overflow and others do not.
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
  for (const double part : {0.0, 1.0, 0.5, 0.25, 0.75}) {
    if (partial.empty()) break;
    const auto footprint = partial[static_cast<std::size_t>(part * static_cast<double>(partial.size() - 1))].second;
    if (std::find(chosen.begin(), chosen.end(), footprint) == chosen.end()) chosen.push_back(footprint);
  }
  return chosen;
}

std::int64_t furthest(const Walks& walks) { return walks.offsets.empty() ? 0 : *std::max_element(walks.offsets.begin(), walks.offsets.end()); }

double binomial(int n, int k) { return std::exp(log_of_choices(n, k)); }

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

/// Every choice of so many of the bits; only neighbouring ones where these are too many.
std::vector<std::vector<int>> choices(const std::vector<int>& bits, std::size_t count) {
  std::vector<std::vector<int>> all;
  const auto from = bits.size();
  if (binomial(static_cast<int>(from), static_cast<int>(count)) > kMostSubsets) {
    for (std::size_t first = 0; first + count <= from; ++first) {
      const auto begin = bits.begin() + static_cast<std::ptrdiff_t>(first);
      all.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
    }
    return all;
  }
  std::vector<bool> taken(from);
  std::fill_n(taken.begin(), count, true);
  do {
    auto& chosen = all.emplace_back();
    for (std::size_t i = 0; i < from; ++i) {
      if (taken[i]) chosen.push_back(bits[i]);
    }
  } while (std::prev_permutation(taken.begin(), taken.end()));
  return all;
}

/// To say which function of so many address bits it is.
double bits_of_function(const SetIndex& index, int address_bits) {
  if (index.mapping == "one set") return kFamily;
  if (index.mapping == "modulo") return kFamily + std::log2(kMostSets) + std::log2(kMostBlock);
  const int taken = static_cast<int>(index.functions.size());
  const double of_count = std::log2(std::max(1, address_bits));
  return kFamily + of_count + (index.mapping == "bits" ? std::log2(binomial(address_bits, taken)) : static_cast<double>(taken * std::max(1, address_bits - taken)));
}

void keep_likeliest(std::vector<SetCandidate>& all, std::size_t most, const LineWalks& walked) {
  in_parallel(all.size(), [&](std::size_t i) { all[i].score = score(all[i].hypothesis, walked); });
  const auto kept = std::min(most, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                    [](const SetCandidate& a, const SetCandidate& b) { return a.score.log_posterior > b.score.log_posterior; });
  all.resize(kept);
}

/// In how many orders so many of all can be taken, as a binary logarithm.
double log2_of_orders(std::size_t all, std::size_t taken) {
  return (std::lgamma(static_cast<double>(all + 1)) - std::lgamma(static_cast<double>(all - taken + 1))) / std::log(2.0);
}

}  // namespace

double bits_of_labels(const std::vector<LabelledLine>& lines, std::size_t sets) {
  std::map<std::int64_t, std::size_t> set_of;
  std::map<std::int64_t, std::set<std::size_t>> dealt;  // by group of as many blocks as there are sets
  std::set<std::size_t> seen;
  for (const int bits = blocks_of_one_set(lines).bits; const auto& line : lines) set_of.emplace(line.line >> bits, line.set), seen.insert(line.set);
  bool in_turn = true;  // no group has a set twice
  for (const auto& [block, set] : set_of) in_turn = dealt[block / static_cast<std::int64_t>(sets)].insert(set).second && in_turn;
  const double by_chance = static_cast<double>(set_of.size()) * std::log2(static_cast<double>(sets));
  double by_turns = in_turn ? 0 : INFINITY;
  for (const auto& [group, own] : dealt) by_turns += in_turn ? log2_of_orders(sets, own.size()) : 0;
  const double likelier = std::min(by_chance, by_turns), other = std::max(by_chance, by_turns);
  return kNoFunction + std::max(0.0, 1 + likelier - std::log2(1 + std::exp2(likelier - other)) - log2_of_orders(sets, seen.size()));
}

SetHypothesis labelled(const std::vector<LabelledLine>& lines, std::size_t sets, std::int64_t line_bytes, std::unordered_map<std::int64_t, std::uint32_t> among) {
  std::unordered_map<std::int64_t, std::uint32_t> set_of;
  for (const auto& line : lines) set_of.emplace(line.line, static_cast<std::uint32_t>(line.set));
  return {fmt::format("{} sets of lines that begin to miss together", sets), line_bytes, static_cast<std::uint32_t>(sets),
          [set_of = std::move(set_of)](std::int64_t line) {
            const auto found = set_of.find(line);
            return found == set_of.end() ? kNoSet : found->second;
          },
          bits_of_labels(lines, sets),
          [among = std::move(among), sets](std::int64_t line) {
            const auto found = among.find(line);
            return found == among.end() ? static_cast<std::uint32_t>(sets) : found->second;
          },
          0, blocks_of_one_set(lines).bits};
}

SetHypothesis indexed(const SetIndex& index, std::size_t sets, std::int64_t line_bytes, int address_bits) {
  const auto count = static_cast<std::uint32_t>(sets);
  const double bits = bits_of_function(index, address_bits);
  if (index.mapping == "one set") return {"one set", line_bytes, 1, [](std::int64_t) { return 0u; }, bits};
  if (index.mapping == "modulo") {
    return {fmt::format("{} sets by the residue of blocks of {} B", sets, index.block), line_bytes, count,
            [block = index.block / line_bytes, count](std::int64_t line) { return static_cast<std::uint32_t>(line / block % count); }, bits};
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
          bits};
}

std::vector<SetCandidate> likeliest_functions(const Walks& walks, const std::vector<int>& bits, std::int64_t line_bytes, std::int64_t fill_bytes, std::size_t count) {
  const auto lines = furthest(walks) / line_bytes + 1;
  std::vector<SetCandidate> all;
  const auto add = [&](SetIndex index, std::size_t sets) {
    auto hypothesis = indexed(index, sets, line_bytes, static_cast<int>(bits.size()));
    all.push_back({std::move(hypothesis), std::move(index), {}});
  };
  add(by_bits({}), 1);
  for (std::size_t taken = 1; taken <= bits.size() && (std::uint32_t{1} << taken) <= kMostSets; ++taken) {
    for (const auto& chosen : choices(bits, taken)) work(8), add(by_bits(chosen), std::size_t{1} << taken);
  }
  for (std::int64_t block = 1; block <= kMostBlock && block < lines; block *= 2) {
    for (std::uint32_t sets = 2; sets <= kMostSets && block * sets <= lines; ++sets) {
      if (std::has_single_bit(sets) && std::has_single_bit(static_cast<std::uint64_t>(line_bytes))) continue;  // bits
      add(by_residue(block * line_bytes), sets);
    }
  }
  for (auto& candidate : all) candidate.hypothesis.fill_bytes = fill_bytes;
  const auto some = telling(walks);
  auto most_telling = some;
  most_telling.resize(std::min(kMostTelling, some.size()));
  keep_likeliest(all, std::max(kLeastBetter, all.size() / kBetter), by_line(walks, most_telling, line_bytes, fill_bytes));
  keep_likeliest(all, count, by_line(walks, some, line_bytes, fill_bytes));
  keep_likeliest(all, count, by_line(walks, line_bytes, fill_bytes));
  return all;
}

std::optional<SetCandidate> with_another_bit(const SetCandidate& candidate, const Walks& walks, const std::vector<int>& bits, std::size_t count) {
  const auto& own = candidate.hypothesis;
  const auto& index = candidate.index;
  if (index.mapping == "modulo" || index.mapping == "not bit-defined" || 2 * own.sets > kMostSets) return std::nullopt;
  std::vector<SetCandidate> all;
  const auto add = [&](const std::vector<int>& row) {
    auto more = with_function(index, row);
    if (!more) return;
    auto hypothesis = indexed(*more, 2 * own.sets, own.line_bytes, static_cast<int>(bits.size()));
    hypothesis.fill_bytes = own.fill_bytes;
    all.push_back({std::move(hypothesis), std::move(*more), {}});
  };
  for (std::size_t i = 0; i < bits.size(); ++i) {
    add({bits[i]});
    for (std::size_t j = i + 1; j < bits.size(); ++j) add({bits[i], bits[j]});
  }
  keep_likeliest(all, count, by_line(walks, telling(walks), own.line_bytes, own.fill_bytes));
  keep_likeliest(all, 1, by_line(walks, own.line_bytes, own.fill_bytes));
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

}  // namespace gexp::infer::model
