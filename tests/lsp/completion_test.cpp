// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include "tests/lsp/support.h"

using namespace gexp;
using namespace gexp::test;

namespace {

/// Labels, each with a space before and behind, and the part of the text that they replace.
struct Proposed {
  std::string labels = " ", replaced;
  [[nodiscard]] bool has(const std::string& label) const { return labels.find(" " + label + " ") != std::string::npos; }
};

Proposed proposed(const std::string& text) {
  const AtCursor at(text);
  const auto made = lsp::complete_at(at.view, at.offset, {"gtx780", "h200"});
  Proposed all;
  for (const auto& item : made.items) all.labels += item.label + " ";
  all.replaced = at.view.source->slice(made.replace);
  return all;
}

Proposed in_file(const std::string& line) {
  return proposed("gexp 1\nexperiment e\nmemory A: u32[64KiB] in global\nlet line = 32B\n" + line);
}
/// Behind the lines of kStage, in its stage.
Proposed in_stage(const std::string& line) { return proposed(kStage.substr(0, kStage.size() - 2) + line); }

}  // namespace

TEST_CASE("statements are proposed where they may stand") {
  const auto file = in_file("|\n"), stage = in_stage("  |\n}\n"), body = in_stage("  warm { |\n");
  CHECK((file.has("param") && file.has("stage") && file.has("expect") && !file.has("sweep") && !file.has("chase") &&
         !file.has("gexp")));
  CHECK((stage.has("derive") && stage.has("let") && stage.has("expect") && !stage.has("param") && !stage.has("chase")));
  CHECK((body.has("chase") && body.has("loop") && !body.has("sweep") && !body.has("param")));
  CHECK(in_stage("  der|\n}\n").replaced == "der");
  CHECK(in_stage("  der|\n}\n").has("derive"));
  CHECK(proposed("|").has("gexp"));
  CHECK(proposed(kStage + "|").has("param"));
  CHECK(in_stage("}\n|").has("stage"));
}

TEST_CASE("what the checker accepts at a level is proposed there, and nothing else") {
  for (const auto& statement : lang::statement_forms()) {
    for (const auto level : {lang::Level::File, lang::Level::Stage}) {
      if (statement.at(lang::Level::Head)) continue;
      std::string form(statement.form);
      if (const auto dots = form.find("…"); dots != std::string::npos) form.replace(dots, std::string("…").size(), "");
      const auto text =
          "gexp 1\nexperiment e\n" + (level == lang::Level::File ? form : "stage here {\n" + form + "\n}") + "\n";
      const AtCursor at(text);
      Diagnostics diagnostics;
      const auto checked = lsp::check_text(Source("x.gexp", text), {}, load_beside);
      const bool misplaced = std::any_of(
          checked.diagnostics.begin(), checked.diagnostics.end(),
          [](const Diagnostic& each) { return each.code == "E0203" || each.code == "E0108" || each.code == "E0104"; });
      CHECK_MESSAGE(misplaced == !statement.at(level), text);
      const bool syntax =
          std::any_of(checked.diagnostics.begin(), checked.diagnostics.end(),
                      [](const Diagnostic& each) { return each.code == "E0102" || each.code == "E0103"; });
      CHECK_MESSAGE(!syntax, text);
    }
  }
}

TEST_CASE("operands are names in sight, functions and patterns") {
  const auto stride = proposed(stage_at("line, "));
  CHECK((stride.has("line") && stride.has("n") && stride.has("lane") && stride.has("max") && stride.has("device")));
  CHECK_FALSE(stride.has("A"));     // a memory is no value
  CHECK_FALSE(stride.has("ring"));  // itself
  CHECK_FALSE(stride.has("last_flat"));
  CHECK_FALSE(in_file("let x = |\nlet later = 4\n").has("later"));
  CHECK_FALSE(in_file("let x = |\n").has("model"));
  CHECK(in_file("expect |\n").has("model"));
  CHECK_FALSE(in_file("let x = |\nstage t {\n  let inner = 4\n}\n").has("inner"));
  CHECK(proposed(stage_at("stride: line", 0, "stride: li|")).replaced == "li");
}

TEST_CASE("a find is completed with analyses, a call with its labels and clauses") {
  const auto find = in_stage("  find D: B = |\n");
  CHECK((find.has("last_flat") && find.has("cache_sets") && !find.has("median") && !find.has("n")));
  const auto labels = in_stage("  find D: structure = cache_sets(lat over n, |\n");
  CHECK((labels.has("line:") && labels.has("above:") && labels.has("n")));
  const auto second = in_stage("  find D: structure = cache_sets(lat over n, line: 32B, |)\n");
  CHECK((!second.has("line:") && second.has("above:")));
  CHECK(in_stage("  find D: B = last_flat(misses(lat) |\n").has("over"));
  CHECK(in_stage("  find D: count = value(misses(lat), |\n").has("n:"));
  CHECK(in_stage("  derive d: count = unique(merger(2, of: |\n").has("warps"));
}

