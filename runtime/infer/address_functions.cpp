// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/address_functions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "runtime/infer/bit_basis.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"

// Where memory controllers and slices lie is decided by exclusive ors of address bits, and by what is left of a division where their number
// is no power of two. Only the first can be read off labels without a guess: an exclusive or that the label decides is one that all lines of
// a label of a page agree on. The rest is told by flips: two lines that differ by one of these are in one place wherever they lie.
namespace gexp::infer {
namespace {

constexpr std::size_t kMostBits = 16;         // limit: address bits of which all exclusive ors are tried
constexpr std::size_t kMostFitted = 4096;     // limit: lines on which masks are chosen
constexpr std::size_t kLinesForConstant = 9;  // limit: lines of a judged page that tell its constant; odd, so that there is a majority

/// Scatters what is near (Knuth's multiplicative hash).
std::uint64_t scattered(std::uint64_t offset) { return offset * 0x9e3779b97f4a7c15ULL; }
/// Half of all offsets, by chance.
bool in_judged_half(std::uint64_t offset) { return odd_parity(scattered(offset) >> 40); }

/// The basis of fewest bits.
std::vector<std::uint64_t> simplest_basis(const BitBasis& span) {
  std::vector<std::uint64_t> all{0}, made;
  for (const auto each : span.rows()) {
    for (std::size_t i = 0, n = all.size(); i < n; ++i) all.push_back(all[i] ^ each);
  }
  std::sort(all.begin(), all.end(), [](auto a, auto b) { return std::pair(std::popcount(a), a) < std::pair(std::popcount(b), b); });
  BitBasis so_far;
  for (const auto each : all) {
    if (so_far.add(each)) made.push_back(each);
  }
  return made;
}

/// All masks made of some bits, none and those alone included.
std::vector<std::uint64_t> masks_of(std::uint64_t bits) {
  std::vector<std::uint64_t> made{0};
  for (; bits != 0; bits &= bits - 1) {
    const auto low = bits & (~bits + 1);
    for (std::size_t i = 0, n = made.size(); i < n; ++i) made.push_back(made[i] | low);
  }
  return made;
}

std::uint64_t within(std::int64_t offset, std::int64_t page) { return static_cast<std::uint64_t>(offset % page); }

struct Split {
  std::vector<PlacedLine> fitted, judged;
};
/// Every second page is judged; of one page, every second line by a hash of its number.
Split split(const std::vector<PlacedLine>& lines, std::int64_t page) {
  std::map<std::int64_t, std::size_t> pages;
  for (const auto& line : lines) pages.emplace(line.offset / page, 0);
  std::size_t number = 0;
  for (auto& [at, index] : pages) index = number++;
  Split made;
  for (const auto& line : lines) {
    const bool judged = pages.size() > 1 ? pages[line.offset / page] % 2 == 1 : in_judged_half(static_cast<std::uint64_t>(line.offset));
    (judged ? made.judged : made.fitted).push_back(line);
  }
  return made;
}

/// Lines of a label in a page, two at least.
using Groups = std::vector<std::vector<std::uint64_t>>;
Groups groups_of(const std::vector<PlacedLine>& lines, std::int64_t page) {
  std::map<std::pair<std::int64_t, std::size_t>, std::vector<std::uint64_t>> by;
  const auto every = (lines.size() + kMostFitted - 1) / kMostFitted;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // By chance of the offset: every n-th line would vary fewer bits.
    if (every > 1 && (scattered(static_cast<std::uint64_t>(lines[i].offset)) >> 32) % every != 0) continue;
    by[{lines[i].offset / page, lines[i].label}].push_back(within(lines[i].offset, page));
  }
  Groups groups;
  for (auto& [key, members] : by) {
    if (members.size() > 1) groups.push_back(std::move(members));
  }
  return groups;
}

/// Nats by which "each group agrees on this exclusive or" predicts better than chance does, where `wrong` of `lines` do not agree.
double agreement(double lines, double wrong, double groups) {
  const double share = (wrong + 0.5) / (lines + 1);
  return lines * std::log(2.0) + wrong * std::log(share) + (lines - wrong) * std::log(1 - share) - groups * std::log(2.0);
}

/// Judges one mask by lines that it was not chosen on: how many there are, and how many it holds for.
struct Verdict {
  double judged = 0, right = 0;
};
Verdict judge(std::uint64_t mask, const Split& lines, std::size_t labels, std::int64_t page) {
  // What a label says of the mask, up to a page's constant: pages are brought in line one after another, by the labels that they share.
  std::vector<double> of_label(labels, 0);
  const auto follow = [&](const std::vector<PlacedLine>& some, std::size_t constant_lines, Verdict* verdict) {
    std::map<std::int64_t, std::vector<const PlacedLine*>> pages;
    for (const auto& line : some) pages[line.offset / page].push_back(&line);
    for (const auto& [at, members] : pages) {
      double votes = 0;
      std::size_t first = 0;
      for (const auto* line : members) {
        if (constant_lines > 0 && first == constant_lines) break;
        if (of_label[line->label] == 0) continue;
        votes += odd_parity(within(line->offset, page) & mask) == (of_label[line->label] > 0) ? 1 : -1;
        ++first;
      }
      const bool constant = votes < 0;
      std::size_t seen = 0;
      for (const auto* line : members) {
        const bool parity = odd_parity(within(line->offset, page) & mask) != constant;
        if (!verdict) {
          of_label[line->label] += parity ? 1 : -1;
        } else if (of_label[line->label] != 0 && seen++ >= first) {
          verdict->judged += 1;
          verdict->right += parity == (of_label[line->label] > 0) ? 1 : 0;
        }
      }
    }
  };
  follow(lines.fitted, 0, nullptr);
  Verdict verdict;
  follow(lines.judged, kLinesForConstant, &verdict);
  return verdict;
}

}  // namespace

