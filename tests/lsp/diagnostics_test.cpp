// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/lsp/support.h"

using namespace gexp;
using namespace gexp::test;

namespace {

const Json kRelated{{"textDocument", {{"publishDiagnostics", {{"relatedInformation", true}}}}}};

std::vector<Json> said_of(const std::string& text, Json capabilities = kRelated) {
  Talk talk;
  talk.begin(std::move(capabilities));
  talk.open(text);
  talk.end();
  talk.run();
  const auto published = talk.published();
  REQUIRE(published.size() == 1);
  return published[0];
}

Json range(unsigned line, unsigned from, unsigned to) {
  return {{"start", {{"line", line}, {"character", from}}}, {"end", {{"line", line}, {"character", to}}}};
}

}  // namespace

TEST_CASE("a mistake has its place, its code and its hint") {
  const auto said = said_of(stage_at("span: n", 0, "span: m"));
  REQUIRE(said.size() == 1);
  CHECK(said[0]["code"] == "E0202");
  CHECK(said[0]["severity"] == 1);
  CHECK(said[0]["source"] == "gexp");
  CHECK(said[0]["codeDescription"]["href"] == "file:///docs/diagnostics.md");
  CHECK(said[0]["range"] == range(6, 45, 46));
  CHECK(said[0]["message"].get<std::string>().find("\nhint: ") != std::string::npos);
}

TEST_CASE("places behind characters of several units are counted as agreed") {
  const std::string text = "gexp 1\nexperiment e\nlet a = \"é😀\" == b\n";
  CHECK(said_of(text)[0]["range"] == range(2, 17, 18));
  CHECK(said_of(text, {{"general", {{"positionEncodings", {"utf-8"}}}}})[0]["range"] == range(2, 20, 21));
  CHECK(said_of(text, {{"general", {{"positionEncodings", {"utf-32"}}}}})[0]["range"] == range(2, 16, 17));
}

TEST_CASE("the note of a diagnostic is a place of its own, or stands in the message") {
  const std::string twice = "gexp 1\nexperiment e\nlet a = 1\nlet a = 2\n";
  const auto related = said_of(twice);
  REQUIRE(related.size() == 1);
  CHECK(related[0]["code"] == "E0201");
  REQUIRE(related[0]["relatedInformation"].size() == 1);
  CHECK(related[0]["relatedInformation"][0]["location"]["uri"] == Talk::kUri);
  CHECK(related[0]["relatedInformation"][0]["location"]["range"] == range(2, 4, 5));
  const auto plain = said_of(twice, Json::object());
  CHECK_FALSE(plain[0].contains("relatedInformation"));
  CHECK(plain[0]["message"].get<std::string>().find("\nnote: ") != std::string::npos);
}

TEST_CASE("warnings are warnings") {
  const auto said = said_of("gexp 1\nexperiment e\nuse \"rings.gexp\" as r\n");
  REQUIRE(said.size() == 1);
  CHECK(said[0]["code"] == "E0126");
  CHECK(said[0]["severity"] == 2);
}

TEST_CASE("changes are applied in their order, whole or in part, and diagnostics go when the document is closed") {
  Talk talk;
  talk.begin();
  talk.open("gexp 1\nexperiment e\nlet a = b\n");
  talk.change({{{"range", range(2, 8, 9)}, {"text", "12"}},
               {{"range", range(2, 8, 10)}, {"text", "é"}},
               {{"range", range(2, 8, 9)}, {"text", "c"}}},
              2);
  talk.change({{{"text", "gexp 1\nexperiment e\n"}},
               {{"range", {{"start", {{"line", 99}, {"character", 0}}}, {"end", {{"line", 99}, {"character", 7}}}}},
                {"text", "let x = 1\n"}}},
              3);
  talk.change({{{"range", range(2, 8, 9)}, {"text", "2"}}}, 4);
  talk.close();
  talk.close();  // twice: passed over
  talk.change({{{"text", "let"}}}, 5);
  talk.end();
  CHECK(talk.run() == 0);
  const auto said = talk.published();
  REQUIRE(said.size() == 5);
  CHECK(said[0][0]["range"] == range(2, 8, 9));
  CHECK(said[1][0]["message"].get<std::string>().find("`c`") != std::string::npos);
  CHECK(said[2].empty());
  CHECK(said[3].empty());
  CHECK(said[4].empty());
}

TEST_CASE("of changes that came together only the last text is checked") {
  Talk talk;
  talk.all_at_once = true;
  talk.begin();
  talk.open("gexp 1\nexperiment e\nlet a = b\n");
  for (int version = 2; version < 9; ++version)
    talk.change({{{"text", "gexp 1\nexperiment e\nlet a = c" + std::to_string(version) + "\n"}}}, version);
  talk.end();
  CHECK(talk.run() == 0);
  REQUIRE(talk.published().size() == 1);
  CHECK(talk.published()[0][0]["message"].get<std::string>().find("c8") != std::string::npos);
}