TEST_CASE("contextual words are proposed at their places") {
  CHECK(in_file("param p: |\n").has("cycles"));
  CHECK_FALSE(in_file("param p: |\n").has("structure"));
  CHECK(in_stage("  find f: |\n").has("structure"));
  CHECK(in_file("memory B: |\n").has("u64"));
  CHECK(in_file("memory B: u32[4KiB] |\n").has("in"));
  CHECK(in_file("memory B: u32[4KiB] in |\n").has("shared"));
  CHECK(in_stage("  warm { chase |\n").labels == " A ");
  CHECK(in_stage("  warm { chase A by |\n").has("ring"));
  CHECK(in_stage("  warm { chase A by ring |\n").has("laps"));
  CHECK(in_stage("  warm { chase A by ring laps 2 via |\n").has("nc"));
  const std::string kernel = "  warm { kernel \"a.cu\" ";
  CHECK(in_stage(kernel + "|\n").has("entry"));
  CHECK_FALSE(in_stage(kernel + "entry |\n").has("A"));
  const auto given = in_stage(kernel + "entry load(|\n");  // a kernel may be called like an operation
  CHECK((given.has("A") && given.has("n") && given.has("count") && !given.has("warm")));
  CHECK(in_stage(kernel + "entry load(A |\n").has("by"));
  CHECK(in_stage(kernel + "entry load(A by |\n").has("ring"));
  CHECK(in_stage(kernel + "entry load(A, n) |\n").has("define"));
  CHECK(in_stage(kernel + "entry load(A, n) define N = |\n").has("n"));
  CHECK(in_stage("  flush |\n").has("l2"));
  CHECK(in_stage("  timed t |\n").has("wall"));
  CHECK(in_stage("  record |\n").labels == " lat ");
  CHECK(in_stage("  record lat |\n").has("histogram"));
  CHECK(in_stage("  launch |\n").has("grid"));
  CHECK(in_stage("  launch grid 1 |\n").has("block"));
  CHECK(in_stage("  launch grid 1 place |\n").has("tpc"));
  CHECK(in_file("expect line == 32B on |\n").has("gtx780"));
  CHECK(in_file("expect line == 32B on gtx780, h|\n").has("h200"));
  CHECK(in_stage("  sweep k in 1..4 |\n").has("refine"));
  CHECK(in_stage("  plot median(lat) |\n").has("vs"));
}

TEST_CASE("units follow a number, fields a dot") {
  const auto units = in_file("let x = 64K|\n");
  CHECK((units.has("KiB") && units.has("cycles") && units.replaced == "K"));
  CHECK(in_file("let x = 64|\n").replaced.empty());
  CHECK(proposed(kStage + "expect s.|\n").labels == " C ");
  CHECK(proposed(kStage + "expect s.C| == 4KiB\n").replaced == "C");
  const auto device = in_file("let x = device.|\n");
  CHECK((device.has("sms") && device.has("l2") && !device.has("line")));
  CHECK(in_file("let x = device.l2.|\n").labels == " bytes ");
  CHECK(in_file("let x = nothing.|\n").labels == " ");
  CHECK(in_file("let x = [1, 2]\nlet y = x.|\n").labels == " count ");
  CHECK(proposed("gexp 1\nexperiment e\nuse \"rings.gexp\" as r\nlet x = r.|\n").labels.size() > 3);
}

TEST_CASE("nothing is proposed in comments, texts and new names") {
  for (const char* line :
       {"# a |\n", "meta cite \"a |\"\n", "meta cite \"a |\n", "let |\n", "meta |\n", "seed |\n", "stage |\n"}) {
    CHECK_MESSAGE(in_file(line).labels == " ", line);
  }
}

TEST_CASE("a proposal replaces what is written of the word") {
  Talk talk;
  talk.begin();
  talk.open("gexp 1\nexperiment é doc \"😀\" pa\n");
  const int id = talk.ask_at("textDocument/completion", 1, 25);
  talk.end();
  CHECK(talk.run() == 0);
  const auto result = talk.result(id);
  CHECK(result["isIncomplete"] == false);
  std::set<std::string> labels;
  for (const auto& item : result["items"]) CHECK(labels.insert(item["label"].get<std::string>()).second);
}

TEST_CASE("analyses of one's own are proposed where `find` asks, and in another's body") {
  const std::string head = "use \"costs.gexp\" as m\nlet far = 3cycles\nanalysis gap(t: record) -> cycles doc \"how far apart\" { give slowest(t) - fastest(t) }\n";
  const auto find = in_file(head + kStage.substr(kStage.find("stage"), kStage.rfind('}') - kStage.find("stage")) + "  find g: cycles = |\n}\n");
  CHECK((find.has("gap") && find.has("m") && find.has("fastest") && !find.has("far")));
  const auto used = in_file(head + kStage.substr(kStage.find("stage"), kStage.rfind('}') - kStage.find("stage")) + "  find g: cycles = m.|\n}\n");
  CHECK((used.has("miss") && used.has("lost")));
  const auto body = in_file(head + "analysis two(t: record) -> cycles { give |\n}\n");
  CHECK((body.has("gap") && body.has("slowest") && body.has("max") && !body.has("far")));
  CHECK(in_file("analysis two(t: |\n").has("record"));
  CHECK(in_file("analysis two(t: record) -> |\n").has("cycles"));
}
