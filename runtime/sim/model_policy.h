// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "runtime/device/model_fact.h"

/// The facts that say which line a cache replaces, as keys of its table.
namespace gexp::sim {

/// By name: "model.ca.replacement".
using FactsByName = std::map<std::string, device::ModelFact>;

struct PolicyPart {
  const char* key;                ///< "replacement"
  std::string value;              ///< as TOML writes it
  const device::ModelFact* fact;  ///< null: the key goes, for the policy has no such part
};

/// `prefix`: "model.ca.". Empty where no policy was found. Turns have groups of lines, which no other policy has.
std::vector<PolicyPart> policy_parts(const FactsByName& facts, const std::string& prefix);

/// Whether a fact is part of another policy than the one that was found: nobody asked for it.
bool is_of_another_policy(const FactsByName& facts, const std::string& name);

}  // namespace gexp::sim