TEST_CASE("a used file is read beside the document; an open one as it is in its editor") {
  const std::string user = "file:///home/me/user.gexp", used = "file:///home/me/sub/used.gexp";
  const std::string text = "gexp 1\nexperiment e\nuse \"sub/used.gexp\" as u\nlet a = u.size + 1B\n";
  Talk talk;
  talk.begin(kRelated);
  talk.open(text, user);
  talk.open("gexp 1\nexperiment u\nlet size = 32B\n", used);
  talk.change({{{"text", "gexp 1\nexperiment u\nlet sise = 32B\n"}}}, 2, used);
  talk.change({{{"text", "gexp 1\nexperiment u\nlet size = x\n"}}}, 3, used);
  talk.close(used);
  talk.end();
  CHECK(talk.run() == 0);
  const auto said = talk.published(user);
  REQUIRE(said.size() == 5);
  const auto codes = [&](std::size_t i) {
    std::string all;
    for (const auto& each : said[i]) all += each["code"].get<std::string>() + " ";
    return all;
  };
  CHECK(codes(0) == "E0122 ");
  CHECK(codes(1) == "E0126 ");
  CHECK(codes(2) == "E0126 E0202 ");
  CHECK(codes(4) == "E0122 ");
  // A mistake in the used file is shown at `use`, and leads there.
  const auto inside =
      std::find_if(said[3].begin(), said[3].end(), [](const Json& each) { return each["code"] == "E0202"; });
  REQUIRE(inside != said[3].end());
  CHECK((*inside)["range"] == range(2, 4, 19));
  CHECK((*inside)["relatedInformation"][0]["location"]["uri"] == used);
  CHECK((*inside)["relatedInformation"][0]["location"]["range"] == range(2, 11, 12));
}

TEST_CASE("files that use each other in a circle, and one that uses itself, end") {
  Talk talk;
  talk.begin();
  talk.open("gexp 1\nexperiment a\nuse \"b.gexp\" as b\n", "file:///x/a.gexp");
  talk.open("gexp 1\nexperiment b\nuse \"a.gexp\" as a\n", "file:///x/b.gexp");
  talk.open("gexp 1\nexperiment c\nuse \"c.gexp\" as c\n", "file:///x/c.gexp");
  talk.end();
  CHECK(talk.run() == 0);
  CHECK(talk.published("file:///x/c.gexp")[0].dump().find("E0124") != std::string::npos);
  CHECK(talk.published("file:///x/a.gexp").back().dump().find("E0124") != std::string::npos);
}

TEST_CASE("a document that is no file has its diagnostics, and uses nothing of any folder") {
  Talk talk;
  std::vector<std::string> asked;
  talk.options.load = [&](const std::string&, const std::string& by) -> Result<lang::LoadedText> {
    asked.push_back(by);
    return failure("E0122", "there is none");
  };
  talk.begin();
  talk.open("gexp 1\nexperiment e\nuse \"x.gexp\" as x\n", "untitled:Untitled-1");
  talk.end();
  CHECK(talk.run() == 0);
  CHECK(talk.published("untitled:Untitled-1")[0][0]["code"] == "E0122");
  CHECK(asked == std::vector<std::string>{"untitled:Untitled-1"});
}

TEST_CASE("saved files are read again") {
  Talk talk;
  int reads = 0;
  talk.options.load = [&](const std::string&, const std::string&) -> Result<lang::LoadedText> {
    ++reads;
    return lang::LoadedText{"/no/such/folder/u.gexp",
                            reads > 1 ? "gexp 1\nexperiment u\nlet b = 1\n" : "gexp 1\nexperiment u\nlet a = 1\n"};
  };
  talk.begin();
  talk.open("gexp 1\nexperiment e\nuse \"u.gexp\" as u\nlet c = u.b\n");
  talk.tell("textDocument/didSave", {{"textDocument", {{"uri", "file:///other.gexp"}}}});
  talk.end();
  CHECK(talk.run() == 0);
  const auto said = talk.published();
  REQUIRE(said.size() == 2);
  CHECK(said[0].size() == 2);
  CHECK(said[1].size() == 1);
}

TEST_CASE("shipped files have no diagnostics") {
  Talk talk;
  talk.begin();
  const auto files = specs_under("experiments");
  CHECK(files.size() > 40);
  for (const auto& file : files) talk.open(read(file), lsp::uri_of(file.string()));
  talk.options.models = {"gtx280", "gtx560ti", "gtx780", "gtx980", "h200", "k20", "m2070", "titanblack"};
  talk.end();
  CHECK(talk.run() == 0);
  for (const auto& file : files) {
    const auto said = talk.published(lsp::uri_of(file.string()));
    REQUIRE_MESSAGE(!said.empty(), file.string());
    CHECK_MESSAGE(said.back().empty(), file.string(), ": ", said.back().dump());
  }
}