VaryingBits varying_bits(const std::vector<PlacedLine>& lines, std::int64_t page) {
  VaryingBits made;
  std::map<std::int64_t, std::uint64_t> first;
  BitBasis span;
  for (const auto& line : lines) {
    const auto at = within(line.offset, page);
    const auto difference = at ^ first.emplace(line.offset / page, at).first->second;
    made.mask |= difference;
    if (span.size() < 64) span.add(difference);
  }
  made.independent = span.size();
  return made;
}

Parities find_parities(const std::vector<PlacedLine>& lines, std::size_t labels, std::int64_t page) {
  Parities made;
  const auto halves = split(lines, page);
  const auto bits = varying_bits(lines, page).mask;
  const auto groups = groups_of(halves.fitted, page);
  if (labels < 2 || groups.empty() || static_cast<std::size_t>(std::popcount(bits)) > kMostBits) return made;
  double all = 0;
  for (const auto& group : groups) all += static_cast<double>(group.size());
  std::vector<std::pair<int, std::uint64_t>> held;  // by number of bits
  for (const auto mask : masks_of(bits)) {
    if (mask == 0) continue;
    work(1 + static_cast<std::size_t>(all) / 64);
    double wrong = 0;
    for (const auto& group : groups) {
      std::size_t ones = 0;
      for (const auto at : group) ones += odd_parity(at & mask) ? 1 : 0;
      wrong += static_cast<double>(std::min(ones, group.size() - ones));
      if (wrong > (1 - model::kGivenPart) * all) break;
    }
    const bool mostly = wrong <= (1 - model::kGivenPart) * all;
    if (mostly && agreement(all, wrong, static_cast<double>(groups.size())) > std::popcount(bits) * std::log(2.0) + model::kDecisive) held.emplace_back(std::popcount(mask), mask);
  }
  std::sort(held.begin(), held.end());
  BitBasis span;
  made.judged = halves.judged.size();
  for (const auto& [count, mask] : held) {
    if (span.reduce(mask) == 0) continue;
    const auto verdict = judge(mask, halves, labels, page);
    if (verdict.judged == 0) continue;
    if (verdict.right < model::kGivenPart * verdict.judged) {
      made.refuted = std::max(made.refuted, verdict.right / verdict.judged);
      continue;
    }
    span.add(mask);
    made.masks.push_back(mask);
    made.predicted = std::min(made.predicted, verdict.right / verdict.judged);
    made.judged = std::min(made.judged, static_cast<std::size_t>(verdict.judged));
  }
  std::map<std::int64_t, int> pages;
  for (const auto& line : halves.judged) pages[line.offset / page] = 1;
  made.pages = pages.size();
  return made;
}

namespace {

/// Sets of labels that were joined.
class Joined {
 public:
  explicit Joined(std::size_t labels) : parent_(labels), sets_(labels) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t of(std::size_t label) {
    while (parent_[label] != label) label = parent_[label] = parent_[parent_[label]];
    return label;
  }
  void join(std::size_t a, std::size_t b) {
    a = of(a), b = of(b);
    if (a == b) return;
    parent_[std::max(a, b)] = std::min(a, b);
    --sets_;
  }
  [[nodiscard]] std::size_t sets() const { return sets_; }

