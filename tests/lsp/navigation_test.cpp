// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "lang/format.h"
#include "tests/lsp/support.h"

using namespace gexp;
using namespace gexp::test;

namespace {

/// "3:4 line" — where the definition is, from 0, and its text; "FILE 3:4 line" in a used file; empty: nowhere.
std::string defined(const std::string& text) {
  const AtCursor at(text);
  const auto location = lsp::definition_at(at.view, at.offset);
  if (!location) return "";
  const auto& source = location->in ? *location->in : *at.view.source;
  const auto place = source.position(location->span.begin);
  const auto file = location->in ? std::filesystem::path(source.path()).filename().string() + " " : "";
  return file + std::to_string(place.line - 1) + ":" + std::to_string(place.column - 1) + " " +
         std::string(source.slice(location->span));
}

std::size_t references(const std::string& text) {
  const AtCursor at(text);
  return lsp::references_at(at.view, at.offset).size();
}

}  // namespace

TEST_CASE("a name leads to its declaration") {
  CHECK(defined(stage_at("line, ")) == "3:4 line");
  CHECK(defined(stage_at("line = ")) == "3:4 line");
  CHECK(defined(stage_at("ring laps")) == "6:10 ring");
  CHECK(defined(stage_at("A by")) == "2:7 A");
  CHECK(defined(stage_at("lat)")) == "8:8 lat");
  CHECK(defined(kStage + "expect s.|C == 4KiB\n") == "10:7 C");
  CHECK(defined(kStage + "expect |s.C == 4KiB\n") == "4:6 s");
  CHECK(defined(kStage.substr(0, kStage.size() - 2) + "  find v: count = value(misses(lat), |n: 2KiB)\n}\n") ==
        "5:8 n");
  for (const char* nothing :
       {"let x = la|ne", "let x = device.s|ms", "let x = no|thing", "let x = 3|2B", "# li|ne", "let x = mi|n(1, 2)"}) {
    CHECK_MESSAGE(defined(kStage + nothing + "\n").empty(), nothing);
  }
}

TEST_CASE("a used name leads into the used file") {
  const std::string use = "gexp 1\nexperiment e\nuse \"rings.gexp\" as r\n";
  CHECK(defined("gexp 1\nexperiment e\nuse \"ri|ngs.gexp\" as r\n") == "rings.gexp 0:0 ");
  CHECK(defined("gexp 1\nexperiment e\nuse \"rings.gexp\" as r\nlet x = |r.y\n") == "rings.gexp 0:0 ");
  CHECK(defined("gexp 1\nexperiment e\nuse \"no_such.gexp\" as r\nlet x = |r.y\n") == "2:22 r");
  const AtCursor at(use);
  for (const auto name : at.view.uses.at(0).exports->type.field_names()) {
    const auto there = defined(use + "let x = r.|" + std::string(name) + "\n");
    CHECK_MESSAGE((there.starts_with("rings.gexp ") && there.ends_with(" " + std::string(name))), there);
  }
}

TEST_CASE("the place of a definition in another file is its URI; one that no file holds is none") {
  for (const bool shown : {true, false}) {
    Talk talk;
    if (!shown) talk.options.file_of = [](const std::string&) { return std::string(); };
    talk.begin();
    talk.open("gexp 1\nexperiment e\nuse \"rings.gexp\" as r\n");
    const int id = talk.ask_at("textDocument/definition", 2, 8);
    talk.end();
    CHECK(talk.run() == 0);
    if (shown)
      CHECK(talk.result(id)["uri"].get<std::string>().ends_with("/experiments/lib/rings.gexp"));
    else
      CHECK(talk.result(id).is_null());
  }
}

TEST_CASE("references are the names of one declaration") {
  CHECK(references(stage_at("line = ")) == 2);
  CHECK(references(stage_at("n in 1KiB")) == 3);
  CHECK(references(kStage + "expect s.|C == 4KiB and s.C > 1B\n") == 3);
  CHECK(references(kStage + "let x = la|ne\n") == 0);
}

