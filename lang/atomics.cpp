// SPDX-License-Identifier: Apache-2.0
#include "lang/atomics.h"

#include <algorithm>
#include <array>
#include <vector>

#include "lang/base/units.h"

namespace gexp::lang {
namespace {

constexpr auto kAtomics = std::to_array<Atomic>({
#define GEXP_ATOMIC(...) {__VA_ARGS__},
#include "lang/atomics.def"
});

}  // namespace

std::span<const Atomic> atomics() { return kAtomics; }

const Atomic* find_atomic(std::string_view name) {
  const auto found = std::find_if(kAtomics.begin(), kAtomics.end(), [&](const Atomic& a) { return a.name == name; });
  return found == kAtomics.end() ? nullptr : &*found;
}

std::string meant_atomic(std::string_view name) {
  const auto typed = std::find_if(kAtomics.begin(), kAtomics.end(), [&](const Atomic& a) { return a.name.starts_with(std::string(name) + "."); });
  if (typed != kAtomics.end()) return std::string(typed->name);
  std::vector<std::string_view> names;
  for (const auto& known : kAtomics) names.push_back(known.name);
  return nearest(name, names).value_or("");
}

}  // namespace gexp::lang
