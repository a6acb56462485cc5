// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/lsp/features.h"
#include "runtime/lsp/framing.h"
#include "runtime/lsp/json.h"
#include "runtime/lsp/lsp.h"

namespace gexp::test {

using lsp::Json;

inline std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Every .gexp file under a folder of the repository, sorted.
inline std::vector<std::filesystem::path> specs_under(const std::string& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(GEXP_SOURCE_DIR) / folder)) {
    if (entry.path().extension() == ".gexp") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// A file beside the one that uses it, else one of the library, as the command line finds them.
inline Result<lang::LoadedText> load_beside(const std::string& path, const std::string& by) {
  const auto library = std::filesystem::path(GEXP_SOURCE_DIR) / "experiments/lib" / path;
  const auto beside = std::filesystem::path(by).parent_path() / path;
  const auto& file = by.starts_with('/') && std::filesystem::exists(beside) ? beside : library;
  if (!std::filesystem::exists(file)) return failure("E0122", "there is no " + path);
  return lang::LoadedText{file.string(), read(file)};
}

inline lsp::Options options() {
  return {.version = "1.2.3",
          .models = {"gtx560ti", "gtx780", "gtx980", "h200"},
          .load = load_beside,
          .file_of = nullptr,
          .codes_page = "file:///docs/diagnostics.md"};
}

/// What an editor says, message by message, and what it hears. Nothing is answered before `run`.
class Talk {
 public:
  bool all_at_once = false;  ///< the messages are there before the first is read
  lsp::Options options = test::options();

  void raw(std::string bytes) { said_.push_back(std::move(bytes)); }
  void say(Json message) {
    message["jsonrpc"] = "2.0";
    raw(lsp::framed(message.dump()));
  }
  void tell(const std::string& method, Json params = Json::object()) {
    say({{"method", method}, {"params", std::move(params)}});
  }
  int ask(const std::string& method, Json params = Json::object()) {
    say({{"id", ++last_}, {"method", method}, {"params", std::move(params)}});
    return last_;
  }
  int begin(Json capabilities = Json::object()) {
    const int id =
        ask("initialize", {{"processId", nullptr}, {"rootUri", nullptr}, {"capabilities", std::move(capabilities)}});
    tell("initialized");
    return id;
  }
  void end() {
    ask("shutdown");
    tell("exit");
  }
  void open(const std::string& text, const std::string& uri = kUri) {
    tell("textDocument/didOpen",
         {{"textDocument", {{"uri", uri}, {"languageId", "gexp"}, {"version", 1}, {"text", text}}}});
  }
  void change(Json changes, int version = 2, const std::string& uri = kUri) {
    tell("textDocument/didChange",
         {{"textDocument", {{"uri", uri}, {"version", version}}}, {"contentChanges", std::move(changes)}});
  }
  void close(const std::string& uri = kUri) { tell("textDocument/didClose", {{"textDocument", {{"uri", uri}}}}); }
  int ask_at(const std::string& method, unsigned line, unsigned character, Json more = Json::object(),
             const std::string& uri = kUri) {
    more["textDocument"] = {{"uri", uri}};
    more["position"] = {{"line", line}, {"character", character}};
    return ask(method, std::move(more));
  }

  /// The exit code of the server; then what it said can be asked for.
  int run() {
    std::size_t next = 0, at = 0;
    std::string out;
    lsp::Stream stream;
    stream.read = [&](char* into, std::size_t most) -> std::size_t {
      while (next < said_.size() && at == said_[next].size()) ++next, at = 0;
      if (next == said_.size()) return 0;
      const auto some = std::min(most, said_[next].size() - at);
      std::copy_n(said_[next].data() + at, some, into);
      at += some;
      return some;
    };
    stream.ready = [&] { return all_at_once; };
    stream.write = [&](std::string_view bytes) {
      out += bytes;
      return true;
    };
    const int code = lsp::serve(stream, options);
    lsp::Stream back;
    std::size_t taken = 0;
    back.read = [&](char* into, std::size_t most) {
      const auto some = std::min(most, out.size() - taken);
      std::copy_n(out.data() + taken, some, into);
      taken += some;
      return some;
    };
    lsp::FrameReader frames(back);
    for (auto frame = frames.next(); frame.kind == lsp::Frame::Kind::Message; frame = frames.next())
      heard_.push_back(Json::parse(frame.body));
    return code;
  }

  [[nodiscard]] const std::vector<Json>& heard() const { return heard_; }
  /// The answer to a request; null where none came.
  [[nodiscard]] Json answer(int id) const {
    for (const auto& each : heard_) {
      if (each.contains("id") && each["id"] == id) return each;
    }
    return {};
  }
  [[nodiscard]] Json result(int id) const { return answer(id).value("result", Json("no result")); }
  /// 0 where the request was answered.
  [[nodiscard]] int failure(int id) const {
    const auto found = answer(id);
    return found.contains("error") ? found["error"]["code"].get<int>() : 0;
  }
  /// Codes of the answers without a request, in order.
  [[nodiscard]] std::vector<int> refusals() const {
    std::vector<int> codes;
    for (const auto& each : heard_) {
      if (each.contains("id") && each["id"].is_null()) codes.push_back(each["error"]["code"].get<int>());
    }
    return codes;
  }
  /// What was published of a document, in order.
  [[nodiscard]] std::vector<Json> published(const std::string& uri = kUri) const {
    std::vector<Json> found;
    for (const auto& each : heard_) {
      if (each.value("method", "") == "textDocument/publishDiagnostics" && each["params"]["uri"] == uri)
        found.push_back(each["params"]["diagnostics"]);
    }
    return found;
  }

  static constexpr const char* kUri = "file:///no/such/folder/test.gexp";

 private:
  std::vector<std::string> said_;
  std::vector<Json> heard_;
  int last_ = 0;
};

/// A text whose `|` is where the cursor stands.
struct AtCursor {
  lsp::View view;
  std::uint32_t offset = 0;

  explicit AtCursor(std::string text) {
    const auto bar = text.find('|');
    offset = static_cast<std::uint32_t>(std::min(bar, text.size()));
    if (bar != std::string::npos) text.erase(bar, 1);
    auto source = std::make_shared<const Source>("/no/such/folder/test.gexp", std::move(text));
    const auto checked = lsp::check_text(*source, options().models, load_beside);
    view = lsp::view_text(source, checked.program ? &*checked.program : nullptr, load_beside);
  }
};

inline const std::string kStage =
    "gexp 1\n"
    "experiment e\n"
    "memory A: u32[64KiB] in global\n"
    "let line = 32B\n"
    "stage s {\n"
    "  sweep n in 1KiB..8KiB step 1KiB\n"
    "  pattern ring = uniform(stride: line, span: n)\n"
    "  launch grid 1 block 1\n"
    "  timed lat each { chase A by ring laps 2 via ca }\n"
    "  repeat 3\n"
    "  find C: B = last_flat(misses(lat) over n)\n"
    "}\n";

/// kStage with a cursor before the n-th occurrence of a text, which may be replaced.
inline std::string stage_at(const std::string& what, std::size_t nth = 0, const std::string& instead = "\x01") {
  auto text = kStage;
  auto at = text.find(what);
  for (; nth > 0; --nth) at = text.find(what, at + 1);
  if (instead == "\x01") return text.insert(at, "|");
  return text.replace(at, what.size(), instead);
}

}  // namespace gexp::test
