// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "runtime/sim/device_model.h"

namespace gexp::sim {

/// The simplest policy that a cache's largest set cannot be told from: tree-PLRU of two ways is "lru", qlru_h00_m0_r0_u1 is "nru".
/// `emptied`: its sets are empty now and then (a kernel's start), so that how they fill can be seen; else r2 is r0.
std::string policy_word(const CacheModel& cache, bool emptied);

}  // namespace gexp::sim
