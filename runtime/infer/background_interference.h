// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/infer/classes.h"

namespace gexp::infer {

/// What of a table's misses is interference.
Interference background_interference(const records::Table& table, const MissRange& range);

}  // namespace gexp::infer
