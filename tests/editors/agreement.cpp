// SPDX-License-Identifier: Apache-2.0
// The grammar for editors against gexp's own parser: they accept the same texts.
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "lang/tokens.h"
#include "lang/words.h"
#include "tests/editors/syntax_tree.h"
#include "tests/lang/short_texts.h"
#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::test;
namespace fs = std::filesystem;

namespace {

enum class Verdict { Accepted, Refused, Untold };

/// Whether the text has a mistake of form. Sizes, numbers, clauses that stand twice and levels are not told by a grammar for editors.
Verdict verdict_of_parser(const std::string& text) {
  const Source source("test.gexp", text);
  Diagnostics diagnostics;
  lang::parse(source, diagnostics);
  Verdict verdict = Verdict::Accepted;
  for (const auto& diagnostic : diagnostics.sorted()) {
    if (diagnostic.code >= "E0102" && diagnostic.code <= "E0107") return Verdict::Refused;
    if (diagnostic.code.starts_with("E01") && diagnostic.code != "E0108") verdict = Verdict::Untold;
  }
  return verdict;
}

/// Whole files of the documents' ```gexp fences.
std::vector<std::string> fenced_files() {
  std::vector<std::string> found;
  for (const auto& path : files_under("docs", ".md")) {
    std::istringstream lines(read(path));
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("```")) {
        inside = !inside && line.starts_with("```gexp");
        if (inside) found.emplace_back();
      } else if (inside) {
        found.back() += line + "\n";
      }
    }
  }
  return found;
}

/// Cases that lack a header: a fragment in a document is highlighted all the same.
bool lacks_header(const std::string& text) {
  const Source source("test.gexp", text);
  Diagnostics diagnostics;
  lang::parse(source, diagnostics);
  const auto all = diagnostics.sorted();
  return std::any_of(all.begin(), all.end(),
                     [](const Diagnostic& d) { return d.message.find("begins with `gexp 1`") != std::string::npos; });
}

struct Tally {
  std::size_t accepted = 0, refused = 0, untold = 0, fragments = 0;

  void compare(const std::string& name, const std::string& text) {
    const auto wanted = verdict_of_parser(text);
    const bool whole = SyntaxTree(text).whole();
    if (wanted == Verdict::Untold) {
      ++untold;
    } else if (wanted == Verdict::Refused && lacks_header(text)) {
      ++fragments;
    } else if (wanted == Verdict::Accepted) {
      ++accepted;
      CHECK_MESSAGE(whole, "only gexp accepts ", name, ":\n", text, "\n", SyntaxTree(text).expression());
    } else {
      ++refused;
      CHECK_MESSAGE(!whole, "only the grammar for editors accepts ", name, ":\n", text);
    }
  }
};

/// The text with one token left out, twice, changed for its neighbour, or replaced by a token of any of the texts.
std::string with_a_mistake(const std::string& text, const std::vector<lang::Token>& tokens, const std::vector<std::string>& words,
                           std::mt19937_64& random) {
  constexpr std::size_t header = 4;
  const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  const auto at = header + pick(tokens.size() - header);
  const auto& token = tokens[at];
  const auto begin = static_cast<std::size_t>(token.text.data() - tokens.front().text.data()) + text.find(tokens.front().text);
  const auto end = begin + token.text.size();
  const auto replaced = [&](const std::string& by) { return text.substr(0, begin) + by + text.substr(end); };
  switch (pick(6)) {
    case 0: return replaced("");
    case 1: return replaced(std::string(token.text) + " " + std::string(token.text));
    case 2: return replaced(words[pick(words.size())]);
    case 3: return replaced(std::string(token.text) + " " + words[pick(words.size())]);
    case 4: return text.substr(0, end);  // the file ends there
    default: return replaced(" # ends with its line\n" + std::string(token.text) + "\n");  // no mistake, but that some things must touch
  }
}

}  // namespace

TEST_CASE("every shipped file and every file of the documents is parsed without an error node") {
  Tally shipped, documented;
  for (const auto& path : files_under("experiments", ".gexp")) shipped.compare(path.string(), read(path));
  CHECK(shipped.accepted >= 40);
  CHECK(shipped.accepted == files_under("experiments", ".gexp").size());
  for (const auto& text : fenced_files()) documented.compare("a document's file", text);
  CHECK(documented.accepted >= 50);
  MESSAGE("shipped: ", shipped.accepted, " accepted; documents: ", documented.accepted, " accepted, ", documented.refused, " refused, ",
          documented.fragments, " without a header");
}

TEST_CASE("cases: accepted where gexp parses them, refused where it does not") {
  Tally tally;
  for (const auto& path : files_under("tests/cases", ".gexp")) tally.compare(path.string(), read(path));
  for (const auto& path : files_under("tests/fuzz/corpus", ".gexp")) tally.compare(path.string(), read(path));
  for (const auto& text : short_texts()) tally.compare("a short text", text);
  MESSAGE(tally.accepted, " accepted by both, ", tally.refused, " refused by both, ", tally.untold,
          " not compared (limits, numbers, clauses twice), ", tally.fragments, " without a header");
  CHECK(tally.accepted >= 200);
  CHECK(tally.refused >= 100);
  CHECK(tally.fragments <= 8);
}

TEST_CASE("shipped files with a drawn mistake: both accept or both refuse") {
  std::vector<std::string> texts, words;
  for (const auto& path : files_under("experiments", ".gexp")) texts.push_back(read(path));
  for (const auto& text : texts) {
    const Source source("test.gexp", text);
    Diagnostics diagnostics;
    const auto tokens = lang::read_tokens(source, diagnostics);
    REQUIRE(tokens);
    for (const auto& token : *tokens) {
      if (!token.comment()) words.emplace_back(token.text);
    }
  }
  Tally tally;
  std::mt19937_64 random(1);
  for (const auto& text : texts) {
    const Source source("test.gexp", text);
    Diagnostics diagnostics;
    auto tokens = lang::read_tokens(source, diagnostics);
    std::erase_if(*tokens, [](const lang::Token& token) { return token.comment(); });
    for (int draw = 0; draw < 60; ++draw) tally.compare("a drawn mistake", with_a_mistake(text, *tokens, words, random));
  }
  MESSAGE(tally.accepted, " accepted by both, ", tally.refused, " refused by both, ", tally.untold, " not compared");
  CHECK(tally.accepted > 400);
  CHECK(tally.refused > 1000);
}

TEST_CASE("the scanner's reserved words are those of lang/words.h") {
  const auto text = read(fs::path(GEXP_SOURCE_DIR) / "editors/tree-sitter-gexp/src/reserved.h");
  std::vector<std::string> words, wanted;
  for (auto open = text.find('{'); (open = text.find('"', open)) != std::string::npos;) {
    const auto close = text.find('"', open + 1);
    words.push_back(text.substr(open + 1, close - open - 1));
    open = close + 1;
  }
  for (const auto word : lang::kStatementWords) wanted.emplace_back(word);
  for (const auto word : lang::kOperationWords) wanted.emplace_back(word);
  for (const auto word : lang::kOperatorWords) wanted.emplace_back(word);
  std::sort(words.begin(), words.end());
  std::sort(wanted.begin(), wanted.end());
  CHECK(words == wanted);
}
