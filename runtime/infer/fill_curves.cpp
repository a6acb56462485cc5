// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/fill_curves.h"

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <cmath>
#include <limits>

#include "runtime/infer/model/evidence.h"
#include "runtime/infer/statistics.h"

// In a steady state a set with more lines than ways misses in every lap. Where sets fill evenly, each line too many adds the same to what
// misses, until all sets overflow. Where they fill unevenly, few overflow at first, and the last ones only far beyond the size. So the
// two differ in how the share of what misses grows.
namespace gexp::infer {
namespace {

constexpr double kMostMore = 2.5;  // grid: uneven sets are tried up to so many times the size
constexpr int kSizes = 64;         // grid: sizes that are tried of each hypothesis
constexpr double kNext = 1.19;     // grid: from one surplus of misses, or spread of loads, to the next that is tried

/// Even sets: each line too many makes as many miss as `lines` says, itself included. By LRU and FIFO these are a set's ways and one more;
/// a policy that keeps some lines for good makes fewer miss.
double even_share(double ratio, double lines) { return std::clamp(lines * (1 - 1 / ratio), 0.0, 1.0); }

/// Even sets whose victims are drawn at random: a line survives each miss of its set by chance of 1 - 1 / ways.
double random_share(double ratio, double ways) {
  if (ratio <= 1) return 0;
  double share = 1;
  for (int i = 0; i < 50; ++i) share = 1 - std::pow(1 - 1 / ways, ratio * ways * share);
  return share;
}

/// Sets whose loads are spread about their mean, `ratio` of what each holds: by a normal distribution with a variance that grows with the
/// load, as it does where chance deals lines to sets. `spread`: the standard deviation where the mean load is what a set holds. The share
/// is that of the lines in sets with too many.
double uneven_share(double ratio, double spread) {
  const double deviation = spread * std::sqrt(ratio), z = (1 - ratio) / deviation;
  const double beyond = normal_share_beyond(z);
  const double density = std::exp(-z * z / 2) * boost::math::double_constants::one_div_root_two_pi;
  return std::clamp(beyond + deviation / ratio * density, 0.0, 1.0);
}

/// A curve that was fitted to the shares.
struct Fitted {
  double squares = std::numeric_limits<double>::infinity();  ///< by which it misses them, together
  std::vector<double> predicted;                             ///< of each footprint

  /// Tries a curve with sizes in this range.
  template <typename ShareAt>
  void try_sizes(const std::vector<MissingShare>& shares, double from, double to, ShareAt share_at) {
    for (int i = 0; i <= kSizes; ++i) {
      const double size = from + (to - from) * i / kSizes;
      double sum = 0;
      std::vector<double> all;
      for (const auto& each : shares) {
        all.push_back(share_at(each.footprint / size));
        sum += (each.share - all.back()) * (each.share - all.back());
      }
      if (sum < squares) squares = sum, predicted = std::move(all);
    }
  }
};

/// Footprints that could tell the curves apart: something misses, or one of the curves says so. Those that fit by both, and do fit, say
/// nothing of how well either predicts what misses.
double telling(const std::vector<MissingShare>& shares, const Fitted& even, const Fitted& uneven) {
  double count = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    count += std::max({shares[i].share, even.predicted[i], uneven.predicted[i]}) > model::kAccident ? 1 : 0;
  }
  return count;
}

}  // namespace

double better_by_uneven_sets(const std::vector<MissingShare>& shares, const Fits& fits) {
  if (shares.empty()) return 0;
  Fitted even, uneven;
  for (double lines = 1; lines <= 64; lines *= kNext) {
    even.try_sizes(shares, fits.from, fits.to, [&](double ratio) { return even_share(ratio, lines); });
  }
  for (double ways = 2; ways <= 64; ways *= 2) {
    even.try_sizes(shares, fits.from, fits.to, [&](double ratio) { return random_share(ratio, ways); });
  }
  for (double spread = 0.03; spread <= 0.7; spread *= kNext) {
    uneven.try_sizes(shares, fits.from, kMostMore * fits.from, [&](double ratio) { return uneven_share(ratio, spread); });
  }
  const double count = telling(shares, even, uneven), noise = count * model::kAccident * model::kAccident;
  return count == 0 ? 0 : count / 2 * std::log((even.squares + noise) / (uneven.squares + noise));
}

}  // namespace gexp::infer
