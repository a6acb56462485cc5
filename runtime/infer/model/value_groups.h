// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "runtime/infer/model/model_choice.h"

/// Which levels values have.
namespace gexp::infer {

struct ValueGroup {
  double centre = 0;  ///< the value in the middle: one that was seen
  double low = 0, high = 0;
  std::size_t count = 0;
};

struct ValueGroups {
  std::vector<ValueGroup> groups;  ///< ascending
  double weight = 0;               ///< posterior, beside every other number of groups
  bool all_alone = false;          ///< each value is a group of its own, or there are too many: these are no levels
};

/// Groups of values that differ within a group by noise alone. A group costs its level and its border, and each value
/// which of the groups it is in (classification likelihood with proportions: Biernacki, Celeux and Govaert 2000), so
/// that scatter is not cut into parts. Where repetitions show the noise, groups are as wide as that; otherwise as wide
/// as they are, and `noise.least` at least.
ValueGroups value_groups(std::vector<double> values, CurveNoise noise);

}  // namespace gexp::infer
