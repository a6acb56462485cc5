// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "runtime/infer/size_claims.h"

/// A size says that nothing more fits: a walk over as much and one thing more must miss, wherever that is.
namespace gexp::infer {

/// A walk that visits all that fits at the size, and more, and never misses; empty where there is none. `unit`: bytes that come in at once, if
/// misses or an earlier stage show it: which of its addresses a walk visits is no matter. `told`: the walks whose misses are told one by one;
/// null where they are not. Pairs of visits tell it, too, of misses that are too cheap, and of places that are as slow as misses.
std::string walk_with_room(const SizeClaim& claim, std::int64_t unit, const MeasuredStages& measured, const model::Walks* told);

}  // namespace gexp::infer
