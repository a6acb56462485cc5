// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

/// What a curve of throughput over parallelism is: hypotheses, and what each is worth beside the others.
namespace gexp::infer {

enum class Rise {
  Plateau,         ///< in proportion to x at first, level in the end
  OtherBeginning,  ///< level in the end, and another power of x at first
  OtherEnd,        ///< in proportion at first, and another power of x in the end: it rises on, or falls
  OtherBoth,       ///< two powers of x
  Power,           ///< one power of x from end to end
  Proportional,    ///< the first power
  Constant,
  Scatter,         ///< none of these: each y lies anywhere
};

/// One hypothesis with its parameters at their likeliest.
struct RiseFit {
  Rise kind = Rise::Scatter;
  std::size_t points = 0;        ///< the first so many; those behind are a fall, and lie anywhere
  double weight = 0;             ///< posterior, of all together 1
  double plateau = 0;            ///< the share of it in which the powers are a plateau's: within kOneThing, and level within kHidden
  double level = 0;              ///< logarithm of y where the asymptotes meet; without a knee, of the asymptote at x = 1
  double knee = 0;
  std::size_t turn = 0;          ///< how one asymptote turns into the other
  double beginning = 0, end = 0; ///< powers of x
  double scatter = 0;            ///< of the points about it: scale of the logarithm
  [[nodiscard]] double log_y(double x) const;
};

struct RiseEvidence {
  std::vector<RiseFit> fits;   ///< best first
  double plateau = 0;          ///< posterior that it rises in proportion and ends level, whatever falls behind
  double low = 0, high = 0;    ///< the knee lies within, 95 %, if there is a plateau
  [[nodiscard]] const RiseFit* best_plateau() const;
  [[nodiscard]] const RiseFit* best_rival() const;
};

/// `x` ascending and above 0. `noise`: scale of log y, at least. `fall`: index of the first point of what may be a fall after the top.
///
/// Between two powers of x lies a knee, of any sharpness from a hyperbola to a corner:
///   log y = level - p log(1 + (knee / x)^m) / m + c log(1 + (x / knee)^m) / m,   p = 1 and c = 0 of a plateau;
/// or a corner of a throughput that a fixed time a launch is added to: y = x / (max(latency, x / plateau) + fixed).
/// Beforehand a knee lies anywhere between the first and the last x (on their logarithms), powers are normal about 1 and 0 with a
/// deviation of 1, and kDeparture says how rare they are. Points are about the curve as Student's t of 4 degrees of freedom has it
/// (Lange, Little and Taylor 1989), so that wild ones decide nothing. What a hypothesis is worth is its marginal likelihood: a sum over
/// knees and sharpness, Laplace's approximation over the rest (Gelman et al. 2013, ch. 4 and 7); tempered as in model_choice.h.
RiseEvidence weigh_rises(const std::vector<double>& x, const std::vector<double>& log_y, double noise, std::optional<std::size_t> fall);

}  // namespace gexp::infer
