// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/set_index.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "runtime/infer/bit_basis.h"
#include "runtime/infer/cut_short.h"

// A set number made of XORs of address bits is linear over GF(2): the differences of lines in one set span a space V, and the
// functions that choose the set are those that vanish on V. If they are k independent ones for 2^k sets, and lines outside one
// another's coset have different labels, the mapping is found; if each function is one bit, it is "bits". A residue of the line
// (or of a block of lines) explains the sets that are no power of two. Fitted on half of the lines, checked on all.
namespace gexp::infer {
namespace {

using Mask = std::uint64_t;

std::int64_t furthest(const std::vector<LabelledLine>& lines) {
  std::int64_t most = 0;
  for (const auto& line : lines) most = std::max(most, line.line);
  return most;
}

/// The address bits that may choose among so many sets; nullopt where no bits can.
struct Bits {
  int low, high;  ///< both included
};
std::optional<Bits> choosing_bits(const std::vector<LabelledLine>& lines, std::size_t sets, Mask line_bytes) {
  if (!std::has_single_bit(sets) || !std::has_single_bit(line_bytes)) return std::nullopt;
  const int low = std::countr_zero(line_bytes);
  return Bits{low, low + static_cast<int>(std::bit_width(static_cast<Mask>(furthest(lines)))) - 1};
}

/// Blocks of lines, in lines, whose residue may be the set.
std::vector<std::int64_t> blocks(const std::vector<LabelledLine>& lines, std::size_t sets) {
  std::vector<std::int64_t> all;
  for (std::int64_t block = 1; block <= 64 && block * static_cast<std::int64_t>(sets) <= furthest(lines); block *= 2) all.push_back(block);
  return all;
}

/// The address bits in which the lines differ; what the others do, they cannot tell.
Mask varied_bits(const std::vector<LabelledLine>& lines, Mask line_bytes) {
  Mask varied = 0;
  for (const auto& line : lines) varied |= static_cast<Mask>(line.line ^ lines.front().line);
  return varied * line_bytes;
}

SetKey residue(std::int64_t block, std::size_t sets) {
  return [block, sets](std::int64_t line) { return static_cast<std::uint64_t>(line / block % static_cast<std::int64_t>(sets)); };
}

/// Whether key(line) and label determine each other.
template <class Key> bool explains(const std::vector<LabelledLine>& lines, Key key) {
  std::map<std::uint64_t, std::size_t> label_of;
  std::map<std::size_t, std::uint64_t> key_of;
  work(lines.size() / 4);
  for (const auto& line : lines) {
    const auto k = key(line.line);
    if (label_of.try_emplace(k, line.set).first->second != line.set) return false;
    if (key_of.try_emplace(line.set, k).first->second != k) return false;
  }
  return true;
}

/// How many lines have the label that most lines with the same set number have, if no two numbers share a label; 0 if some do.
std::size_t agreeing(const std::vector<LabelledLine>& lines, const std::vector<Mask>& functions, Mask line_bytes) {
  std::map<std::uint64_t, std::map<std::size_t, std::size_t>> votes;
  work(lines.size());
  for (const auto& line : lines) ++votes[set_number(functions, static_cast<Mask>(line.line) * line_bytes)][line.set];
  std::set<std::size_t> labels;
  std::size_t agree = 0;
  for (const auto& [number, counts] : votes) {
    const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (!labels.insert(most->first).second) return 0;
    agree += most->second;
  }
  return agree;
}

/// As many functions as choose among so many sets, from a few lines of each trial that are taken at random, so that some trial has none with a
/// wrong label (Fischler and Bolles 1981); those that the labels agree with best.
std::vector<Mask> nearest_functions(const std::vector<LabelledLine>& lines, std::size_t wanted, int low, int high, Mask line_bytes) {
  constexpr int kTrials = 300;  // limit: random choices of lines
  std::map<std::size_t, std::vector<Mask>> by_set;
  for (const auto& line : lines) by_set[line.set].push_back(static_cast<Mask>(line.line) * line_bytes);
  std::vector<const std::vector<Mask>*> sets;
  for (const auto& [set, members] : by_set) sets.push_back(&members);
  const auto varied = varied_bits(lines, line_bytes);
  std::mt19937_64 random(1);
  const auto one_of = [&](const auto& all) { return all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random)]; };
  std::vector<Mask> best;
  std::size_t most = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    BitBasis differences;
    auto functions = differences.annihilator(varied);
    for (int sample = 0; functions.size() > wanted && sample < 8 * (high - low + 1); ++sample) {
      work(static_cast<std::size_t>(high - low + 1));
      const auto& members = *one_of(sets);
      const auto difference = one_of(members) ^ one_of(members);
      if (differences.reduce(difference) == 0) continue;
      differences.add(difference);
      functions = differences.annihilator(varied);
    }
    if (functions.size() != wanted) continue;
    if (const auto agree = agreeing(lines, functions, line_bytes); agree > most) most = agree, best = std::move(functions);
    if (most == lines.size()) break;
  }
  return best;
}