TEST_CASE("a new name is refused where it is none, or taken") {
  const AtCursor at(stage_at("line = "));
  const auto refused = [&](std::string_view name) { return !lsp::refused_name(at.view, at.offset, name).empty(); };
  CHECK_FALSE(refused("width"));
  for (const char* name : {"", "4a", "a b", "a.b", "é", "let", "and", "lane", "device", "n", "ring", "A", "s"})
    CHECK_MESSAGE(refused(name), name);

  Talk talk;
  talk.begin();
  talk.open(kStage);
  const int good = talk.ask_at("textDocument/rename", 3, 5, {{"newName", "width"}}),
            bad = talk.ask_at("textDocument/rename", 3, 5, {{"newName", "n"}});
  const int nothing = talk.ask_at("textDocument/prepareRename", 5, 3),
            something = talk.ask_at("textDocument/prepareRename", 3, 5);
  talk.end();
  CHECK(talk.run() == 0);
  CHECK(talk.result(good)["changes"][Talk::kUri].size() == 2);
  CHECK(talk.failure(bad) == -32803);
  CHECK(talk.result(nothing).is_null());
  CHECK(talk.result(something)["start"]["character"] == 4);
}

TEST_CASE("every name of every shipped file can be renamed: the file then says the same of another name") {
  std::size_t renamed = 0;
  for (const auto& path : specs_under("experiments")) {
    auto source = std::make_shared<const Source>(path.string(), read(path));
    const auto view = lsp::view_text(source, nullptr, load_beside);
    for (const auto& declared : view.declarations) {
      if (source->slice(declared.symbol.span) != declared.symbol.name) continue;
      auto text = source->text();
      auto places = lsp::references_at(view, declared.symbol.span.begin);
      CHECK_MESSAGE(!places.empty(), path.string(), " ", declared.symbol.name);
      for (auto place = places.rbegin(); place != places.rend(); ++place)
        text.replace(place->begin, place->end - place->begin, "zzz_fresh");
      const auto checked = lsp::check_text(Source(path.string(), text), {}, load_beside);
      const bool fine = std::none_of(checked.diagnostics.begin(), checked.diagnostics.end(),
                                     [](const Diagnostic& each) { return each.severity == Severity::Error; });
      CHECK_MESSAGE(fine, path.string(), " ", declared.symbol.name, ": ",
                    fine ? "" : checked.diagnostics.front().message);
      ++renamed;
    }
  }
  CHECK(renamed > 500);
}

TEST_CASE("the outline has the file's names and those of its stages") {
  const AtCursor at(kStage + "expect s.C == 4KiB\n");
  const auto outline = lsp::outline_of(at.view);
  REQUIRE(outline.size() == 3);
  CHECK(outline[0].name == "A");
  CHECK(outline[2].name == "s");
  CHECK(at.view.source->slice(outline[2].whole).ends_with("}"));
  std::string inner;
  for (const auto& each : outline[2].children) inner += each.name + " ";
  CHECK(inner == "n ring lat C ");

  for (const bool nested : {false, true}) {
    Talk talk;
    talk.begin({{"textDocument", {{"documentSymbol", {{"hierarchicalDocumentSymbolSupport", nested}}}}}});
    talk.open(kStage);
    const int id = talk.ask("textDocument/documentSymbol", {{"textDocument", {{"uri", Talk::kUri}}}});
    talk.end();
    CHECK(talk.run() == 0);
    CHECK(talk.result(id).size() == (nested ? 3 : 7));
    CHECK(talk.result(id)[2].contains("children") == nested);
  }
}

TEST_CASE("formatting gives what gexp fmt gives, and nothing where there is nothing to do") {
  for (const auto& text :
       {kStage, stage_at("repeat 3", 0, "repeat    3"), stage_at("let line = 32B", 0, "let   line=32B"),
        kStage + "\n\n\n", "\n\n" + kStage, std::string("gexp 1\r\nexperiment e\r\nlet a=1\r\n"),
        std::string("gexp 1 experiment e"), std::string("let"), std::string()}) {
    const Source source("x.gexp", text);
    Diagnostics diagnostics;
    const auto wanted = lang::format(source, diagnostics);
    const auto edit = lsp::format_edit(source);
    auto made = text;
    if (edit) made.replace(edit->span.begin, edit->span.end - edit->span.begin, edit->text);
    CHECK(made == wanted.value_or(text));
    CHECK(edit.has_value() == (wanted && *wanted != text));
  }
  Talk talk;
  talk.begin();
  talk.open(stage_at("repeat 3", 0, "repeat    3"));
  const Json whole{{"textDocument", {{"uri", Talk::kUri}}}, {"options", {{"tabSize", 2}, {"insertSpaces", true}}}};
  const int one = talk.ask("textDocument/formatting", whole);
  talk.change({{{"text", "gexp 1\nexperiment e\nlet = 4\n"}}});
  const int none = talk.ask("textDocument/formatting", whole);
  talk.end();
  CHECK(talk.run() == 0);
  // The empty line above the stage, too, so from there on.
  CHECK(talk.result(one).size() == 1);
  CHECK(talk.result(none) == Json::array());
}