 private:
  std::vector<std::size_t> parent_;
  std::size_t sets_;
};

/// Nats that it takes to say where the lines are, if those that differ by flips are in one group of labels: the group of each set of lines
/// that flips make of one, beside what the parities tell of it; which label of its group a line has; and which labels are a group.
double description(Joined groups, const BitBasis& flips, const std::vector<PlacedLine>& lines, std::size_t labels, std::size_t parities, std::int64_t page) {
  std::vector<double> size(labels, 0);
  for (std::size_t label = 0; label < labels; ++label) size[groups.of(label)] += 1;
  std::unordered_set<std::uint64_t> sets;
  double nats = 0;
  for (const auto& line : lines) {
    const auto inside = within(line.offset, page);
    sets.insert(static_cast<std::uint64_t>(line.offset) - inside + flips.reduce(inside));
    nats += std::log(size[groups.of(line.label)]);
  }
  const auto count = static_cast<double>(groups.sets());
  return nats + static_cast<double>(sets.size()) * std::max(0.0, std::log(count) - static_cast<double>(parities) * std::log(2.0)) + static_cast<double>(labels) * std::log(count);
}

}  // namespace

Flips find_flips(const std::vector<PlacedLine>& all, std::size_t labels, const Parities& parities, std::int64_t page) {
  Flips made;
  auto lines = all;  // neighbours: pairs need both lines
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  if (lines.size() > kMostFitted) lines.resize(kMostFitted);
  std::unordered_map<std::uint64_t, std::size_t> at;  // the label, by offset
  for (const auto& line : lines) at.emplace(static_cast<std::uint64_t>(line.offset), line.label);
  const auto bits = varying_bits(lines, page).mask;
  if (static_cast<std::size_t>(std::popcount(bits)) > kMostBits) return made;
  const auto pairs = [&](std::uint64_t flip, bool judged, const auto& visit) {
    work(1 + lines.size() / 16);
    for (const auto& line : lines) {
      const auto own = static_cast<std::uint64_t>(line.offset);
      if (const auto other = own ^ flip; other > own && in_judged_half(own) == judged) {
        if (const auto found = at.find(other); found != at.end()) visit(line.label, found->second);
      }
    }
  };
  const auto described = [&](const Joined& groups, const BitBasis& flips) { return description(groups, flips, lines, labels, parities.masks.size(), page); };
  const double of_parities = static_cast<double>(parities.masks.size()) * std::log(2.0);
  const double without = static_cast<double>(lines.size()) * (std::log(static_cast<double>(labels)) - of_parities) + static_cast<double>(labels) * of_parities;
  std::vector<std::pair<double, std::uint64_t>> candidates;  // what each alone leaves to be said
  for (const auto flip : masks_of(bits)) {
    if (flip == 0 || std::any_of(parities.masks.begin(), parities.masks.end(), [&](auto mask) { return odd_parity(mask & flip); })) continue;
    Joined joined(labels);
    pairs(flip, false, [&](std::size_t a, std::size_t b) { joined.join(a, b); });
    BitBasis alone;
    alone.add(flip);
    if (const double nats = described(joined, alone); nats < without) candidates.emplace_back(nats, flip);
  }
  std::sort(candidates.begin(), candidates.end());
  Joined joined(labels);
  BitBasis span;
  double least = without;
  for (const auto& [nats, flip] : candidates) {
    if (span.reduce(flip) == 0) continue;
    auto wider = joined;
    pairs(flip, false, [&](std::size_t a, std::size_t b) { wider.join(a, b); });
    auto with = span;
    with.add(flip);
    if (const double described_so = described(wider, with); described_so < least) joined = wider, span = with, least = described_so;
  }
  made.masks = simplest_basis(span);
  // Judged by the pairs that are left; then these join, too, as a label of few lines may have no other pair.
  double right = 0;
  auto all_pairs = joined;
  for (const auto flip : made.masks) {
    pairs(flip, true, [&](std::size_t a, std::size_t b) { ++made.judged, right += joined.of(a) == joined.of(b) ? 1 : 0, all_pairs.join(a, b); });
  }
  if (made.judged > 0) made.predicted = right / static_cast<double>(made.judged);
  std::map<std::size_t, std::size_t> number;
  for (std::size_t label = 0; label < labels; ++label) made.group.push_back(number.emplace(all_pairs.of(label), number.size()).first->second);
  made.groups = number.size();
  return made;
}

}  // namespace gexp::infer
