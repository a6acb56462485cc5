// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/policy_word.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "runtime/sim/cache.h"

// Two policies are one where no sequence of accesses tells them apart. One line more than the set has ways is enough: with it, every
// sequence of hits to ways and of misses can be made, and the line that is out says which way was the victim. The sequences are
// random, with stretches of a few lines and of many, of rare misses and of nothing but misses, laps of hits to every way,
// walks, each line as often in a row as it may have sectors, and begin anew often: two policies can
// meet in a state from which they go on alike.
namespace gexp::sim {
namespace {

constexpr std::uint32_t kMostWays = 1024;  // of a set that is simulated; policies that are alike are of few ways

CacheModel one_set(const CacheModel& cache, std::uint32_t ways) {
  CacheModel one;
  one.line = one.sector = 64;
  one.ways = {ways};
  one.policy = cache.policy;
  one.qlru = cache.qlru;
  return one;
}

struct Observed {
  std::vector<std::uint32_t> lines;
  std::vector<bool> hits;
  std::vector<std::size_t> beginnings;
};

/// A stretch of accesses to a set's lines, one more than its ways.
struct Stretch {
  std::uint32_t accesses;
  std::function<std::uint32_t(std::uint32_t i, std::uint32_t absent)> line;  ///< of the i-th access, while that line is not in
};

/// Every line that is in, in turn, then the one that is not.
Stretch lap(std::uint32_t lines, Random& random) {
  const auto each = 1 + random.below(4);
  return {each * lines, [=](auto i, auto absent) { return (absent + 1 + i / each) % lines; }};
}

/// Some lines or all, in one order, over and over.
Stretch walk(std::uint32_t lines, Random& random) {
  const auto each = 1 + random.below(4), from = random.below(lines), few = 1 + random.below(lines), span = random.below(2) == 0 ? lines : few;
  return {each * span * (2 + random.below(3)), [=](auto i, auto) { return (from + i / each % span) % lines; }};
}

/// Any of some lines, and at some rate the one that is not in.
Stretch chance(std::uint32_t lines, Random& random) {
  constexpr double kMisses[] = {0.02, 0.1, 0.3, 0.5, 0.7, 1};
  const double misses = kMisses[random.below(6)];
  const auto from = random.below(lines), few = 1 + random.below(lines);
  return {1 + random.below(2 + random.below(4 * lines)), [=, &random](auto, auto absent) { return random.unit() < misses ? absent : (from + random.below(few)) % lines; }};
}

Observed observe(const CacheModel& model) {
  const auto lines = model.ways[0] + 1;
  Cache cache(model, 1);
  Random random(lines);
  Observed seen;
  std::uint32_t absent = 0;
  while (seen.beginnings.size() < 48) {
    if (seen.beginnings.empty() || seen.lines.size() - seen.beginnings.back() > 500 + 30 * std::size_t{lines}) {
      seen.beginnings.push_back(seen.lines.size());
      cache.clear();
    }
    const auto kind = random.below(8);
    const auto stretch = kind == 0 ? lap(lines, random) : kind == 1 ? walk(lines, random) : chance(lines, random);
    for (std::uint32_t i = 0; i < stretch.accesses; ++i) {
      const auto line = stretch.line(i, absent);
      const bool hit = cache.access(std::uint64_t{line} * 64).hit;
      seen.lines.push_back(line);
      seen.hits.push_back(hit);
      if (hit) continue;
      for (absent = 0; absent + 1 < lines && cache.holds(std::uint64_t{absent} * 64);) ++absent;
    }
  }
  return seen;
}

bool behaves(const CacheModel& model, const Observed& seen) {
  Cache cache(model, 1);
  auto beginning = seen.beginnings.begin();
  for (std::size_t i = 0; i < seen.lines.size(); ++i) {
    if (beginning != seen.beginnings.end() && *beginning == i) cache.clear(), ++beginning;
    if (cache.access(std::uint64_t{seen.lines[i]} * 64).hit != seen.hits[i]) return false;
  }
  return true;
}

}  // namespace

std::string policy_word(const CacheModel& cache, bool emptied) {
  const auto most = *std::max_element(cache.ways.begin(), cache.ways.end());
  if (most == 1) return "direct";
  if (cache.policy == Policy::Random) return "random";
  if (cache.policy == Policy::Weighted) return std::all_of(cache.weights.begin(), cache.weights.end(), [&](double w) { return w == cache.weights[0]; }) ? "random" : "weighted";
  if (cache.policy == Policy::Lru) return "lru";
  if (cache.policy == Policy::Fifo) return "fifo";
  if (most > kMostWays) return cache.policy == Policy::Plru ? "plru" : cache.policy == Policy::Nru ? "nru" : cache.qlru.name();
  auto model = one_set(cache, most);
  if (!emptied && model.qlru.fills_last()) model.qlru.replace = Qlru::Replace::First;
  const auto seen = observe(model);
  auto other = model;
  constexpr std::pair<Policy, const char*> kNamed[] = {{Policy::Lru, "lru"}, {Policy::Fifo, "fifo"}, {Policy::Plru, "plru"}, {Policy::Nru, "nru"}};
  for (const auto& [policy, word] : kNamed) {
    other.policy = policy;
    if (policy == Policy::Plru && (!std::has_single_bit(most) || most > 64)) continue;
    if (policy == model.policy || behaves(other, seen)) return word;
  }
  other.policy = Policy::Qlru;
  for (const auto& variant : qlru_variants()) {
    other.qlru = variant;
    if (variant == model.qlru || behaves(other, seen)) return variant.name();
  }
  return model.qlru.name();
}

}  // namespace gexp::sim
