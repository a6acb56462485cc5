// SPDX-License-Identifier: Apache-2.0
#include "lang/statements.h"

namespace gexp::lang {
namespace {

constexpr auto kHead = static_cast<std::uint8_t>(Level::Head), kFile = static_cast<std::uint8_t>(Level::File), kStage = static_cast<std::uint8_t>(Level::Stage),
               kBody = static_cast<std::uint8_t>(Level::Body), kAnalysis = static_cast<std::uint8_t>(Level::Analysis),
               kBoth = static_cast<std::uint8_t>(kFile | kStage), kAnywhere = static_cast<std::uint8_t>(kBoth | kAnalysis);

constexpr auto kStatements = std::to_array<StatementForm>({
#define GEXP_HEAD_WORD(word, form, purpose, ...) {#word, kHead, form, purpose, {__VA_ARGS__}},
#define GEXP_STATEMENT(word, kind, rule, level, form, purpose, syntax, ...) {#word, k##level, form, purpose, {__VA_ARGS__}},
#define GEXP_OPERATION(word, kind, form, purpose, syntax, ...) {#word, kBody, form, purpose, {__VA_ARGS__}},
#include "lang/statements.def"
});

}  // namespace

std::span<const StatementForm> statement_forms() { return kStatements; }

const StatementForm* find_statement(std::string_view word) {
  const auto found = std::find_if(kStatements.begin(), kStatements.end(), [&](const StatementForm& each) { return each.word == word; });
  return found == kStatements.end() ? nullptr : &*found;
}

}  // namespace gexp::lang
