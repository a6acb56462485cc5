// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/gexp.dict holds every word of the language, so that the fuzzers need not guess them. GEXP_BLESS=1 writes it anew.
#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include "lang/base/units.h"
#include "lang/dimensions.h"
#include "lang/vocabulary.h"
#include "lang/words.h"
#include "tests/lang/grammar_words.h"

using namespace gexp;
using namespace gexp::test;

namespace {

std::set<std::string> every_word() {
  std::set<std::string> words;
  for (const auto word : lang::kStatementWords) words.emplace(word);
  for (const auto word : lang::kOperationWords) words.emplace(word);
  for (const auto word : lang::kOperatorWords) words.emplace(word);
  for (const auto& callable : lang::vocabulary()) {
    words.insert(std::string(callable.name) + "(");
    for (const auto& label : callable.labels) {
      if (!label.name.empty()) words.insert(std::string(label.name) + ": ");
    }
  }
  for (const auto* some : {&lang::element_words(), &lang::space_words(), &lang::via_words(), &lang::flush_words(), &lang::timing_words(),
                           &lang::keep_words(), &lang::neighbour_words(), &lang::place_words(), &lang::drawing_words()}) {
    for (const auto word : some->words) words.emplace(word);
  }
  for (const auto word : lang::type_words()) words.emplace(word);
  for (const auto unit : unit_words()) words.insert("1" + std::string(unit));
  for (const auto& word : clause_words()) words.insert(word);
  // Names that are built in, marks, and whole statements.
  for (const char* word : {"lane", "tid", "warp", "gtid", "cta", "seg", "device", "fma.f32", "..", "==", "!=", "<=", ">=", "??", " { ", " }\n", "[", "]", "# ", "#file\n", "use \"1.gexp\" as m\n", "gexp 1\nexperiment x\n",
                           "timed t each { chase A by r laps 1 }\n", "memory A: u32[4KiB] in global\n"}) {
    words.emplace(word);
  }
  return words;
}

std::string dictionary() {
  std::string text = "# The words of the language for ./dev fuzz; tests/lang/fuzz_dictionary.cpp writes and checks it.\n";
  for (const auto& word : every_word()) {
    text += '"';
    for (const char c : word) text += c == '\n' ? "\\x0A" : c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    text += "\"\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the fuzzers' dictionary holds every word of the language") {
  const auto path = std::filesystem::path(GEXP_SOURCE_DIR) / "tests/fuzz/gexp.dict";
  if (std::getenv("GEXP_BLESS")) std::ofstream(path, std::ios::binary) << dictionary();
  CHECK(read(path) == dictionary());
}
