// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/infer/place_vectors.h"

namespace gexp::infer {

/// Points that see lines alike: what one of them takes to reach a line, beyond its own usual latency, is what the others take.
struct AlikeGroups {
  std::vector<std::size_t> of_view;  ///< by point: the number of its group; SIZE_MAX: it is like no other, or the halves do not agree
  std::size_t count = 0;             ///< groups
  std::size_t more = 0;              ///< groups that the half of the lines tells which tells more of them
  std::size_t agreed = 0;            ///< points that either half of the lines puts into the same group
  bool places_apart = false;         ///< the halves of the lines share no place
  double predicted = 0;  ///< of what a point's latencies differ by from the middle of all others, noise left out: the share its group tells
  double differ = 0;     ///< root mean square of that difference, noise left out, in units of the noise
  std::string problem;   ///< why there are none, and what would help
};
/// CutShort.
AlikeGroups find_alike(const PlaceVectors& lines);

}  // namespace gexp::infer
