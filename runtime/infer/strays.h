// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/infer/classes.h"

namespace gexp::infer {

/// The share of a table's accesses that interference makes look like misses; 0 when there is no sign of any.
double interference(const Table& table, const MissRange& range);

}  // namespace gexp::infer
