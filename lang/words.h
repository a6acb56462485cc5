// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "lang/operations.h"

/// The reserved words: the grammar's, the recovery's and the hints' one list.
namespace gexp::lang {

inline constexpr auto kStatementWords = std::to_array<std::string_view>({
#define GEXP_HEAD_WORD(word, ...) #word,
#define GEXP_STATEMENT(word, ...) #word,
#include "lang/statements.def"
});
inline constexpr auto kOperatorWords = std::to_array<std::string_view>({"and", "or", "xor", "not", "div", "mod", "shl", "shr"});

inline constexpr bool is_statement_word(std::string_view word) {
  return std::find(kStatementWords.begin(), kStatementWords.end(), word) != kStatementWords.end() ||
         std::find(kOperationWords.begin(), kOperationWords.end(), word) != kOperationWords.end();
}
/// chase, load, …: statements that stand inside braces.
inline constexpr bool is_operation_word(std::string_view word) {
  return std::find(kOperationWords.begin(), kOperationWords.end(), word) != kOperationWords.end();
}
inline constexpr bool is_operator_word(std::string_view word) {
  return std::find(kOperatorWords.begin(), kOperatorWords.end(), word) != kOperatorWords.end();
}
/// Lengths that reserved words with a first letter have, a bit each: most names are none of them at a glance.
inline constexpr auto kReservedLengths = [] {
  std::array<std::uint32_t, 256> lengths{};
  const auto add = [&](const auto& words) {
    for (const std::string_view word : words) lengths[static_cast<unsigned char>(word[0])] |= 1u << word.size();
  };
  add(kStatementWords), add(kOperationWords), add(kOperatorWords);
  return lengths;
}();
inline constexpr bool is_reserved(std::string_view word) {
  if (word.empty() || word.size() > 31 || (kReservedLengths[static_cast<unsigned char>(word[0])] >> word.size() & 1) == 0) return false;
  return is_statement_word(word) || is_operator_word(word);
}

inline constexpr bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline constexpr bool is_word(char c) { return is_word_start(c) || (c >= '0' && c <= '9'); }

}  // namespace gexp::lang
