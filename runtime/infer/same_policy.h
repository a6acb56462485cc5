// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "runtime/infer/policies.h"

/// Whether two names are one policy.
namespace gexp::infer {

enum class Sameness {
  Same,        ///< no sequence of accesses tells them apart: all states that they reach together were looked at
  Different,   ///< one does
  NotDecided,  ///< they reach too many states together
};

/// Of sets of so many ways that begin empty; with `full`, of sets that are never empty, so that it does not matter in which order ways are
/// filled.
Sameness compare(const Candidate& one, const Candidate& other, std::size_t ways, bool full);
/// The same of names; nullopt where one of them is no deterministic candidate.
std::optional<Sameness> compare(const std::string& one, const std::string& other, std::size_t ways, bool full);

}  // namespace gexp::infer
