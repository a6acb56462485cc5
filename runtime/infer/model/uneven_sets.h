// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "runtime/infer/model/set_hypothesis.h"

/// Sets that are not one: some of their lines miss, others never do.
namespace gexp::infer::model {

struct UnevenSet {
  std::size_t footprint = 0;
  std::uint32_t set = 0;
  std::size_t lines = 0;  ///< of it in that footprint
};

/// The set of a hypothesis that the walks show most clearly to be several: walked in several orders, a part of its lines misses and the rest
/// does not. Which lines a policy keeps depends on their order or on chance, so that either all of them miss alike or others do in another
/// order. None: every set may be one.
/// `order_may_choose`: something else shows that the sets are these; then it is no sign of several that others miss in another order.
std::optional<UnevenSet> uneven_set(const SetHypothesis& hypothesis, const SetScore& score, const Walks& walks, bool order_may_choose = false);

/// Why it is no set, for a reader.
std::string several_sets(const UnevenSet& set, const Walks& walks);

}  // namespace gexp::infer::model
