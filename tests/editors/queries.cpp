// SPDX-License-Identifier: Apache-2.0
// The queries of editors/tree-sitter-gexp, run as an editor runs them.
#include <doctest/doctest.h>

#include <map>
#include <regex>
#include <set>

#include "lang/tokens.h"
#include "tests/editors/syntax_tree.h"
#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::test;
namespace fs = std::filesystem;

namespace {

std::string query_text(const std::string& name) {
  return read(fs::path(GEXP_SOURCE_DIR) / "editors/tree-sitter-gexp/queries" / name);
}

/// What each word of a text is shown as: `lat: variable`.
std::set<std::string> shown(const std::string& text) {
  const SyntaxTree tree(text);
  std::set<std::string> all;
  for (const auto& capture : Query(query_text("highlights.scm")).captures(tree)) {
    all.insert(std::string(tree.text(capture.node)) + ": " + capture.name);
  }
  return all;
}

}  // namespace

TEST_CASE("the queries compile") {
  for (const char* name : {"highlights.scm", "folds.scm", "indents.scm", "locals.scm"}) {
    CAPTURE(name);
    CHECK(Query(query_text(name)).problem() == "");
  }
  CHECK(Query("(no_such_node) @x").problem() != "");
}

TEST_CASE("the queries for highlights name every word of the grammar") {
  const auto query = query_text("highlights.scm");
  const auto source = read(fs::path(GEXP_SOURCE_DIR) / "lang/grammar.h");
  static const std::regex keyword("(?:GEXP_WORD|KEYWORD)\\(\"([a-z0-9]+)\"\\)");
  std::set<std::string> words;
  for (std::sregex_iterator i(source.begin(), source.end(), keyword), end; i != end; ++i) words.insert((*i)[1].str());
  for (const char* not_alone : {"cycle", "s", "barrier", "drain"}) words.erase(not_alone);  // of units; nodes of their own
  CHECK(words.size() > 60);
  for (const auto& word : words) CHECK_MESSAGE(query.find('"' + word + '"') != std::string::npos, word);
}

TEST_CASE("what stands where decides how it is shown") {
  const auto all = shown(
      "gexp 1\n# a remark\nexperiment e doc \"what\"\nparam n: B = 48KiB in 1KiB..64KiB\nmemory A: u32[n] in global\n"
      "stage s {\n  sweep step in 1..4 step 2\n  pattern ring = uniform(stride: 4B/cycle, span: n div step)\n  launch grid 1 block step\n"
      "  timed lat each { chase A by ring laps 2 via nc  alu fma.f32 chain 8 ilp 1  barrier }\n"
      "  find C: B/cycle = last_flat(misses(lat) over step) need 95%\n}\nexpect s.C == 4 on gtx780");
  for (const char* wanted :
       {"# a remark: comment", "\"what\": string", "gexp: keyword", "stage: keyword", "e: module", "s: module", "n: variable.parameter",
        "48: number", "KiB: type", "u32: type", "B: type", "global: constant.builtin", "step: variable", "step: keyword.modifier",
        "uniform: function.call", "stride: property", "B/cycle: type", "div: keyword.operator", "grid: keyword.modifier", "lat: variable",
        "each: constant.builtin", "chase: keyword.function", "nc: constant.builtin", "fma.f32: function.builtin",
        "barrier: keyword.function",
        "last_flat: function.call", "over: keyword.modifier", "95: number", "%: type", "C: property", "==: operator", "gtx780: constant",
        "..: operator", "{: punctuation.bracket", ",: punctuation.delimiter"}) {
    CHECK_MESSAGE(all.contains(wanted), wanted);
  }
}

TEST_CASE("every token of every shipped file is shown, and in one way") {
  const Query query(query_text("highlights.scm"));
  std::map<std::string, std::size_t> counts;
  for (const auto& path : files_under("experiments", ".gexp")) {
    CAPTURE(path.string());
    const auto text = read(path);
    const SyntaxTree tree(text);
    std::vector<std::string> names(text.size());
    for (const auto& capture : query.captures(tree)) {
      ++counts[capture.name];
      for (auto i = ts_node_start_byte(capture.node); i < ts_node_end_byte(capture.node); ++i) {
        const bool one = names[i].empty() || names[i] == capture.name;
        CHECK_MESSAGE(one, tree.text(capture.node), " is shown as ", names[i], " and ", capture.name);
        names[i] = capture.name;
      }
    }
    const Source source(path.string(), text);
    Diagnostics diagnostics;
    const auto tokens = lang::read_tokens(source, diagnostics);
    REQUIRE(tokens);
    for (const auto& token : *tokens) {
      const auto begin = static_cast<std::size_t>(token.text.data() - source.text().data());
      for (auto i = begin; i < begin + token.text.size(); ++i) {
        CHECK_MESSAGE(!names[i].empty(), token.text, " is not shown");
      }
    }
  }
  for (const auto& [name, least] : std::map<std::string, std::size_t>{
           {"comment", 50}, {"string", 150}, {"number", 1500}, {"type", 500}, {"keyword", 1000}, {"keyword.function", 100},
           {"keyword.modifier", 1000}, {"keyword.operator", 50}, {"operator", 1000}, {"variable", 1500}, {"variable.parameter", 50},
           {"function.call", 500}, {"property", 500}, {"constant.builtin", 200}, {"module", 150}}) {
    CHECK_MESSAGE(counts[name] >= least, name, ": ", counts[name]);
  }
}

TEST_CASE("folds and scopes: stages, bodies; names declared and read") {
  const auto text = read(fs::path(GEXP_SOURCE_DIR) / "experiments/cache/structure.gexp");
  const SyntaxTree tree(text);
  std::map<std::string, std::size_t> stages, counts;
  for (const auto& capture : Query(query_text("folds.scm")).captures(tree)) ++stages[ts_node_type(capture.node)];
  std::size_t wanted = 0;
  for (std::size_t at = 0; (at = text.find("\nstage ", at)) != std::string::npos; ++at) ++wanted;
  CHECK(wanted >= 3);
  CHECK(stages["stage"] == wanted);
  CHECK(stages["timed_statement"] >= wanted);
  for (const auto& capture : Query(query_text("locals.scm")).captures(tree)) ++counts[capture.name];
  CHECK(counts["local.definition"] > 20);
  CHECK(counts["local.reference"] > 50);
  CHECK(counts["local.scope"] > wanted);
}
