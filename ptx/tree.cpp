// SPDX-License-Identifier: Apache-2.0
#include "ptx/tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace gexp::ptx {

// limit: a variable is never larger; a product of more extents would overflow.
constexpr std::uint64_t kMostElements = 1u << 28;

bool Declaration::has(std::string_view word) const {
  return std::any_of(words.begin(), words.end(), [word](const Token& token) { return token.is(word); });
}

bool Declaration::sized() const {
  return std::all_of(extents.begin(), extents.end(), [](const auto& extent) { return extent.has_value(); });
}

std::uint64_t Declaration::bytes() const {
  std::uint64_t elements = 1;
  for (const auto& extent : extents) elements = std::min(elements * std::min(extent.value_or(1), kMostElements), kMostElements);
  return static_cast<std::uint64_t>(bits(type)) / 8 * elements * vector;
}

const Function* Module::kernel(std::string_view name) const {
  for (const auto& item : items) {
    const auto* function = std::get_if<Function>(&item);
    if (function && function->entry && function->name == name && !function->declared_only) return function;
  }
  return nullptr;
}

Function* Module::kernel(std::string_view name) { return const_cast<Function*>(std::as_const(*this).kernel(name)); }

Result<Function*> Module::readable(std::string_view name) {
  Function* const found = kernel(name);
  if (!found) return ptx_error(1, fmt::format("the PTX text has no kernel '{}'", name));
  if (found->wrong) return *found->wrong;
  return found;
}

void Module::bound(Function& kernel, std::string_view word, std::uint32_t number) {
  kernel.bounds.push_back({Token::Kind::Word, word, kernel.line});
  kernel.bounds.push_back({Token::Kind::Number, keep(fmt::format("{}", number)), kernel.line});
}

Diagnostic ptx_error(std::uint32_t line, std::string message) {
  return failure("E0801", fmt::format("{} (PTX line {})", message, line));
}

std::vector<std::string> kernel_names(std::string_view text) {
  std::vector<std::string> names;
  const std::vector<Token> tokens = lex(text);
  for (std::size_t k = 0; k + 1 < tokens.size(); ++k) {
    if (tokens[k].is(".entry")) names.emplace_back(tokens[k + 1].text);
  }
  return names;
}

}  // namespace gexp::ptx
