// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/lsp/support.h"

using namespace gexp;
using namespace gexp::test;

namespace {

constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601, kInvalidParams = -32602,
              kNotInitialized = -32002, kCancelled = -32800;

}  // namespace

TEST_CASE("a server starts, says what it can do, and ends as it is told") {
  Talk talk;
  const int first = talk.begin();
  const int last = talk.ask("shutdown");
  talk.tell("exit");
  CHECK(talk.run() == 0);
  const auto result = talk.result(first);
  CHECK(result["serverInfo"] == Json{{"name", "gexp"}, {"version", "1.2.3"}});
  CHECK(result["capabilities"]["positionEncoding"] == "utf-16");
  for (const char* can : {"hoverProvider", "definitionProvider", "documentFormattingProvider", "documentSymbolProvider",
                          "referencesProvider"}) {
    CHECK_MESSAGE(result["capabilities"][can] == true, can);
  }
  CHECK(talk.answer(last)["result"].is_null());
  CHECK(talk.answer(last).contains("result"));
}

TEST_CASE("without shutdown the exit code is 1") {
  Talk told;
  told.begin();
  told.tell("exit");
  CHECK(told.run() == 1);

  Talk gone;  // the editor died
  gone.begin();
  CHECK(gone.run() == 1);

  Talk at_once;
  at_once.tell("exit");
  CHECK(at_once.run() == 1);

  Talk nothing;
  CHECK(nothing.run() == 1);
}

TEST_CASE("nothing is done before initialize and after shutdown, and initialize comes once") {
  Talk talk;
  const int early = talk.ask_at("textDocument/hover", 0, 0);
  talk.open(kStage);  // not heard
  const int early_end = talk.ask("shutdown");
  talk.begin();
  const int twice = talk.ask("initialize");
  const int hover = talk.ask_at("textDocument/hover", 0, 0);
  talk.ask("shutdown");
  talk.open(kStage);
  const int late = talk.ask_at("textDocument/hover", 0, 0);
  talk.tell("exit");
  CHECK(talk.run() == 0);
  CHECK(talk.failure(early) == kNotInitialized);
  CHECK(talk.failure(early_end) == kNotInitialized);
  CHECK(talk.failure(twice) == kInvalidRequest);
  CHECK(talk.failure(hover) == kInvalidParams);  // not open
  CHECK(talk.failure(late) == kInvalidRequest);
  CHECK(talk.published().empty());
}

TEST_CASE("unknown requests are refused, unknown notifications passed over") {
  Talk talk;
  talk.begin();
  const int unknown = talk.ask("textDocument/foldingRange");
  const int dollar = talk.ask("$/something");
  talk.tell("$/setTrace", {{"value", "off"}});
  talk.tell("workspace/didChangeConfiguration");
  talk.tell("textDocument/didSomething");
  talk.end();
  CHECK(talk.run() == 0);
  CHECK(talk.failure(unknown) == kMethodNotFound);
  CHECK(talk.failure(dollar) == kMethodNotFound);
  CHECK(talk.refusals().empty());
}

TEST_CASE("the first encoding of the client's list that is known here is taken") {
  const auto taken = [](Json list) {
    Talk talk;
    const int id = talk.begin({{"general", {{"positionEncodings", std::move(list)}}}});
    talk.end();
    talk.run();
    return talk.result(id)["capabilities"]["positionEncoding"].get<std::string>();
  };
  CHECK(taken({"utf-8", "utf-16"}) == "utf-8");
  CHECK(taken({"utf-16", "utf-8"}) == "utf-16");
  CHECK(taken({"utf-7", "utf-32"}) == "utf-32");
  CHECK(taken({"utf-7"}) == "utf-16");
  CHECK(taken("utf-8") == "utf-16");  // no list
}

TEST_CASE("what is no message is refused, and the next one is heard") {
  const auto body = Json{{"jsonrpc", "2.0"}, {"id", 77}, {"method", "shutdown"}}.dump();
  const std::vector<std::pair<std::string, std::vector<int>>> cases{
      {lsp::framed("{"), {kParseError}},
      {lsp::framed(""), {kParseError}},
      {lsp::framed("\"\\ud800\""), {kParseError}},
      {lsp::framed("{\"a\": \"\xff\"}"), {kParseError}},
      {lsp::framed("[]"), {kInvalidRequest}},
      {lsp::framed("3"), {kInvalidRequest}},
      {lsp::framed("{}"), {kInvalidRequest}},
      {lsp::framed(R"({"id": 1})"), {kInvalidRequest}},
      {lsp::framed(R"({"id": 1, "method": 2})"), {kInvalidRequest}},
      {lsp::framed(R"({"id": {"a": 1}, "method": "x"})"), {kInvalidRequest}},
      {lsp::framed(R"({"id": null, "method": "x"})"), {kInvalidRequest}},
      {lsp::framed(R"({"id": 9, "result": null})"), {}},  // an answer to nothing
      {lsp::framed(std::string(100000, '[')), {kParseError}},
      {"Content-Length: 5\r\n\r\n{}   ", {kInvalidRequest}},
      {"X-Other: 1\r\n\r\n", {kParseError}},
      {"Content-Length: -5\r\n\r\n", {kParseError}},
      {"Content-Length: five\r\n\r\n", {kParseError}},
      {"Content-Length:\r\n\r\n", {kParseError}},
      {"Content-Length: 99999999999999999999999999\r\n\r\n", {kParseError}},
      {"Content-Length: 9223372036854775807\r\n\r\n", {kParseError}},
      {std::string(1 << 20, 'x') + "\r\n\r\n", {kParseError}},
      {"garbage\n\n", {kParseError}},
      {"\r\n\r\n\r\n", {}},
  };
  for (const auto& [bytes, codes] : cases) {
    Talk talk;
    talk.begin();
    talk.raw(bytes);
    talk.raw("content-length:  " + std::to_string(body.size()) +
             " \nContent-Type: application/vscode-jsonrpc; charset=utf-8\n\n" + body);
    talk.tell("exit");
    const auto shown = bytes.substr(0, 60);
    CHECK_MESSAGE(talk.run() == 0, shown);
    CHECK_MESSAGE(talk.refusals() == codes, shown);
    CHECK_MESSAGE(talk.answer(77).contains("result"), shown);
  }
}

