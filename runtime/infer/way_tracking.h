// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gexp::infer {

/// The lines in the order of their last use, the oldest first.
class Recency {
 public:
  explicit Recency(std::size_t lines) : next_(lines + 1), before_(lines + 1) {
    for (std::size_t line = 0; line <= lines; ++line) next_[line] = (line + 1) % (lines + 1), before_[next_[line]] = line;
  }
  void use(std::size_t line) {
    const auto end = next_.size() - 1;
    next_[before_[line]] = next_[line], before_[next_[line]] = before_[line];
    before_[line] = before_[end], next_[line] = end;
    next_[before_[line]] = line, before_[end] = line;
  }
  [[nodiscard]] std::size_t oldest() const { return next_.back(); }
  [[nodiscard]] std::size_t after(std::size_t line) const { return next_[line]; }

 private:
  std::vector<std::size_t> next_, before_;  // the last one stands for both ends
};

/// By how much victims with some property may be preferred or avoided, as ratios of odds, each as likely beforehand.
inline constexpr double kTilts[] = {1.0 / 16, 1.0 / 4, 1.0 / 2, 1 / 1.5, 1.5, 2, 4, 16};  // grid: from avoided to preferred

/// One contiguous stretch of history: which line each access touched and whether it missed. It owns neither.
struct History {
  std::span<const std::uint32_t> lines;
  const std::vector<bool>* misses = nullptr;  ///< of a whole run
  std::size_t first = 0;                      ///< index of this stretch's first access there
  bool cold = false;                          ///< begins with an empty set, at its first access
  [[nodiscard]] bool missed(std::size_t i) const { return (*misses)[first + i]; }
};

/// A stretch of a run in which it is known which accesses missed.
struct Stretch {
  std::size_t begin = 0, end = 0;
};

/// Rates at which hits look like misses and misses like hits.
struct LookAlikes {
  double slow = 0, fast = 0;
};

/// The clear stretches of [begin, end) of a run. At any time one of the lines is absent: its access misses and makes another one absent.
/// By that, `missed` is set right where scatter left it `unsure` or interference made a hit look like a miss (Viterbi's algorithm); where
/// both ways are about as likely, a stretch ends and the next one begins. All is left as it is where one rate of misses predicts the
/// accesses better: then the lines do not take turns in being absent. `cold`: begins with an empty set, which the first misses fill.
std::vector<Stretch> clear_stretches(std::span<const std::uint32_t> lines, std::vector<bool>& missed, const std::vector<bool>& unsure, std::size_t begin, std::size_t end,
                                     std::size_t count, bool cold, const LookAlikes& rates);

/// What the evictions of one set show, when one line more than it has ways is walked.
struct Evictions {
  std::vector<double> by_way;        ///< victims by way; labels agree over histories only where `labelled`
  bool labelled = false;             ///< most of them are of histories that began cold: way i is the one that was filled i-th
  double misses = 0;                 ///< evictions seen
  double by_way_misses = 0;          ///< of those, in `by_way`: where labels do not agree, only long histories tell which way is which
  std::size_t by_way_histories = 0;  ///< so many of them
  /// Tempered nats by which 'each way has its own chance' predicts the victims better than 'all have the same': Dirichlet-multinomial. Needs no
  /// common labels.
  double uneven = 0;
  /// A property of victims: how often they have it, how often they should if each is drawn by its way's chance, and the tempered nats by which
  /// 'those that have it are preferred, or avoided' predicts them better.
  struct Against {
    double seen = 0, expected = 0, nats = 0;
    [[nodiscard]] double share() const { return expected > 0 ? seen / expected - 1 : 0; }
  };
  Against older;    ///< victims of the half that was used least recently
  Against repeats;  ///< the same way twice in a row
};

/// Follows which way each line is in: exactly one line is absent at any time, a miss brings it in, and the line that misses next
/// is the one that was evicted (Mei14 section 3.2, step 4). `lines` = ways + 1.
Evictions follow_evictions(const std::vector<History>& histories, std::size_t lines);

}  // namespace gexp::infer
