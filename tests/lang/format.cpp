// SPDX-License-Identifier: Apache-2.0
// Formatting changes space alone, and a second time nothing. tests/cases/format: NAME/in.gexp becomes NAME/out.gexp.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <random>

#include "lang/format.h"
#include "lang/tokens.h"
#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::test;
namespace fs = std::filesystem;

namespace {

/// Empty where the text does not parse.
std::string formatted(const std::string& text) {
  Diagnostics diagnostics;
  return lang::format(Source("test.gexp", text), diagnostics).value_or("");
}

bool is_read(const std::string& text) {
  Diagnostics diagnostics;
  lang::parse(Source("test.gexp", text), diagnostics);
  return !diagnostics.has_errors();
}

/// A text without the space outside its quotes and comments, and its comments: told without the formatter's own reader.
struct Essence {
  std::string code;
  std::vector<std::string> comments;
  bool operator==(const Essence&) const = default;
};
Essence essence(const std::string& text) {
  Essence found;
  for (std::size_t i = text.starts_with("\xef\xbb\xbf") ? 3 : 0; i < text.size(); ++i) {
    if (text[i] == '#') {
      const auto end = std::min(text.find('\n', i), text.size());
      auto comment = text.substr(i, end - i);
      comment.erase(comment.find_last_not_of(" \t\r") + 1);
      found.comments.push_back(std::move(comment));
      i = end;
    } else if (text[i] == '"') {
      const auto end = text.find('"', i + 1);
      found.code += text.substr(i, end - i + 1);
      i = end;
    } else if (!std::isspace(static_cast<unsigned char>(text[i]))) {
      found.code += text[i];
    }
  }
  return found;
}

bool tidy(const std::string& text) {
  for (const char* wrong : {" \n", "\n\n\n", "\t", "\r"}) {
    if (text.find(wrong) != std::string::npos) return false;
  }
  return text.ends_with('\n') && !text.ends_with("\n\n") && text[0] != '\n';
}

/// What holds of every text that parses. The formatted text.
std::string holds(const std::string& text) {
  const auto once = formatted(text);
  CHECK((essence(once) == essence(text)));
  CHECK(is_read(once));
  CHECK(formatted(once) == once);
  CHECK(tidy(once));
  return once;
}

std::vector<std::string> texts_that_parse() {
  std::vector<std::string> texts;
  for (const char* folder : {"experiments", "tests/cases"}) {
    for (const auto& path : files_under(folder, ".gexp")) {
      auto text = read(path);
      if (is_read(text)) texts.push_back(std::move(text));
    }
  }
  return texts;
}

/// The text with another gap wherever it has one: what `other` makes of it.
template <typename Other> std::string spaced_anew(const std::string& text, Other other) {
  const Source source("test.gexp", text);
  Diagnostics diagnostics;
  const auto tokens = lang::read_tokens(source, diagnostics);
  REQUIRE(tokens);
  std::string changed;
  const char* end = source.text().data();
  for (const auto& token : *tokens) {
    const std::string_view gap(end, static_cast<std::size_t>(token.text.data() - end));
    if (!gap.empty()) changed += other(gap);
    changed += token.text;
    end = token.text.data() + token.text.size();
  }
  return changed + "\n";
}

}  // namespace

TEST_CASE("ugly files become the files that they should be") {
  const bool bless = std::getenv("GEXP_BLESS") != nullptr;
  REQUIRE_MESSAGE(!(bless && std::getenv("CI")), "goldens are not blessed in CI");
  std::size_t cases = 0;
  for (const auto& path : files_under("tests/cases/format", ".gexp")) {
    if (path.filename() != "in.gexp") continue;
    CAPTURE(path.string());
    const auto made = formatted(read(path));
    const auto golden = path.parent_path() / "out.gexp";
    if (bless) std::ofstream(golden, std::ios::binary) << made;
    CHECK(made == read(golden));
    CHECK(made != "");
    ++cases;
  }
  CHECK(cases >= 5);
}

TEST_CASE("every file keeps its tokens and comments, and a second time changes nothing") {
  const auto texts = texts_that_parse();
  REQUIRE(texts.size() > 40);
  for (const auto& text : texts) {
    CAPTURE(text);
    holds(text);
  }
}

TEST_CASE("the experiments that ship are in house form") {
  for (const auto& path : files_under("experiments", ".gexp")) {
    CAPTURE(path.string());
    CHECK(formatted(read(path)) == read(path));
  }
}

TEST_CASE("what does not parse is not formatted") {
  const Source source("test.gexp", "gexp 1\nexperiment t\nlet a = \n");
  Diagnostics diagnostics;
  CHECK_FALSE(lang::format(source, diagnostics));
  CHECK(diagnostics.has_errors());
}

TEST_CASE("any gaps at all: the tokens stay, and a second time changes nothing") {
  std::mt19937 random(5);
  const std::vector<std::string> gaps{" ", "  ", "\t", "\n", "\r\n", "\n\n\n", " # c\n", "\n# d \n", "#e\r\n\r\n", "\n\n # f\n\n\n"};
  for (const auto& text : texts_that_parse()) {
    const auto changed = spaced_anew(text, [&](std::string_view gap) {
      const auto& chosen = gaps[random() % gaps.size()];
      return gap.find('\n') == std::string_view::npos ? chosen : "\n" + chosen;  // the end of a comment, perhaps
    });
    CAPTURE(changed);
    holds(changed);
  }
}

TEST_CASE("gaps left out: whatever still parses is formatted as it parses") {
  std::mt19937 random(7);
  std::size_t parsed = 0;
  for (const auto& text : texts_that_parse()) {
    for (int round = 0; round < 40; ++round) {
      const auto changed = spaced_anew(text, [&](std::string_view gap) { return std::string(random() % 16 == 0 ? "" : gap); });
      if (!is_read(changed)) continue;
      CAPTURE(changed);
      holds(changed);
      ++parsed;
    }
  }
  CHECK(parsed > 100);
}

TEST_CASE("spaces, tabs and the kind of line end do not matter") {
  for (const auto& text : texts_that_parse()) {
    const auto changed = spaced_anew(text, [](std::string_view gap) {
      std::string other;
      for (const char c : gap) other += c == '\n' ? "\t\r\n   " : "  \t";
      return other;
    });
    CAPTURE(changed);
    CHECK(formatted(changed) == formatted(text));
  }
}

TEST_CASE("a long file is formatted, and one that would become too long is refused") {
  std::string text = "gexp 1\nexperiment x\nlet a0 = 1\n";
  for (int i = 1; text.size() < (2u << 20); ++i) text += fmt::format("let a{} = a{} + 1\n", i, i - 1);
  CHECK(formatted(text) == text);
  std::string dense = "gexp 1 experiment x stage s{warm{";
  while (dense.size() < (3u << 20)) dense += "barrier ";
  const Source source("test.gexp", dense + "}}");
  Diagnostics diagnostics;
  CHECK_FALSE(lang::format(source, diagnostics));
  CHECK(diagnostics.sorted().front().code == "E0101");
}
