// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/infer/classes.h"

namespace gexp::infer {

/// What of a table's misses is interference. `others`: tables of the same levels: what strikes here would strike there, too, where accesses
/// are of class `own`, the one below `range`.
Interference background_interference(const records::Table& table, const MissRange& range, const LatencyClass& own,
                                     const std::vector<const records::Table*>& others);

}  // namespace gexp::infer
