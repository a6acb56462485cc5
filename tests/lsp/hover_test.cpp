// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "lang/words.h"
#include "tests/lsp/support.h"

using namespace gexp;
using namespace gexp::test;

namespace {

/// The code and the paragraphs, a line each; empty where nothing is shown.
std::string shown(const std::string& text) {
  const AtCursor at(text);
  const auto hover = lsp::hover_at(at.view, at.offset);
  if (!hover) return "";
  std::string all = hover->code;
  for (const auto& paragraph : hover->paragraphs) all += "\n" + paragraph;
  return all;
}

bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("a statement shows its form, what it does and its clauses") {
  const auto sweep = shown(stage_at("sweep"));
  CHECK(has(sweep, "sweep n in 1KiB..64KiB step 1KiB\n"));
  CHECK(has(sweep, "`refine`"));
  CHECK(has(shown(stage_at("chase")), "chase A by ring laps 2 via ca\n"));
  CHECK(shown(stage_at("laps")) == shown(stage_at("chase")));  // a clause: its statement
  CHECK(shown(stage_at("step 1KiB")) == sweep);
}

TEST_CASE("an analysis shows its question, a function what it gives") {
  CHECK(has(shown(stage_at("last_flat")),
            "last_flat(misses(lat) over n)\n`last_flat`: an analysis. What is the largest footprint that fits?"));
  CHECK(has(shown(stage_at("misses")), "Accesses of a run that are slower"));
  CHECK(has(shown(stage_at("misses")), "Labels: `above` (may be left out)."));
  CHECK(has(shown(stage_at("uniform")), "`uniform`: a pattern."));
  CHECK(has(shown(stage_at("stride")), "`uniform`: a pattern."));  // a label: its call
}

TEST_CASE("a name shows its declaration, its type and its value") {
  CHECK(shown(stage_at("line, ")) ==
        "let line = 32B\n`line`: a value: bytes, known before anything runs.\nIts value is 32 B.");
  CHECK(shown(stage_at("line = ")) == shown(stage_at("line, ")));
  CHECK(shown(stage_at("n)")) == "sweep n in 1KiB..8KiB step 1KiB\n`n`: a sweep variable: bytes, known at each point.");
  CHECK(shown(stage_at("A by")) == "memory A: u32[64KiB] in global\n`A`: a memory.");
  CHECK(shown(stage_at("ring laps")) ==
        "pattern ring = uniform(stride: line, span: n)\n`ring`: a pattern, known at each point.");
  CHECK(shown(stage_at("lat)")) ==
        "timed lat each { … }\n`lat`: a record, in cycles, known after the runs of a point.");
  CHECK(shown(stage_at("C: B")) ==
        "find C: B = last_flat(misses(lat) over n)\n`C`: a finding: bytes, known after every point of its stage.");
  CHECK(shown(stage_at("s {")) == "stage s { … }\n`s`: a stage.");
  const std::string params =
      "gexp 1\nexperiment e\nparam limit: B = 512KiB in 16KiB..4MiB doc \"the largest\"\nlet half = lim|it / 2\n";
  CHECK(has(shown(params), "the largest\nIts value is 512 KiB."));
}

TEST_CASE("the end of a word shows the word; space, marks, comments and texts show nothing") {
  CHECK_FALSE(shown(stage_at(" = 32B")).empty());
  CHECK(shown(stage_at("= 32B")).empty());
  CHECK(shown("gexp 1\nexperiment e # a let| b\n").empty());
  CHECK(shown("gexp 1\nexperiment e doc \"a let| b\"\n").empty());
  CHECK(shown("|").empty());
  CHECK(shown("gexp 1\n|").empty());
  CHECK(shown("gexp 1\nexperiment e\nlet a = unk|nown\n").empty());
}

TEST_CASE("a quantity shows what it is in the base unit") {
  const auto of = [](const std::string& quantity) {
    return shown("gexp 1\nexperiment e\nlet a = |" + quantity + "\n");
  };
  CHECK(of("64KiB") == "64KiB\n65536 B.");
  CHECK(of("2.5GHz") == "2.5GHz\n2500000000 1/s.");
  CHECK(of("3us") == "3us\n3e-06 s.");
  CHECK(of("1.5e3GB/s") == "1.5e3GB/s\n1500000000000 B/s.");
  CHECK(of("2%") == "2%\n0.02, a plain number.");
  CHECK(has(of("2elem"), "Elements"));
  CHECK(of("12").empty());
  CHECK(of("12xyz").empty());
}

TEST_CASE("a path shows its last part: findings, facts, fields, values of used files") {
  const auto later = [](const std::string& line) { return shown(kStage + line + "\n"); };
  CHECK(has(later("expect s.|C == 4KiB"), "find C: B = last_flat(misses(lat) over n)\n`s.C`: a finding: bytes"));
  CHECK(has(later("expect |s.C == 4KiB"), "`s`: a stage."));
  CHECK(has(later("let x = device.l2.by|tes"), "`device.l2.bytes`: facts of the device, bytes."));
  CHECK(has(later("expect s.C == model.nc.cap|acity"), "what a simulated device is made of, bytes"));
  CHECK(later("let x = model.nc.cap|acity").empty());
  CHECK(later("let x = s.D|").empty());
  const std::string use = "gexp 1\nexperiment e\nuse \"rings.gexp\" as r\n";
  CHECK(has(shown(use + "let x = |r.a\n"), "use \"rings.gexp\" as r\n`r`: a used file."));
}

TEST_CASE("values of a used file are shown with the line that declares them") {
  const std::string use = "gexp 1\nexperiment e\nuse \"papers.gexp\" as p\n";
  const AtCursor at(use);
  REQUIRE(at.view.uses.size() == 1);
  REQUIRE(at.view.uses[0].exports);
  const auto names = at.view.uses[0].exports->type.field_names();
  REQUIRE_FALSE(names.empty());
  const auto name = std::string(names.front());
  const auto hover = shown(use + "let x = p.|" + name + "\n");
  CHECK(has(hover, "`p." + name + "`: "));
  CHECK(has(hover, ", of papers.gexp."));
  CHECK(has(hover, "Its value is "));
}

TEST_CASE("an inner name hides an outer one, and is known in its scope alone") {
  const std::string text =
      "gexp 1\nexperiment e\nmemory A: u32[64KiB] in global\nlet j = 4B\nstage s {\n  launch grid 1 block 32\n"
      "  timed t total { unroll j in 0..3 { load A at j * 4B } load A at j }\n  derive d: count = count([j for j in "
      "0..7])\n}\n";
  const auto at = [&](const std::string& what, std::size_t nth = 0) {
    auto marked = text;
    auto place = marked.find(what);
    for (; nth > 0; --nth) place = marked.find(what, place + 1);
    return shown(marked.insert(place, "|"));
  };
  CHECK(has(at("j * 4B"), "a loop variable"));
  CHECK(has(at("j }"), "let j = 4B"));
  CHECK(has(at("j for"), "a loop variable"));
}

TEST_CASE("clause words are names where an operand stands") {
  const std::string text =
      "gexp 1\nexperiment e\nparam block: count = 32\nparam by: count = 1\nstage s {\n  launch grid by block "
      "block\n}\n";
  const auto at = [&](std::size_t from_end) {
    auto marked = text;
    return shown(marked.insert(marked.size() - from_end, "|"));
  };
  CHECK(has(at(8), "param block: count = 32"));
  CHECK(has(at(14), "launch grid 1 block 32"));
  CHECK(has(at(17), "param by: count = 1"));
}

TEST_CASE("every statement, operation and function has something to say") {
  for (const auto& statement : lang::statement_forms()) {
    CHECK_MESSAGE(statement.purpose.size() > 10, std::string(statement.word));
    CHECK_MESSAGE(statement.form.find(statement.word) != std::string_view::npos, std::string(statement.word));
  }
  for (const auto& callable : lang::vocabulary()) {
    const auto text = shown("gexp 1\nexperiment e\nlet a = |" + std::string(callable.name) + "(1)\n");
    CHECK_MESSAGE(has(text, std::string(callable.usage)), std::string(callable.name));
    CHECK_MESSAGE(callable.purpose.size() > 10, std::string(callable.name));
  }
}

TEST_CASE("text that does not parse is answered as far as it was read") {
  const auto broken = stage_at("find C", 0, "find | C");
  CHECK(has(shown(stage_at("repeat 3", 0, "repeat")), ""));
  CHECK(
      has(shown("gexp 1\nexperiment e\nlet a = 4KiB\nlet b = \nlet c = |a +\n"), "let a = 4KiB\n`a`: a value: bytes"));
  CHECK(has(shown("gexp 1\nexperiment e\nstage s {\n  sweep n in 1..4\n  launch grid |n +\n"), "sweep n in 1..4"));
}

TEST_CASE("a hover is markdown where the editor takes it") {
  for (const bool markdown : {false, true}) {
    Talk talk;
    talk.begin(markdown ? Json{{"textDocument", {{"hover", {{"contentFormat", {"markdown", "plaintext"}}}}}}}
                        : Json::object());
    talk.open(kStage);
    const int id = talk.ask_at("textDocument/hover", 5, 4), nothing = talk.ask_at("textDocument/hover", 5, 0);
    talk.end();
    CHECK(talk.run() == 0);
    const auto hover = talk.result(id);
    CHECK(hover["contents"]["kind"] == (markdown ? "markdown" : "plaintext"));
    const auto text = hover["contents"]["value"].get<std::string>();
    CHECK(text.starts_with(markdown ? "```gexp\nsweep n in" : "sweep n in"));
    CHECK(has(text, "`") == markdown);
    CHECK(hover["range"] == Json{{"start", {{"line", 5}, {"character", 2}}}, {"end", {{"line", 5}, {"character", 7}}}});
    CHECK(talk.result(nothing).is_null());
  }
}

TEST_CASE("an analysis of one's own shows its arguments and what it says of itself") {
  const std::string own = "gexp 1\nexperiment e\nuse \"costs.gexp\" as c\nmemory A: u32[64KiB] in global\n"
                          "analysis gap(t: record, n: B) -> cycles doc \"how far apart\" { let h = fastest(t) give slowest(t) - h }\n"
                          "stage s {\n  sweep n in 1KiB..8KiB step 1KiB\n  pattern ring = uniform(stride: 32B, span: n)\n"
                          "  timed lat each { chase A by ring laps 2 }\n";
  const auto gap = "analysis gap(t: record, n: B) -> cycles\n`gap`: an analysis.\nhow far apart";
  CHECK(shown(own + "  find g: cycles = |gap(lat, n)\n}\n") == gap);
  CHECK(shown(own + "  find g: cycles = c.|miss(lat)\n}\n") ==
        "analysis miss(t: record) -> cycles\n`c.miss`: an analysis, of costs.gexp.\nwhat the slowest level takes beyond the fastest");
  CHECK(shown(own + "  find g: cycles = gap(|lat, n)\n}\n").find("`lat`: a record, in cycles") != std::string::npos);
  auto inside = own + "  find g: cycles = gap(lat, n)\n}\n";
  inside.insert(inside.find("t) - h"), "|");
  CHECK(has(shown(inside), "`t`: an argument."));
}
