// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/infer/set_growth.h"

/// Sets that were proposed, judged by everything that the file has walked through the same cache so far.
namespace gexp::infer {

struct SetVerdict {
  bool predicted = false;     ///< the proposed sets, with their sizes, predict all walks
  std::string why;            ///< where not: which walk they do not, or what other sizes do as well
  std::vector<LineSet> sets;  ///< others, by an index function, that predict all walks far better; empty where there are none
  double confidence = 0;      ///< of `sets`
};

/// `slower_than`: of the question's `above:`. `look_further`: other sets are tried even where the proposed ones predict everything.
SetVerdict judge_sets(const Context& context, const SetGrowth& growth, std::vector<LineSet> proposed, std::int64_t line_bytes,
                      std::optional<double> slower_than, bool look_further);

}  // namespace gexp::infer
