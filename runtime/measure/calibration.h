// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

/// Whether stated confidences are what they say: of the claims at 95 %, 95 in 100 should be right.
namespace gexp::measure {

struct Claim {
  double confidence = 0;
  bool right = false;
};

struct Reliability {
  struct Bin {
    double from = 0, to = 0;  ///< confidences from `from` on, below `to`
    std::size_t claims = 0, wrong = 0;
    double stated = 0;         ///< mean confidence of its claims
    double low = 0, high = 0;  ///< share of right ones: 95 % interval of Wilson (1927)
  };
  std::vector<Bin> bins;  ///< those that have claims
  std::size_t claims = 0, wrong = 0;
  /// Mean of -ln of what was stated of what came out (Good 1952). A claim without doubt that is wrong counts as one
  /// of 99.9999 %.
  double log_loss = 0;
  double brier = 0;  ///< mean square of what was stated less what came out, 1 or 0 (Brier 1950)
};

Reliability reliability(const std::vector<Claim>& claims);

}  // namespace gexp::measure
