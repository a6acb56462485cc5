// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
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
inline constexpr bool is_reserved(std::string_view word) { return is_statement_word(word) || is_operator_word(word); }

inline constexpr bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline constexpr bool is_word(char c) { return is_word_start(c) || (c >= '0' && c <= '9'); }

}  // namespace gexp::lang
