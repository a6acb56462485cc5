// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/infer/cumulative_misses.h"
#include "runtime/infer/address_bias.h"
#include "runtime/infer/cut_short.h"
#include "runtime/records/table.h"

namespace gexp::infer {

/// One mode of a stage's latencies: hits of one level, misses to the next, …
struct LatencyClass {
  std::uint32_t low = 0, high = 0;  ///< ticks, both included; classes do not overlap
  double centre = 0;                ///< median tick, the empty region not subtracted
  std::uint64_t support = 0;        ///< accesses
  double apart = INFINITY;          ///< nats by which it and the class before it are two
  double scatter = 0;               ///< standard deviation, in ticks, that its faster half has if normal
};

/// What strikes at any point and address, an interrupt or another program, and makes accesses look like misses.
struct Interference {
  double share = 0;  ///< of all accesses
  double quiet = 0;  ///< accesses of the points where nothing missed, if the share is none; 0: nothing is known
};

/// The latency classes of all ticks of a table pooled, fastest first. Single outliers form no class.
struct Unbiased;
struct Classes {
  bool cut_short = false;  ///< there was no time to find them: nothing may be said of hits and misses
  std::vector<LatencyClass> list;
  /// By class: what interference (DRAM refresh, an interrupt) makes look slower than it.
  std::vector<Interference> interference;
  /// Index of the class that a tick belongs to: the one whose range is nearest.
  [[nodiscard]] std::size_t of(std::uint32_t tick) const;
  /// Ticks above this are slower than class `index`: halfway to the next class; nullopt for the slowest.
  [[nodiscard]] std::optional<double> above(std::size_t index) const;
  /// Ticks above this belong to no class: an interrupt, a refresh, another program. Twice the slowest class.
  [[nodiscard]] double outlier() const;
  /// By which misses are told where addresses differ for where they lie; null where they do not.
  std::shared_ptr<const Unbiased> unbiased;
  /// Those by which misses are told: the unbiased ones, where there are some.
  [[nodiscard]] const Classes& told() const;
  /// What missed by these classes so far.
  std::shared_ptr<CumulativeMisses> cumulative;
};
/// `others`: tables of the same file that walk the same memory by the same path: what decides between two modes shows there, too.
Classes classify(const records::Table& table, const std::vector<const records::Table*>& others = {});
/// The same for this room. CutShort.
Classes classes_of(const records::Table& table, const std::vector<const records::Table*>& others = {});

/// The classes of the same accesses as if every address lay in one place.
struct Unbiased {
  AddressBias bias;
  Classes classes;
};

/// The ticks that count as a miss.
struct MissRange {
  double above = 0;    ///< slower than this
  double outlier = 0;  ///< but not slower than this
  Interference interference = {};  ///< what looks like a miss and is none
  double fast_misses = 0;  ///< share of the misses that scatter makes as fast as hits
  double unsure = 0;   ///< so near to `above`, in ticks, scatter may have made a miss of a hit or a hit of a miss
  std::shared_ptr<const Unbiased> unbiased = nullptr;  ///< not null: of ticks as if every address lay in one place
  [[nodiscard]] bool has(std::int64_t tick) const { return static_cast<double>(tick) > above && static_cast<double>(tick) <= outlier; }
};

/// Which accesses of a point are misses.
class Misses {
 public:
  /// Whoever makes one looks at all accesses of the point.
  Misses(const MissRange& range, const records::Point& point) : above_(range.above), outlier_(range.outlier), unsure_(range.unsure), bias_(range.unbiased ? range.unbiased->bias.by_step(point) : std::vector<double>{}) {
    for (const auto& run : point.runs) work(1 + run.ticks.size() / 16);
  }
  /// `access`: its index in the run.
  bool operator()(std::size_t access, std::uint32_t tick) const {
    const double ticks = unbiased(access, tick);
    return ticks > above_ && ticks <= outlier_;
  }
  /// How many accesses of a run are misses.
  [[nodiscard]] double among(const std::vector<std::uint32_t>& ticks, std::size_t from = 0) const {
    std::size_t misses = 0;
    if (bias_.empty()) {  // no place differs: a comparison of numbers alone
      for (auto i = from; i < ticks.size(); ++i) misses += static_cast<std::size_t>(ticks[i] > above_) & static_cast<std::size_t>(ticks[i] <= outlier_);
    } else {
      for (auto i = from; i < ticks.size(); ++i) misses += (*this)(i, ticks[i]) ? 1 : 0;
    }
    return static_cast<double>(misses);
  }
  /// Whether scatter may have put it on the wrong side.
  [[nodiscard]] bool unsure(std::size_t access, std::uint32_t tick) const {
    const double ticks = unbiased(access, tick);
    return std::abs(ticks - above_) < unsure_ || ticks > outlier_;  // what is far slower than any level says nothing of levels
  }
  /// What the access would take if every address lay in one place.
  [[nodiscard]] double unbiased(std::size_t access, std::uint32_t tick) const { return bias_.empty() ? tick : static_cast<double>(tick) - bias_[access % bias_.size()]; }

 private:
  double above_, outlier_, unsure_;
  std::vector<double> bias_;
};

/// Slower than the fastest class, or, with `slower_than` (cycles, the region's own cost subtracted), than the class that this
/// latency belongs to; of a latency between classes, than the class below it. nullopt: there is no slower class in the table.
std::optional<MissRange> miss_range(const records::Table& table, const Classes& classes, std::optional<double> slower_than = std::nullopt);
/// The middle of the slowest class by which misses are told, in cycles as above; nullopt where there is none.
std::optional<double> slowest_of(const records::Table& table, const Classes& classes);
/// What the timed region costs, in ticks, as the first measured point has it; 0 where there is none.
double first_overhead(const records::Table& table);
/// The least share of what these points visit in a lap that something faster answered than the level to which this latency (cycles, as above)
/// belongs. Shares are of blocks that no line is larger than: a line that came for one of its words is found by the others. Of walks of one
/// thread; 0 where the latency belongs to no class, or to the fastest one.
double share_answered_faster(const records::Table& table, const Classes& classes, const std::vector<const records::Point*>& points, double latency);
/// The same as `miss_range` of ticks as they were measured: for walks that see each address once, where its place cannot be told from a
/// miss.
std::optional<MissRange> raw_miss_range(const records::Table& table, const Classes& classes, std::optional<double> slower_than = std::nullopt);

/// How often a position may look like a miss by interference alone, visited so often, among so many positions.
double most_interference(const MissRange& range, double visits, std::size_t positions);

/// Misses of one position, in so many visits, that interference does not explain at any of so many positions; at least `least`.
std::size_t significant_misses(const MissRange& range, std::size_t visits, std::size_t positions, std::size_t least);

}  // namespace gexp::infer
