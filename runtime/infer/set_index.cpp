// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/set_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/math/special_functions/binomial.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <set>

// A set number made of XORs of address bits is linear over GF(2): the differences of lines in one set span a space V, and the
// functions that choose the set are those that vanish on V. If they are k independent ones for 2^k sets, and lines outside one
// another's coset have different labels, the mapping is found; if each function is one bit, it is "bits". A residue of the line
// (or of a block of lines) explains the sets that are no power of two. Fitted on half of the lines, checked on all.
namespace gexp::infer {
namespace {

using Mask = std::uint64_t;

constexpr double kFitByChance = 0.001;  // functions that explain the sets by chance, at most: no more doubt than a finding of 99.9 % states
constexpr double kAlmost = 0.9;         // share of the lines that a function must explain, for the others to be looked at again

/// A basis in reduced row echelon form, highest bit first.
class Basis {
 public:
  void add(Mask v) {
    v = reduce(v);
    if (v == 0) return;
    const Mask top = std::bit_floor(v);
    for (auto& [pivot, row] : rows_) {
      if (row & top) row ^= v;
    }
    rows_[top] = v;
  }
  [[nodiscard]] Mask reduce(Mask v) const {
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
      if (v & row->first) v ^= row->second;
    }
    return v;
  }
  [[nodiscard]] std::vector<Mask> rows() const {
    std::vector<Mask> all;
    for (const auto& [pivot, row] : rows_) all.push_back(row);
    return all;
  }
  [[nodiscard]] bool has_pivot(Mask bit) const { return rows_.contains(bit); }

 private:
  std::map<Mask, Mask> rows_;  // pivot -> row
};

/// Masks m with even parity of (m & v) for every v of the space: one for each bit of `varied` that is no pivot.
std::vector<Mask> annihilators(const Basis& space, int low, int high, Mask varied) {
  std::vector<Mask> found;
  for (int free = low; free <= high; ++free) {
    const Mask bit = Mask{1} << free;
    if (space.has_pivot(bit) || !(bit & varied)) continue;
    Mask mask = bit;
    for (const auto row : space.rows()) {
      if (row & bit) mask |= std::bit_floor(row);
    }
    found.push_back(mask);
  }
  return found;
}

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
  for (const auto& line : lines) {
    const auto k = key(line.line);
    if (label_of.try_emplace(k, line.set).first->second != line.set) return false;
    if (key_of.try_emplace(line.set, k).first->second != k) return false;
  }
  return true;
}

/// Share of the lines that have the commonest parity of their set; 0 where it is the same in all sets, and tells none apart.
double agreement(const std::vector<LabelledLine>& lines, Mask function, Mask line_bytes) {
  std::map<std::size_t, std::array<double, 2>> by_set;
  for (const auto& line : lines) ++by_set[line.set][std::popcount(function & (static_cast<Mask>(line.line) * line_bytes)) & 1];
  double common = 0;
  bool even = false, odd = false;
  for (const auto& [set, counts] : by_set) common += std::max(counts[0], counts[1]), (counts[0] > counts[1] ? even : odd) = true;
  return even && odd ? common / static_cast<double>(lines.size()) : 0;
}

/// As many independent functions, of the fewest bits, as choose among so many sets; fewer where almost none explain the lines.
std::vector<Mask> almost_linear(const std::vector<LabelledLine>& lines, std::size_t wanted, int low, int high, Mask line_bytes) {
  std::vector<Mask> masks;
  for (int a = low; a <= high; ++a) masks.push_back(Mask{1} << a);
  const auto singles = masks.size();
  for (std::size_t a = 0; a < singles; ++a) {
    for (std::size_t b = a + 1; b < singles; ++b) masks.push_back(masks[a] | masks[b]);
  }
  for (std::size_t a = 0; a < singles; ++a) {
    for (std::size_t b = a + 1; b < singles; ++b) {
      for (std::size_t c = b + 1; c < singles; ++c) masks.push_back(masks[a] | masks[b] | masks[c]);
    }
  }
  std::vector<Mask> chosen;
  Basis independent;
  for (const auto mask : masks) {
    if (chosen.size() == wanted) break;
    if (independent.reduce(mask) == 0 || agreement(lines, mask, line_bytes) < kAlmost) continue;
    independent.add(mask);
    chosen.push_back(mask);
  }
  return chosen;
}

