// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "runtime/infer/policies.h"
#include "runtime/infer/replacement_emission.h"

/// How well deterministic policies predict a walk.
namespace gexp::infer::replacing {

/// A candidate, and what it predicted.
struct Scored {
  Candidate candidate;
  Outcomes outcomes;            ///< of what it was followed through
  double log_likelihood = 0;    ///< of the walk, in tempered nats; where it was given up, of what came before
  std::size_t accesses = 0;     ///< that it was followed through
  bool followed = false;        ///< to the end; otherwise it was left behind
  std::vector<Bits> hits = {};  ///< what it predicted, by trace; kept of the best one alone
};

/// Every allowed candidate, in the order of candidate_policies. `reference`: what other hypotheses came to, and afterwards these too.
std::vector<Scored> scored(const Walk& walk, const std::function<bool(const Candidate&)>& allowed, Reference& reference);

}  // namespace gexp::infer::replacing