/// The same choice of sets by functions each of which has a lowest bit that no other has, ascending: of many names, one.
std::vector<Mask> reduced(const std::vector<Mask>& functions) {
  std::vector<Mask> rows;
  for (auto mask : functions) {
    for (const auto row : rows) {
      if (mask & row & -row) mask ^= row;
    }
    if (mask == 0) continue;
    for (auto& row : rows) {
      if (row & mask & -mask) row ^= mask;
    }
    rows.push_back(mask);
  }
  std::sort(rows.begin(), rows.end(), [](Mask a, Mask b) { return (a & -a) < (b & -b); });
  return rows;
}

}  // namespace

SetIndex index_by(const std::vector<std::uint64_t>& functions) {
  SetIndex index;
  index.mapping = "bits";
  for (const auto function : reduced(functions)) {
    std::vector<int> bits;
    for (auto left = function; left != 0; left &= left - 1) bits.push_back(std::countr_zero(left));
    if (bits.size() > 1) index.mapping = "xor";
    index.functions.push_back(std::move(bits));
  }
  return index;
}

std::uint64_t set_number(const std::vector<std::uint64_t>& functions, std::uint64_t address) {
  std::uint64_t set = 0;
  for (std::size_t i = 0; i < functions.size(); ++i) set |= static_cast<std::uint64_t>(std::popcount(functions[i] & address) & 1) << i;
  return set;
}

bool is_same_index(const SetIndex& a, const SetIndex& b) { return a.mapping == b.mapping && a.block == b.block && a.functions == b.functions; }

std::optional<SetIndex> with_function(const SetIndex& index, const std::vector<int>& bits) {
  std::vector<Mask> masks;
  const auto add = [&](const std::vector<int>& function) {
    auto& mask = masks.emplace_back(0);
    for (const int bit : function) mask |= Mask{1} << bit;
  };
  for (const auto& function : index.functions) add(function);
  add(bits);
  auto more = index_by(masks);
  return more.functions.size() == masks.size() ? std::optional(std::move(more)) : std::nullopt;
}

std::optional<SetIndex> nearest_linear_index(const std::vector<LabelledLine>& lines, std::size_t sets, std::int64_t line_bytes) {
  const auto bytes = static_cast<Mask>(line_bytes);
  const auto bits = choosing_bits(lines, sets, bytes);
  if (!bits || sets <= 1) return std::nullopt;
  const auto wanted = static_cast<std::size_t>(std::countr_zero(sets));
  const auto functions = nearest_functions(lines, wanted, bits->low, bits->high, bytes);
  return functions.size() == wanted ? std::optional(index_by(functions)) : std::nullopt;
}

OneSetBlocks blocks_of_one_set(const std::vector<LabelledLine>& lines) {
  OneSetBlocks blocks;
  for (int bits = 0; bits < 32; ++bits) {
    work(lines.size());
    std::map<std::int64_t, std::size_t> set_of;
    for (const auto& line : lines) {
      if (set_of.try_emplace(line.line >> bits, line.set).first->second != line.set) return blocks;
    }
    blocks = {bits, set_of.size()};
  }
  return blocks;
}

SetIndex find_set_index(const std::vector<LabelledLine>& lines, std::size_t sets, std::int64_t line_bytes) {
  SetIndex index;
  if (sets <= 1) {
    index.mapping = "one set";
    return index;
  }
  const auto bytes = static_cast<Mask>(line_bytes);
  if (const auto choosing = choosing_bits(lines, sets, bytes)) {
    // Half of the lines, not every second one: those would never differ in the lowest bit.
    BitBasis differences;
    std::map<std::size_t, Mask> first;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (std::popcount(static_cast<Mask>(lines[i].line) * 0x9e37u) % 2 == 1 && i > 4) continue;
      const Mask address = static_cast<Mask>(lines[i].line) * bytes;
      differences.add(address ^ first.try_emplace(lines[i].set, address).first->second);
    }
    const auto functions = differences.annihilator(varied_bits(lines, bytes));
    if (functions.size() == static_cast<std::size_t>(std::countr_zero(sets)) &&
        explains(lines, [&](std::int64_t line) { return set_number(functions, static_cast<Mask>(line) * bytes); })) {
      return index_by(functions);
    }
  }
  for (const auto block : blocks(lines, sets)) {
    if (explains(lines, residue(block, sets))) {
      index.mapping = "modulo";
      index.block = block * line_bytes;
      return index;
    }
  }
  return index;
}

}  // namespace gexp::infer
