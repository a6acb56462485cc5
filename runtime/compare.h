// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "runtime/result.h"

namespace gexp::runtime {

/// What one finding, or one field of it, is on each of several devices.
struct Compared {
  std::string id;                   ///< "capacity.C", "sets.sets.ways"
  std::vector<std::string> values;  ///< as a reader would write them, by device; "undetermined" where nothing was found
  bool same = false;
};

/// How the findings of one experiment differ from device to device. Two numbers are the same where their intervals meet, or where they are
/// within 2 % of each other; anything else where it is equal.
std::vector<Compared> compare(const std::vector<const RunResult*>& results);

}  // namespace gexp::runtime
