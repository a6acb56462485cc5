// SPDX-License-Identifier: Apache-2.0
#include "lang/instructions.h"

#include <algorithm>
#include <array>
#include <vector>

#include "lang/base/units.h"

namespace gexp::lang {
namespace {

constexpr auto kInstructions = std::to_array<Instruction>({
#define GEXP_INSTRUCTION(...) {__VA_ARGS__},
#include "lang/instructions.def"
});

}  // namespace

std::span<const Instruction> instructions() { return kInstructions; }

const Instruction* find_instruction(std::string_view name) {
  const auto found = std::find_if(kInstructions.begin(), kInstructions.end(), [&](const Instruction& i) { return i.name == name; });
  return found == kInstructions.end() ? nullptr : &*found;
}

std::string meant_instruction(std::string_view name) {
  const auto typed = std::find_if(kInstructions.begin(), kInstructions.end(), [&](const Instruction& i) {
    return i.name.size() > name.size() && i.name.starts_with(name) && i.name[name.size()] == '.';
  });
  if (typed != kInstructions.end()) return std::string(typed->name);
  std::vector<std::string_view> names;
  for (const auto& known : kInstructions) names.push_back(known.name);
  return nearest(name, names).value_or("");
}

}  // namespace gexp::lang
