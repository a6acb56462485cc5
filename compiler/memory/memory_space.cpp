// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory/memory_space.h"

#include <array>
#include <vector>

namespace gexp::compiler {
namespace {

using Find = const MemorySpace& (*)();

constexpr auto kSpaces = std::to_array<Find>({
#define GEXP_MEMORY_SPACE(name, ...) name##_space,
#include "lang/memory_spaces.def"
#undef GEXP_MEMORY_SPACE
});

}  // namespace

const MemorySpace& memory_space(std::string_view word) {
  for (const auto space : kSpaces) {
    if (space().word == word) return space();
  }
  return global_space();  // the checker has refused other words
}

std::string spaces_with_stores() {
  std::vector<std::string_view> words;
  for (const auto space : kSpaces) {
    if (space().stores) words.push_back(space().word);
  }
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace gexp::compiler
