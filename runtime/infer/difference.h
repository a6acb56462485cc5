// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

/// Whether two measurements of the same quantities agree, as far as their repetitions tell.
namespace gexp::infer {

/// From the least to the most telling: of several, the last one counts.
enum class Agreement { Same, Undetermined, Ambiguous, Different };
const char* word(Agreement agreement);  ///< "SAME"

/// One quantity as the repetitions of either side saw it. Repetitions are independent of each other.
struct Pair {
  std::vector<double> a, b;
};

struct Tolerance {
  double margin = 0.02;   ///< of the larger of both: a difference below it means nothing in practice
  double resolution = 0;  ///< in the quantity's unit: nor does one below this
  double zero_floor = 0;      ///< of the largest value of all pairs, where any of them scatter: nor does one below this. For counts and shares, of which few are zero
  double chance = 0.01;   ///< of calling any of all pairs different when none is
};

struct Difference {
  Agreement agreement = Agreement::Ambiguous;
  double a = 0, b = 0;        ///< means, from ten repetitions on without their highest and lowest tenth
  double low = 0, high = 0;   ///< b - a lies within, for all pairs at once but for `chance`; infinite with too few repetitions
  double margin = 0;          ///< in the quantity's unit
  std::size_t repetitions = 0;  ///< of the side that has fewer
  [[nodiscard]] bool exact() const { return low == high; }
};

/// SAME: the 95 % interval of a pair's difference lies within the margin. DIFFERENT: its interval for all pairs at once lies beyond.
std::vector<Difference> differences(const std::vector<Pair>& pairs, const Tolerance& tolerance);

}  // namespace gexp::infer
