// SPDX-License-Identifier: Apache-2.0
// Whatever is typed so far is answered, and nothing that is asked about it ends the server.
#include <doctest/doctest.h>

#include <chrono>

#include "tests/lsp/support.h"

using namespace gexp;
using namespace gexp::test;

namespace {

void ask_everything(const lsp::View& view, std::uint32_t offset) {
  lsp::hover_at(view, offset);
  lsp::complete_at(view, offset, {"gtx780"});
  lsp::definition_at(view, offset);
  lsp::references_at(view, offset);
  lsp::refused_name(view, offset, "fresh");
}

lsp::View view_of(const std::string& text) {
  auto source = std::make_shared<const Source>("/no/such/folder/x.gexp", text);
  const auto checked = lsp::check_text(*source, {}, load_beside);
  return lsp::view_text(source, checked.program ? &*checked.program : nullptr, load_beside);
}

}  // namespace

TEST_CASE("a text is answered after each character that is typed") {
  const auto text =
      kStage +
      "expect s.C == 4KiB on gtx780 from \"a\" # é\nuse \"rings.gexp\" as r\nlet z = r.a ?? [x for x in 0..4]\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const auto view = view_of(text.substr(0, length));
    ask_everything(view, static_cast<std::uint32_t>(length));
    lsp::outline_of(view);
    lsp::format_edit(*view.source);
  }
}

TEST_CASE("every place of a shipped file is answered") {
  for (const auto& path : specs_under("experiments/cache")) {
    const auto view = view_of(read(path));
    for (std::uint32_t offset = 0; offset <= view.source->text().size(); offset += 3) lsp::hover_at(view, offset);
    for (std::uint32_t offset = 0; offset <= view.source->text().size(); offset += 41) ask_everything(view, offset);
  }
}

TEST_CASE("each line of a text can be missing, and each character be another") {
  for (std::size_t i = 0; i < kStage.size(); ++i) {
    for (const char c : {'{', '}', '"', '.', ':', '\n', '\xff', '\0'}) {
      auto text = kStage;
      text[i] = c;
      ask_everything(view_of(text), static_cast<std::uint32_t>(i + 1));
    }
  }
}

TEST_CASE("a hostile text does not hold the server up" * doctest::test_suite("long")) {
  const std::string head = "gexp 1\nexperiment e\n";
  std::string deep = head + "let x = ", path = head + "let a = device\nlet x = a", many = head,
              line = head + "let a = 1 ";
  for (int i = 0; i < 200000; ++i) deep += "(", path += ".a";
  for (int i = 1; i < 20000; ++i) many += "let a" + std::to_string(i) + " = a" + std::to_string(i - 1) + " + 1\n";
  for (int i = 0; i < 60000; ++i) line += "let b" + std::to_string(i) + " = a ";
  std::string stages = head + "memory A: u32[4KiB] in global\n";
  for (int i = 0; i < 20000; ++i) {
    stages += "stage s" + std::to_string(i) +
              " { sweep n in 1..4 timed t each { load A at n * 4B } find C: B = fastest(t) }\n";
  }
  for (int i = 0; i < 20000; ++i) stages += "expect s" + std::to_string(i) + ".C == 4B\n";
  std::string doubled = head + "let a0 = [1, 2]\n";
  for (int i = 1; i < 60; ++i) {
    const auto before = "a" + std::to_string(i - 1);
    doubled += "let a" + std::to_string(i) + " = [x + y for x in " + before + " for y in " + before + "]\n";
  }
  for (const auto& text : {deep, path, many, line, stages, doubled, head + "let x = [i for i in 0..1000000000]\n",
                           std::string(5u << 20, 'a'), std::string(200000, '{'), std::string(200000, '"')}) {
    const auto begun = std::chrono::steady_clock::now();
    Talk talk;
    talk.begin();
    talk.open(text);
    const int hover = talk.ask_at("textDocument/hover", 2, 4),
              completion = talk.ask_at("textDocument/completion", 2, 9);
    talk.ask_at("textDocument/references", 2, 4);
    talk.ask_at("textDocument/references", 3, text == stages ? 79 : 8);
    talk.ask("textDocument/documentSymbol", {{"textDocument", {{"uri", Talk::kUri}}}});
    talk.end();
    CHECK(talk.run() == 0);
    CHECK(talk.failure(hover) == 0);
    CHECK(talk.failure(completion) == 0);
    const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    INFO(text.substr(20, 40), ": ", seconds, " s");
    CHECK(seconds < 60);  // far more than it takes, far less than for ever
  }
}
