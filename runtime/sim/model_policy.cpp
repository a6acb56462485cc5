// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/model_policy.h"

#include <algorithm>
#include <iterator>

#include "runtime/sim/model_text.h"

namespace gexp::sim {
namespace {

constexpr const char* kPartsOfTurns[] = {"groups", "evicts"};

const device::ModelFact* fact_in(const FactsByName& facts, const std::string& name) {
  const auto at = facts.find(name);
  return at == facts.end() ? nullptr : &at->second;
}

/// The name of the policy that was found; null where none was.
const std::string* policy_in(const FactsByName& facts, const std::string& prefix) {
  const auto* found = fact_in(facts, prefix + "replacement");
  return found ? found->value.get<std::string>() : nullptr;
}

}  // namespace

std::vector<PolicyPart> policy_parts(const FactsByName& facts, const std::string& prefix) {
  const auto* word = policy_in(facts, prefix);
  if (!word) return {};
  std::vector<PolicyPart> parts{{"replacement", quoted(*word == "direct" ? "lru" : *word), fact_in(facts, prefix + "replacement")}};
  for (const auto* key : kPartsOfTurns) {
    const auto* part = fact_in(facts, prefix + key);
    const auto* text = part ? part->value.get<std::string>() : nullptr;
    if (*word != "turns") parts.push_back({key, "", nullptr});
    else if (part) parts.push_back({key, text ? quoted(*text) : list_text(part->value), part});
  }
  return parts;
}

bool is_of_another_policy(const FactsByName& facts, const std::string& name) {
  const auto dot = name.rfind('.') + 1;
  const auto* word = policy_in(facts, name.substr(0, dot));
  const bool of_turns = std::find(std::begin(kPartsOfTurns), std::end(kPartsOfTurns), name.substr(dot)) != std::end(kPartsOfTurns);
  return of_turns && word && *word != "turns";
}

}  // namespace gexp::sim