TEST_CASE("a message that is too long is dropped, not kept") {
  Talk talk;
  talk.begin();
  talk.raw("Content-Length: " + std::to_string(lsp::kMaxMessage + 1) + "\r\n\r\n");
  for (std::size_t sent = 0; sent < lsp::kMaxMessage + 1;) {
    const auto some = std::min<std::size_t>(1 << 20, lsp::kMaxMessage + 1 - sent);
    talk.raw(std::string(some, ' '));
    sent += some;
  }
  talk.end();
  CHECK(talk.run() == 0);
  CHECK(talk.refusals() == std::vector{kInvalidRequest});
}

TEST_CASE("a message that is cut off ends the server") {
  Talk talk;
  talk.begin();
  talk.raw("Content-Length: 100\r\n\r\n{\"id\": 1");
  CHECK(talk.run() == 1);
}

TEST_CASE("parameters that are missing or of another kind are refused") {
  Talk talk;
  talk.begin();
  talk.open(kStage);
  std::vector<int> ids;
  for (const auto& params :
       {Json(), Json(3), Json::array(), Json::object(), Json{{"textDocument", 3}}, Json{{"textDocument", {{"uri", 3}}}},
        Json{{"textDocument", {{"uri", "file:///other.gexp"}}}, {"position", {{"line", 0}, {"character", 0}}}},
        Json{{"textDocument", {{"uri", Talk::kUri}}}},
        Json{{"textDocument", {{"uri", Talk::kUri}}}, {"position", {{"line", -1}, {"character", 0}}}},
        Json{{"textDocument", {{"uri", Talk::kUri}}}, {"position", {{"line", 0.5}, {"character", 0}}}},
        Json{{"textDocument", {{"uri", Talk::kUri}}}, {"position", {{"line", "0"}, {"character", 0}}}}}) {
    for (const char* method : {"textDocument/hover", "textDocument/completion", "textDocument/definition",
                               "textDocument/references", "textDocument/rename"}) {
      ids.push_back(talk.ask(method, params));
    }
    talk.tell("textDocument/didOpen", params);
    talk.tell("textDocument/didChange", params);
    talk.tell("textDocument/didClose", params);
  }
  talk.open(kStage);
  talk.change("no list");
  talk.change({3,
               Json::object(),
               {{"text", 4}},
               {{"text", "x"}, {"range", 5}},
               {{"text", "x"}, {"range", {{"start", 1}, {"end", 2}}}}});
  talk.end();
  CHECK(talk.run() == 0);
  for (const int id : ids) CHECK(talk.failure(id) == kInvalidParams);
  for (const auto& said : talk.published()) CHECK(said.empty());
}

TEST_CASE("a request that was taken back before it was worked on is not worked on") {
  Talk talk;
  talk.all_at_once = true;
  talk.begin();
  talk.open(kStage);
  const int hover = talk.ask_at("textDocument/hover", 5, 3), kept = talk.ask_at("textDocument/hover", 5, 3);
  talk.tell("$/cancelRequest", {{"id", hover}});
  talk.tell("$/cancelRequest", {{"id", 4711}});
  talk.tell("$/cancelRequest", {{"id", "a"}});
  talk.tell("$/cancelRequest");
  talk.end();
  CHECK(talk.run() == 0);
  CHECK(talk.failure(hover) == kCancelled);
  CHECK(talk.failure(kept) == 0);
}

TEST_CASE("an editor that reads no more ends the server") {
  lsp::Stream stream;
  std::string input = lsp::framed(R"({"id": 1, "method": "initialize"})");
  stream.read = [&](char* into, std::size_t most) {
    const auto some = std::min(most, input.size());
    std::copy_n(input.data(), some, into);
    return some;  // for ever
  };
  stream.write = [](std::string_view) { return false; };
  const auto all = options();
  CHECK(lsp::serve(stream, all) == 1);
}
