// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gexp::infer {

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

/// The clear stretches of [begin, end) of a run. At any time one of the lines is absent: its access misses and makes another one absent.
/// By that, `missed` is set right where scatter left it `unsure` or interference made a hit look like a miss; where both ways are
/// about as likely, a stretch ends and the next one begins. All is left as it is where more than one in a hundred sure accesses would
/// have to be wrong: then the lines do not take turns in being absent. `cold`: begins with an empty set, which the first misses fill.
std::vector<Stretch> clear_stretches(std::span<const std::uint32_t> lines, std::vector<bool>& missed, const std::vector<bool>& unsure, std::size_t begin, std::size_t end,
                                     std::size_t count, bool cold);

/// What the evictions of one set show, when one line more than it has ways is walked.
struct Evictions {
  std::vector<double> by_way;        ///< victims by way; labels agree over histories only where `labelled`
  bool labelled = false;             ///< every history began cold: way i is the one that was filled i-th
  double misses = 0;                 ///< evictions seen
  double by_way_misses = 0;          ///< of those, in `by_way`: where labels do not agree, only long histories tell which way is which
  std::size_t by_way_histories = 0;  ///< so many of them
  double uniform_chi2 = 0, uniform_dof = 0;  ///< against equal chances, summed over histories (needs no common labels)
  /// What two properties of the victims should be if each is drawn by its way's chance, and what they are.
  struct Against {
    double seen = 0, expected = 0, variance = 0;
    [[nodiscard]] double deviations() const;  ///< standard ones; 0 where nothing was seen
    [[nodiscard]] double share() const { return expected > 0 ? seen / expected - 1 : 0; }
  };
  Against older;    ///< victims of the half that was used least recently
  Against repeats;  ///< the same way twice in a row
};

/// Follows which way each line is in: exactly one line is absent at any time, a miss brings it in, and the line that misses next
/// is the one that was evicted (Mei14 section 3.2, step 4). `lines` = ways + 1.
Evictions follow_evictions(const std::vector<History>& histories, std::size_t lines);

}  // namespace gexp::infer
