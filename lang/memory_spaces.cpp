// SPDX-License-Identifier: Apache-2.0
#include "lang/memory_spaces.h"

#include <algorithm>
#include <array>

namespace gexp::lang {
namespace {

constexpr auto kSpaces = std::to_array<SpaceWord>({
#define GEXP_MEMORY_SPACE(name, most, access, limits) {#name, most, access, limits},
#include "lang/memory_spaces.def"
#undef GEXP_MEMORY_SPACE
});

}  // namespace

std::span<const SpaceWord> memory_spaces() { return kSpaces; }

const SpaceWord* find_space(std::string_view word) {
  const auto found = std::find_if(kSpaces.begin(), kSpaces.end(), [&](const SpaceWord& space) { return space.word == word; });
  return found == kSpaces.end() ? nullptr : &*found;
}

}  // namespace gexp::lang
