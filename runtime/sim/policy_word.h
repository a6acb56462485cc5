// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "runtime/sim/device_model.h"

namespace gexp::sim {

/// The policy of a cache. Several names may be one policy there: who compares names, asks for that.
std::string policy_word(const CacheModel& cache);

}  // namespace gexp::sim
