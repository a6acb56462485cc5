// SPDX-License-Identifier: Apache-2.0
// editors/words.json holds every word of the language by kind, for grammars that are no parsers; the queries of tree-sitter hold them
// too. GEXP_BLESS=1 writes both anew.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "lang/base/units.h"
#include "lang/dimensions.h"
#include "lang/vocabulary.h"
#include "lang/words.h"
#include "tests/lang/generated_docs.h"
#include "tests/lang/grammar_words.h"

using namespace gexp;
using namespace gexp::test;

namespace {

using Kinds = std::map<std::string, std::set<std::string>>;

Kinds words_by_kind() {
  Kinds kinds;
  const auto add = [&](const std::string& kind, const auto& words) {
    for (const auto& word : words) kinds[kind].emplace(word);
  };
  add("statements", lang::kStatementWords);
  add("operations", lang::kOperationWords);
  add("operators", lang::kOperatorWords);
  add("clauses", clause_words());
  add("units", unit_words());
  add("types", lang::type_words());
  for (const auto& callable : lang::vocabulary()) {
    const bool analysis = callable.kind == lang::Callable::Kind::Analysis, pattern = callable.kind == lang::Callable::Kind::Pattern;
    kinds[analysis ? "analyses" : pattern ? "patterns" : "functions"].emplace(callable.name);
  }
  add("elements", lang::element_words().words);
  add("spaces", lang::space_words().words);
  add("paths", lang::via_words().words);
  add("levels", lang::flush_words().words);
  add("timings", lang::timing_words().words);
  add("keeps", lang::keep_words().words);
  add("neighbours", lang::neighbour_words().words);
  add("places", lang::place_words().words);
  add("drawings", lang::drawing_words().words);
  return kinds;
}

std::string as_json(const Kinds& kinds) {
  std::string text;
  for (const auto& [kind, words] : kinds) {
    std::string list;
    for (const auto& word : words) list += (list.empty() ? "\"" : ", \"") + word + "\"";
    text += (text.empty() ? "{\n" : ",\n") + ("  \"" + kind + "\": [") + list + "]";
  }
  return text + "\n}\n";
}

}  // namespace

TEST_CASE("editors/words.json holds every word of the language") {
  const auto path = std::filesystem::path(GEXP_SOURCE_DIR) / "editors/words.json";
  const auto kinds = words_by_kind();
  for (const auto& [kind, words] : kinds) CHECK_MESSAGE(words.size() >= 2, kind);
  if (std::getenv("GEXP_BLESS")) std::ofstream(path, std::ios::binary) << as_json(kinds);
  CHECK_MESSAGE(read(path) == as_json(kinds), "./dev bless lang, then `npm run grammar` in editors/vscode");
}

namespace {

/// `["a" "b"] @capture`, in lines of at most 128 columns.
std::string captured(const std::vector<std::string>& words, const std::string& capture) {
  std::string all = "[\n", line = " ";
  for (const auto& word : words) {
    if (line.size() + word.size() + 3 > 128) all += line + "\n", line = " ";
    line += " \"" + word + "\"";
  }
  return all + line + "\n] @" + capture + "\n";
}

/// A whole operation of one word is a node of its own, not a word in one.
const std::set<std::string> kLone = {
#define GEXP_OPERATION(word, kind, form, purpose, syntax, ...) std::string_view(syntax) == "\"" #word "\"" ? #word : "",
#include "lang/statements.def"
};

}  // namespace

TEST_CASE("the queries for highlights have every word of the language") {
  const std::string path = "editors/tree-sitter-gexp/queries/highlights.scm";
  const auto statements = captured({lang::kStatementWords.begin(), lang::kStatementWords.end()}, "keyword");
  CHECK_MESSAGE(block_of(path, "; Statements", statements) == statements, "./dev bless lang");
  std::vector<std::string> words;
  std::string lone;
  for (const auto word : lang::kOperationWords) {
    if (kLone.contains(std::string(word))) lone += "(" + std::string(word) + ") @keyword.function\n";
    else words.emplace_back(word);
  }
  const auto operations = captured(words, "keyword.function") + lone;
  CHECK_MESSAGE(block_of(path, "; Operations", operations) == operations, "./dev bless lang");
  const auto clauses = clause_words();
  const auto modifiers = captured({clauses.begin(), clauses.end()}, "keyword.modifier");
  CHECK_MESSAGE(block_of(path, "; Clauses", modifiers) == modifiers, "./dev bless lang");
}
