// SPDX-License-Identifier: Apache-2.0
// What docs/language/grammar.md has of lang/statements.def. GEXP_BLESS=1 writes it anew; that the rules are right, grammar.cpp tests.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/words.h"
#include "tests/lang/generated_docs.h"

using namespace gexp;
using namespace gexp::test;

namespace {

constexpr std::size_t kColumns = 120;

struct Row {
  std::string word, level, form, purpose, syntax;
  std::vector<std::string> clauses;
};

std::vector<Row> statements() {
  return {
#define GEXP_STATEMENT(word, kind, rule, level, form, purpose, syntax, ...) {#word, #level, form, purpose, syntax, {__VA_ARGS__}},
#include "lang/statements.def"
  };
}
std::vector<Row> operations() {
  return {
#define GEXP_OPERATION(word, kind, form, purpose, syntax, ...) {#word, "Body", form, purpose, syntax, {__VA_ARGS__}},
#include "lang/statements.def"
  };
}

/// Lines of at most 120 columns, the first with `head` before it, the others with `indent`.
std::string wrapped(const std::string& head, const std::string& text, const std::string& indent) {
  std::string all, line = head;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > kColumns) {
      all += line + "\n";
      line = indent;
    }
    line += (line.empty() || line.back() == ' ' ? "" : " ") + word;
  }
  return all + line + "\n";
}

std::string production(const std::string& name, const std::string& syntax) {
  return wrapped(fmt::format("{:<12}= ", name), syntax, std::string(14, ' '));
}

bool stands(const Row& row, std::string_view level) {
  return row.level == level || row.level == "Anywhere" || (row.level == "Both" && level != "Analysis");
}

std::string choice(const std::string& name, const std::vector<Row>& rows, std::string_view level) {
  std::vector<std::string> words;
  for (const auto& row : rows) {
    if (stands(row, level)) words.push_back(row.word);
  }
  return production(name, fmt::format("{}", fmt::join(words, " | ")));
}

std::string productions(const std::vector<Row>& rows) {
  std::string text;
  for (const auto& row : rows) text += production(row.word, row.syntax);
  return text;
}

/// Rows of docs/language.md: an example, which leads to the statement's page, and what it does.
std::string overview(const std::vector<Row>& rows, std::string_view level) {
  std::string text = "|---|---|\n";
  for (const auto& row : rows) {
    if (!stands(row, level)) continue;
    const auto page = row.word == "meta" ? "experiment" : row.word == "give" ? "analysis" : row.word;  // of which it is a part
    std::string example;
    for (const char c : row.form) example += c == '|' ? std::string("\\|") : std::string(1, c);
    const auto clauses = row.clauses.empty() ? "" : fmt::format("; clauses: `{}`", fmt::join(row.clauses, " "));
    text += fmt::format("| [`{}`](language/{}.md) | {}{} |\n", example, page, row.purpose, clauses);
  }
  return text;
}

}  // namespace

TEST_CASE("docs/language.md lists every statement and operation") {
  const auto of_file = overview(statements(), "File"), of_stage = overview(statements(), "Stage"),
             of_analysis = overview(statements(), "Analysis"), of_body = overview(operations(), "Body");
  CHECK_MESSAGE(block_of("docs/language.md", "| statement of the file |", of_file) == of_file, "./dev bless lang");
  CHECK_MESSAGE(block_of("docs/language.md", "| statement of a stage |", of_stage) == of_stage, "./dev bless lang");
  CHECK_MESSAGE(block_of("docs/language.md", "| statement of an analysis |", of_analysis) == of_analysis, "./dev bless lang");
  CHECK_MESSAGE(block_of("docs/language.md", "| operation |", of_body) == of_body, "./dev bless lang");
}

TEST_CASE("docs/language/grammar.md has the syntax of every statement and operation") {
  const auto all = statements();
  const auto of_file = "```\n" + choice("statement", all, "File") + choice("in_stage", all, "Stage") + choice("in_analysis", all, "Analysis") + productions(all);
  CHECK_MESSAGE(block_of("docs/language/grammar.md", "<!-- statements:", of_file) == of_file, "./dev bless lang");
  const auto of_body = "```\n" + choice("operation", operations(), "Body") + productions(operations());
  CHECK_MESSAGE(block_of("docs/language/grammar.md", "<!-- operations:", of_body) == of_body, "./dev bless lang");
  const auto words = wrapped("", fmt::format("Reserved words cannot be names: `{}`, the operations `{}`, and `{}`.", fmt::join(lang::kStatementWords, " "),
                                         fmt::join(lang::kOperationWords, " "), fmt::join(lang::kOperatorWords, " ")), "");
  CHECK_MESSAGE(block_of("docs/language/grammar.md", "<!-- words:", words) == words, "./dev bless lang");
}
