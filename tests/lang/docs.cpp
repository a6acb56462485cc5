// SPDX-License-Identifier: Apache-2.0
// The documents say what the code does: every word and analysis is in them, and their whole examples are right.
#include <doctest/doctest.h>

#include <regex>

#include "lang/base/units.h"
#include "lang/vocabulary.h"
#include "lang/words.h"
#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::test;
namespace fs = std::filesystem;

namespace {

std::string document(const char* name) { return read(fs::path(GEXP_SOURCE_DIR) / "docs" / name); }

}  // namespace

TEST_CASE("docs/language.md names every word, unit, function and analysis") {
  const auto text = document("language.md");
  const auto names = [&](std::string_view word) { return std::regex_search(text, std::regex("(^|[^a-z_])" + std::string(word) + "($|[^a-z_])")); };
  for (const auto word : lang::kStatementWords) CHECK_MESSAGE(names(word), std::string(word));
  for (const auto word : lang::kOperationWords) CHECK_MESSAGE(names(word), std::string(word));
  for (const auto word : lang::kOperatorWords) CHECK_MESSAGE(names(word), std::string(word));
  for (const auto& callable : lang::vocabulary()) CHECK_MESSAGE(names(callable.name), std::string(callable.name));
  for (const auto unit : unit_words()) CHECK_MESSAGE(text.find(unit) != std::string::npos, std::string(unit));
}

TEST_CASE("the whole examples of the documents are right") {
  for (const char* name : {"language.md", "writing-experiments.md"}) {
    const auto path = fs::path(GEXP_SOURCE_DIR) / "docs" / name;
    if (!fs::exists(path)) continue;
    const auto text = read(path);
    static const std::regex fence("```[a-z]*\\n(gexp 1[^`]*)```");
    for (std::sregex_iterator i(text.begin(), text.end(), fence), end; i != end; ++i) {
      const Checked checked((*i)[1].str(), name);
      CHECK(checked.text() == "");
    }
  }
}
