// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <regex>
#include <set>
#include <string>

#include "lang/words.h"
#include "tests/lang/support.h"

namespace gexp::test {

/// Every word that lang/grammar.h names.
inline std::set<std::string> grammar_words() {
  std::set<std::string> words;
  const auto source = read(std::filesystem::path(GEXP_SOURCE_DIR) / "lang/grammar.h");
  static const std::regex keyword("(?:GEXP_WORD|KEYWORD)\\(\"([a-z0-9]+)\"\\)");
  for (std::sregex_iterator i(source.begin(), source.end(), keyword), end; i != end; ++i) words.insert((*i)[1].str());
  return words;
}

/// Those that are words only inside statements: the grammar names them and words.h does not reserve them.
inline std::set<std::string> clause_words() {
  auto words = grammar_words();
  std::erase_if(words, [](const std::string& word) { return lang::is_reserved(word); });
  for (const char* unit : {"cycle", "s"}) words.erase(unit);
  return words;
}

}  // namespace gexp::test
