// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/calibration.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

namespace gexp::measure {
namespace {

/// The last bin takes what is stated as certain.
constexpr double kSteps[] = {0, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0001};
constexpr double kSurest = 1e-6;  // of a claim without doubt: its logarithm would be infinite
constexpr double kNormal = 1.96;  // of a normal distribution, 95 % lie within so many standard deviations

std::pair<double, double> wilson(double right, double claims) {
  const double share = right / claims, z = kNormal * kNormal / claims;
  const double middle = share + z / 2, half = std::sqrt(share * (1 - share) * z + z * z / 4);
  return {(middle - half) / (1 + z), (middle + half) / (1 + z)};
}

}  // namespace

Reliability reliability(const std::vector<Claim>& claims) {
  Reliability made;
  for (std::size_t i = 0; i + 1 < std::size(kSteps); ++i) {
    Reliability::Bin bin{kSteps[i], kSteps[i + 1]};
    for (const auto& claim : claims) {
      if (claim.confidence < bin.from || claim.confidence >= bin.to) continue;
      ++bin.claims;
      bin.wrong += !claim.right;
      bin.stated += claim.confidence;
    }
    if (bin.claims == 0) continue;
    const auto count = static_cast<double>(bin.claims);
    bin.stated /= count;
    std::tie(bin.low, bin.high) = wilson(count - static_cast<double>(bin.wrong), count);
    made.bins.push_back(bin);
  }
  for (const auto& claim : claims) {
    const double stated = std::clamp(claim.confidence, kSurest, 1 - kSurest),
                 missed = (claim.right ? 1 : 0) - claim.confidence;
    made.log_loss -= std::log(claim.right ? stated : 1 - stated) / static_cast<double>(claims.size());
    made.brier += missed * missed / static_cast<double>(claims.size());
    ++made.claims;
    made.wrong += !claim.right;
  }
  return made;
}

}  // namespace gexp::measure
