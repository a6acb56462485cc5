// SPDX-License-Identifier: Apache-2.0
// What editors and hints say of statements, analyses and functions is complete, and is what the documents say.
#include "lang/statements.h"

#include <doctest/doctest.h>

#include "lang/tokens.h"
#include "lang/vocabulary.h"
#include "lang/words.h"
#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::test;

TEST_CASE("every statement word has its row, and no other") {
  for (const auto word : lang::kStatementWords) CHECK_MESSAGE(lang::find_statement(word), std::string(word));
  for (const auto word : lang::kOperationWords) CHECK_MESSAGE(lang::find_statement(word), std::string(word));
  CHECK(lang::statement_forms().size() == lang::kStatementWords.size() + lang::kOperationWords.size());
  for (const auto& each : lang::statement_forms()) {
    CHECK_MESSAGE(lang::is_operation_word(each.word) == each.at(lang::Level::Body), std::string(each.word));
  }
}

TEST_CASE("the question of an analysis is that of its page") {
  std::size_t pages = 0;
  for (const auto& each : lang::vocabulary()) {
    const auto page = std::filesystem::path(GEXP_SOURCE_DIR) / "docs/inference" / (std::string(each.name) + ".md");
    if (each.kind != lang::Callable::Kind::Analysis || !std::filesystem::exists(page)) continue;
    ++pages;
    CHECK_MESSAGE(read(page).find("**Question.** " + std::string(each.purpose)) != std::string::npos, page.string());
  }
  CHECK(pages > 8);
}

TEST_CASE("any text is pieces, and they are its tokens where it parses") {
  for (const auto& path : files_under("experiments", ".gexp")) {
    const Source source(path.string(), read(path));
    Diagnostics diagnostics;
    const auto tokens = lang::read_tokens(source, diagnostics);
    REQUIRE(tokens);
    const auto pieces = lang::read_pieces(source.text());
    REQUIRE(pieces.size() == tokens->size());
    for (std::size_t i = 0; i < pieces.size(); ++i) CHECK(source.slice(pieces[i].span) == (*tokens)[i].text);
  }
  CHECK(lang::read_pieces("").empty());
  CHECK(lang::read_pieces("\"open\nlet").size() == 2);
  CHECK(lang::read_pieces("\"").size() == 1);
  CHECK(lang::read_pieces("#").size() == 1);
  CHECK(lang::read_pieces("12KiB 3").size() == 2);
}
