// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "runtime/infer/policies.h"
#include "runtime/infer/replacement_walk.h"

/// Which deterministic policies predict a walk.
namespace gexp::infer::replacing {

/// Errors of a candidate over all accesses that are judged.
struct Count {
  std::size_t slow = 0, fast = 0;  ///< predicted to hit and seen to miss; predicted to miss and seen to hit
  std::size_t judged = 0;
  [[nodiscard]] std::size_t all() const { return slow + fast; }
};

/// A candidate that explains the trace.
struct Explains {
  Candidate candidate;
  Count errors;
};

/// The candidates among the allowed that explain the trace, the simplest first. `refuted`: how the others fail.
std::vector<Explains> explaining(const Walk& walk, const std::function<bool(const Candidate&)>& allowed, std::string& refuted);

}  // namespace gexp::infer::replacing
