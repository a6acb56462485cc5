// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

/// What there is to know of each statement besides its grammar: the one table for hints, editors and tests.
namespace gexp::lang {

/// Where a statement may stand.
enum class Level : std::uint8_t { Head = 1, File = 2, Stage = 4, Body = 8, Analysis = 16 };

struct StatementForm {
  std::string_view word;
  std::uint8_t levels;                         ///< a set of Level
  std::string_view form;                       ///< an example
  std::string_view purpose;                    ///< what it does: a sentence without its full stop
  std::array<std::string_view, 12> clauses{};  ///< its contextual words, in their order

  [[nodiscard]] bool at(Level level) const { return (levels & static_cast<std::uint8_t>(level)) != 0; }
  [[nodiscard]] std::span<const std::string_view> clause_words() const {
    const auto end = std::find(clauses.begin(), clauses.end(), std::string_view());
    return {clauses.begin(), end};
  }
  [[nodiscard]] bool has_clause(std::string_view clause) const {
    const auto words = clause_words();
    return std::find(words.begin(), words.end(), clause) != words.end();
  }
};

/// Every statement and operation.
std::span<const StatementForm> statement_forms();
/// Null when no statement begins with this word.
const StatementForm* find_statement(std::string_view word);

}  // namespace gexp::lang