/// Bits of the largest aligned blocks, in lines, of which each has one set, and how many blocks the lines are of.
struct OneSetBlocks {
  int bits = 0;
  std::size_t count = 0;
};
OneSetBlocks blocks_of_one_set(const std::vector<LabelledLine>& lines) {
  OneSetBlocks blocks;
  for (int bits = 0; bits < 32; ++bits) {
    std::map<std::int64_t, std::size_t> set_of;
    for (const auto& line : lines) {
      if (set_of.try_emplace(line.line >> bits, line.set).first->second != line.set) return blocks;
    }
    blocks = {bits, set_of.size()};
  }
  return blocks;
}

/// How many of so many functions give these blocks the sets that they have, up to the sets' names, where sets are random.
double fits_by_chance(double functions, std::size_t blocks, std::size_t sets) {
  return std::exp(std::log(functions) + std::lgamma(static_cast<double>(sets) + 1) - static_cast<double>(blocks) * std::log(static_cast<double>(sets)));
}

}  // namespace

bool SetIndex::is_significant() const { return mapping != "not bit-defined" && by_chance <= kFitByChance; }

std::uint64_t set_number(const std::vector<std::uint64_t>& functions, std::uint64_t address) {
  std::uint64_t set = 0;
  for (std::size_t i = 0; i < functions.size(); ++i) set |= static_cast<std::uint64_t>(std::popcount(functions[i] & address) & 1) << i;
  return set;
}

std::vector<SetKey> almost_explaining(const std::vector<LabelledLine>& lines, std::size_t sets, std::int64_t line_bytes) {
  if (sets <= 1) return {[](std::int64_t) { return 0; }};
  std::vector<SetKey> keys;
  const auto bytes = static_cast<Mask>(line_bytes);
  if (const auto bits = choosing_bits(lines, sets, bytes)) {
    const auto wanted = static_cast<std::size_t>(std::countr_zero(sets));
    auto functions = almost_linear(lines, wanted, bits->low, bits->high, bytes);
    if (functions.size() == wanted) keys.emplace_back([functions = std::move(functions), bytes](std::int64_t line) { return set_number(functions, static_cast<Mask>(line) * bytes); });
  }
  for (const auto block : blocks(lines, sets)) keys.push_back(residue(block, sets));
  return keys;
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
    Basis differences;
    std::map<std::size_t, Mask> first;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (std::popcount(static_cast<Mask>(lines[i].line) * 0x9e37u) % 2 == 1 && i > 4) continue;
      const Mask address = static_cast<Mask>(lines[i].line) * bytes;
      differences.add(address ^ first.try_emplace(lines[i].set, address).first->second);
    }
    const auto functions = annihilators(differences, choosing->low, choosing->high, varied_bits(lines, bytes));
    if (functions.size() == static_cast<std::size_t>(std::countr_zero(sets)) &&
        explains(lines, [&](std::int64_t line) { return set_number(functions, static_cast<Mask>(line) * bytes); })) {
      index.mapping = "bits";
      for (const auto function : functions) {
        std::vector<int> bits;
        for (int bit = choosing->low; bit <= choosing->high; ++bit) {
          if (function >> bit & 1) bits.push_back(bit);
        }
        if (bits.size() > 1) index.mapping = "xor";
        index.functions.push_back(std::move(bits));
      }
      const auto [block_bits, count] = blocks_of_one_set(lines);
      const auto wanted = static_cast<unsigned>(functions.size()), from = std::max(wanted, static_cast<unsigned>(std::max(0, choosing->high - choosing->low + 1 - block_bits)));
      index.by_chance = fits_by_chance(index.mapping == "bits" ? boost::math::binomial_coefficient<double>(from, wanted) : std::exp2(wanted * (from - wanted)), count, sets);
      return index;
    }
  }
  for (const auto block : blocks(lines, sets)) {
    if (explains(lines, residue(block, sets))) {
      index.mapping = "modulo";
      index.block = block * line_bytes;
      index.by_chance = fits_by_chance(1, blocks_of_one_set(lines).count, sets);
      return index;
    }
  }
  return index;
}

}  // namespace gexp::infer
