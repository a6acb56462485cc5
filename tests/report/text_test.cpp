// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/text.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "tests/report/texts.h"

using namespace gexp;
using namespace gexp::report;
using namespace gexp::test;

namespace {

constexpr std::size_t kColumns = 100;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string repeated(const char* word, int times) {
  std::string text = word;
  for (int i = 1; i < times; ++i) text += " " + std::string(word);
  return text;
}

/// A finding and an expectation with this much to say.
std::string said(const std::string& why, const std::string& evidence, const std::string& expected = {}, bool colour = false) {
  result::RunResult result;
  infer::Finding finding;
  finding.id = "sets.S";
  finding.status = infer::Finding::Status::Found;
  finding.value = Value(4.0);
  finding.why = why, finding.evidence = evidence;
  result.findings.push_back(finding);
  if (!expected.empty()) {
    result::Judgement judged;
    judged.status = result::Judgement::Status::Fail;
    judged.text = judged.observed = expected;
    result.expectations.push_back(judged);
  }
  return text(compiler::Program{}, result, colour);
}

}  // namespace

TEST_CASE("what supports a finding goes on in the next line, under the same indent") {
  // Letters of two bytes: columns count, not bytes.
  const auto why = repeated("größer", 40), evidence = repeated("word", 50);
  const std::string indent(14, ' ');
  std::string words;
  std::size_t lines = 0;
  for (const auto& line : lines_of(said(why, evidence))) {
    INFO(line);
    CHECK(columns(line) <= kColumns);
    if (!line.starts_with(indent)) continue;
    CHECK(line[14] != ' ');
    words += (words.empty() ? "" : " ") + line.substr(14);
    ++lines;
  }
  CHECK(words == why + " " + evidence);
  CHECK(lines == 4 + 3);  // 12 words of 6 letters a line, 17 of 4
}

TEST_CASE("a line that fits is one line, and a word that does not stays whole") {
  const auto text = said(repeated("word", 17) + " a", std::string(120, 'x'));  // 14 columns and 86
  CHECK(text.find("\n" + std::string(14, ' ') + repeated("word", 17) + " a\n") != std::string::npos);
  CHECK(text.find("\n" + std::string(14, ' ') + std::string(120, 'x') + "\n") != std::string::npos);
}

TEST_CASE("an expectation goes on below, too") {
  for (const auto& line : lines_of(said("", "", repeated("value", 60)))) CHECK_MESSAGE(columns(line) <= kColumns, line);
}

TEST_CASE("each line is coloured by itself") {
  for (const auto& line : lines_of(said(repeated("word", 50), "", "", true))) {
    if (line.find("word") == std::string::npos) continue;
    CHECK_MESSAGE(line.find("\033[2mword") != std::string::npos, line);
    CHECK_MESSAGE(line.ends_with("\033[0m"), line);
  }
}
