// SPDX-License-Identifier: Apache-2.0
// The lists of analyses in docs/language/find.md and docs/inference.md are made of the pages in docs/inference: a page says its question
// and has a table `| call | answer | type |`. The order is that of lang/analyses.def. GEXP_BLESS=1 writes the lists anew.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <regex>

#include "lang/vocabulary.h"
#include "tests/lang/generated_docs.h"

using namespace gexp;
using namespace gexp::test;

namespace {

/// The place of the first analysis that a text names, among all; beyond them where it names none.
std::size_t place_of(const std::string& text) {
  static const std::regex name("`([a-z_0-9]+)");
  const auto analyses = lang::callable_names(true);
  for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i) {
    const auto found = std::find(analyses.begin(), analyses.end(), (*i)[1].str());
    if (found != analyses.end()) return static_cast<std::size_t>(found - analyses.begin());
  }
  return analyses.size();
}

constexpr const char* kCalls = "| call | answer | type |";

using Rows = std::multimap<std::pair<std::size_t, std::string>, std::string>;  ///< in order: place, page, row

std::string joined(const Rows& rows) {
  std::string all;
  for (const auto& [place, row] : rows) all += row + "\n";
  return all;
}

}  // namespace

TEST_CASE("the lists of analyses are those of their pages") {
  Rows calls, questions;
  for (const auto& path : files_under("docs/inference", ".md")) {
    const auto text = read(path), page = path.filename().string();
    std::smatch found;
    if (!std::regex_search(text, found, std::regex("\\*\\*Question\\.\\*\\* ([^\\n]*(\\n[^\\n]+)*)\\n\\n"))) continue;
    auto question = found[1].str();
    std::replace(question.begin(), question.end(), '\n', ' ');
    question.resize(std::min(question.find('?') + 1, question.size()));
    const auto heading = text.substr(2, text.find('\n') - 2);
    const bool has_calls = text.find(kCalls) != std::string::npos;
    if (!has_calls && !heading.starts_with('`')) continue;
    questions.emplace(std::pair(place_of(heading) < lang::callable_names(true).size() ? place_of(heading) : place_of(text), page),
                      fmt::format("| [{}](inference/{}) | {} |", heading, page, question));
    if (!has_calls) continue;
    std::istringstream lines(text.substr(text.find(kCalls)));
    std::string line;
    std::getline(lines, line), std::getline(lines, line);
    while (std::getline(lines, line) && !line.empty()) calls.emplace(std::pair(place_of(line), page), line);
  }
  REQUIRE(calls.size() >= 20);
  const auto find = "|---|---|---|\n" + joined(calls), inference = "|---|---|\n" + joined(questions);
  CHECK_MESSAGE(block_of("docs/language/find.md", kCalls, find) == find, "./dev bless lang");
  CHECK_MESSAGE(block_of("docs/inference.md", "| analysis | question |", inference) == inference, "./dev bless lang");
}
