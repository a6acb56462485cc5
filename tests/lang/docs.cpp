// SPDX-License-Identifier: Apache-2.0
// The documents say what the code does: every word and analysis is in them, and their whole examples are right.
#include <doctest/doctest.h>

#include <regex>
#include <set>

#include "lang/base/units.h"
#include "lang/vocabulary.h"
#include "lang/words.h"
#include "tests/lang/grammar_words.h"

using namespace gexp;
using namespace gexp::test;
namespace fs = std::filesystem;

namespace {

std::string document(const char* name) { return read(fs::path(GEXP_SOURCE_DIR) / "docs" / name); }

}  // namespace

TEST_CASE("docs/language/grammar.md has every word of the grammar, and no other") {
  const auto text = document("language/grammar.md");
  std::set<std::string> shown;
  static const std::regex quoted("\"([a-z][a-z0-9]*)\"");
  for (std::sregex_iterator i(text.begin(), text.end(), quoted), end; i != end; ++i) shown.insert((*i)[1].str());
  auto words = grammar_words();
  CHECK(words.size() > 60);
  for (const auto word : lang::kStatementWords) CHECK_MESSAGE(words.contains(std::string(word)), std::string(word));
  for (const auto word : lang::kOperationWords) CHECK_MESSAGE(words.contains(std::string(word)), std::string(word));
  for (const auto word : lang::kOperatorWords) CHECK_MESSAGE(words.contains(std::string(word)), std::string(word));
  for (const auto& word : words) CHECK_MESSAGE(shown.contains(word), word, " is in lang/grammar.h alone");
  words.insert({"repeat", "e"});  // a callee by hand, an exponent
  for (const auto& word : shown) CHECK_MESSAGE(words.contains(word), word, " is in docs/language/grammar.md alone");
}

TEST_CASE("every statement and operation has a page, with an example") {
  const std::set<std::string> shared{"gexp", "meta", "give"};  // on the pages of `experiment` and `analysis`
  const auto page = [&](std::string_view word) {
    if (shared.contains(std::string(word))) return;
    const auto path = "language/" + std::string(word) + ".md";
    const auto text = document(path.c_str());
    CHECK_MESSAGE(text.find("```gexp\ngexp 1\n") != std::string::npos, path);
    CHECK_MESSAGE(document("language.md").find("(" + path + ")") != std::string::npos, path, " is not linked");
  };
  for (const auto word : lang::kStatementWords) page(word);
  for (const auto word : lang::kOperationWords) page(word);
}

TEST_CASE("the documents call what there is, and all of it") {
  const auto language = document("language.md");
  for (const auto& callable : lang::vocabulary()) {
    const auto page = callable.kind == lang::Callable::Kind::Pattern ? document("language/pattern.md")
                      : callable.kind == lang::Callable::Kind::Analysis ? document("language/find.md") : language;
    CHECK_MESSAGE(std::regex_search(page, std::regex("`[^`]*\\b" + std::string(callable.name) + "\\b[^`]*`")), std::string(callable.name));
  }
  for (const auto& path : files_under("docs", ".md")) {  // the first word of the tables of calls: | `name(…)
    if (path.string().find("language") == std::string::npos) continue;
    const auto text = read(path);
    static const std::regex row("\n\\| `([a-z_0-9]+)\\(");
    for (std::sregex_iterator i(text.begin(), text.end(), row), end; i != end; ++i) {
      CHECK_MESSAGE(lang::find_callable((*i)[1].str()), path.filename().string(), ": ", (*i)[1].str());
    }
  }
}

TEST_CASE("docs/language.md names every word and unit") {
  const auto text = document("language.md");
  const auto names = [&](std::string_view word) { return std::regex_search(text, std::regex("(^|[^a-z_])" + std::string(word) + "($|[^a-z_])")); };
  for (const auto word : lang::kStatementWords) CHECK_MESSAGE(names(word), std::string(word));
  for (const auto word : lang::kOperationWords) CHECK_MESSAGE(names(word), std::string(word));
  for (const auto word : lang::kOperatorWords) CHECK_MESSAGE(names(word), std::string(word));
  for (const auto unit : unit_words()) CHECK_MESSAGE(text.find(unit) != std::string::npos, std::string(unit));
}
