// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "runtime/infer/even_fill.h"

/// How much of a footprint misses as it grows beyond a cache: where its sets fill evenly, and where they do not.
namespace gexp::infer {

/// What misses of a footprint, lap after lap.
struct MissingShare {
  double footprint = 0;  ///< bytes
  double share = 0;      ///< of its units, each as often as it is visited
  double units = 0;      ///< that were visited
};

/// Nats by which sets that fill unevenly, and hold more together, predict how the shares grow better than even sets do that end at `fits`.
/// The unknowns of even sets are where they end and their policy; those of uneven ones are their size and how unlike their loads are.
double better_by_uneven_sets(const std::vector<MissingShare>& shares, const Fits& fits);

}  // namespace gexp::infer
