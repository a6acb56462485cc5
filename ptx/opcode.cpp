// SPDX-License-Identifier: Apache-2.0
#include "ptx/opcode.h"

#include <algorithm>

namespace gexp::ptx {
namespace {

/// Calls `see` with each word until it says that it has seen enough.
template <class See> bool each_word(std::string_view text, const See& see) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find('.'));
    if (see(word)) return true;
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return false;
}

}  // namespace

bool Opcode::has(std::string_view word) const {
  return each_word(text_, [word](std::string_view each) { return each == word; });
}

Type Opcode::type() const {
  Type type = Type::None;
  each_word(text_, [&](std::string_view word) { return (type = type_named(word)) != Type::None; });
  return type;
}

std::size_t Opcode::vector() const { return has("v2") ? 2 : has("v4") ? 4 : has("v8") ? 8 : 1; }

}  // namespace gexp::ptx
