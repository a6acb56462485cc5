// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

#include "runtime/lsp/framing.h"
#include "runtime/lsp/json.h"
#include "runtime/lsp/lsp.h"

// One thread, one message after the other. What has come already is read ahead, so that a request that was cancelled
// meanwhile is not worked out, and of many changes only the last text is checked.
namespace gexp::lsp {
namespace {

// Codes of JSON-RPC and of the protocol.
enum Failure : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kNotInitialized = -32002,
  kCancelled = -32800,
  kRequestFailed = -32803,
};

constexpr std::size_t kMostAhead = 256;                  // messages
constexpr std::size_t kMostText = std::size_t{1} << 30;  // bytes of a document
constexpr std::int64_t kWritten = 1;                     // a change of a text, as a highlight

struct Answer {
  Json result;
  int failure = 0;
  std::string message = {};
};
Answer failed(int code, std::string message) { return {nullptr, code, std::move(message)}; }

class Server {
 public:
  Server(const Stream& stream, const Options& options)
      : stream_(stream), options_(options), frames_(stream), documents_(options) {}

  int run() {
    while (!exit_ && reachable_) {
      read_ahead();
      if (waiting_.empty()) break;
      const auto message = std::move(waiting_.front());
      waiting_.pop_front();
      handle(message);
    }
    return shut_down_ && reachable_ ? 0 : 1;
  }

 private:
  using Ask = Answer (Server::*)(const Json& params);
  using Tell = void (Server::*)(const Json& params);

  static const std::map<std::string_view, Ask>& asks() {
    static const std::map<std::string_view, Ask> table{
        {"initialize", &Server::initialize},
        {"shutdown", &Server::shut_down},
        {"textDocument/hover", &Server::hover},
        {"textDocument/completion", &Server::complete},
        {"textDocument/definition", &Server::define},
        {"textDocument/references", &Server::references},
        {"textDocument/documentHighlight", &Server::highlight},
        {"textDocument/prepareRename", &Server::prepare_rename},
        {"textDocument/rename", &Server::rename},
        {"textDocument/documentSymbol", &Server::outline},
        {"textDocument/formatting", &Server::format},
    };
    return table;
  }
  static const std::map<std::string_view, Tell>& tells() {
    static const std::map<std::string_view, Tell> table{
        {"textDocument/didOpen", &Server::did_open},
        {"textDocument/didChange", &Server::did_change},
        {"textDocument/didClose", &Server::did_close},
        {"textDocument/didSave", &Server::files_changed},
        {"workspace/didChangeWatchedFiles", &Server::files_changed},
    };
    return table;
  }

  // ---- messages
  // ----------------------------------------------------------------------------------------------------------

  void read_ahead() {
    while (reachable_ && waiting_.size() < kMostAhead && (waiting_.empty() || frames_.ready())) {
      auto frame = frames_.next();
      switch (frame.kind) {
        case Frame::Kind::End:
          return;
        case Frame::Kind::NoLength:
          refuse(kParseError, "a message begins with a header `Content-Length: N`");
          continue;
        case Frame::Kind::TooLong:
          refuse(kInvalidRequest, fmt::format("a message has at most {} bytes", kMaxMessage));
          continue;
        case Frame::Kind::Message:
          break;
      }
      auto message = Json::parse(frame.body, nullptr, false);
      if (message.is_discarded())
        refuse(kParseError, "the message is no JSON");
      else
        waiting_.push_back(std::move(message));
    }
  }

  void send(Json message) {
    message["jsonrpc"] = "2.0";
    // A slice of a text may end inside a character.
    if (!stream_.write(framed(message.dump(-1, ' ', false, Json::error_handler_t::replace)))) reachable_ = false;
  }
  void refuse(int code, const std::string& why) {
    send({{"id", nullptr}, {"error", {{"code", code}, {"message", why}}}});
  }
  void tell(const char* method, Json params) { send({{"method", method}, {"params", std::move(params)}}); }

  void handle(const Json& message) {
    const auto method = text_of(message, {"method"});
    const auto* id = member(message, {"id"});
    if (!method) {
      const bool answer = message.is_object() && (message.contains("result") || message.contains("error"));
      if (!answer) refuse(kInvalidRequest, "the message is neither a request nor a notification");
      return;
    }
    static const Json kNone = Json::object();
    const auto* given = member(message, {"params"});
    const auto& params = given ? *given : kNone;
    if (!id) return notified(*method, params);
    if (!id->is_string() && !id->is_number_integer()) return refuse(kInvalidRequest, "an id is a number or a text");
    const auto answer = answered(*method, params, *id);
    Json reply{{"id", *id}};
    if (answer.failure != 0)
      reply["error"] = {{"code", answer.failure}, {"message", answer.message}};
    else
      reply["result"] = answer.result;
    send(std::move(reply));
  }

  Answer answered(const std::string& method, const Json& params, const Json& id) {
    const auto found = asks().find(method);
    const bool first = method == "initialize";
    if (shut_down_) return failed(kInvalidRequest, "the server was shut down");
    if (!initialized_ && !first) return failed(kNotInitialized, "the first request is `initialize`");
    if (initialized_ && first) return failed(kInvalidRequest, "`initialize` comes once");
    if (found == asks().end()) return failed(kMethodNotFound, fmt::format("there is no method `{}`", method));
    if (cancelled(id)) return failed(kCancelled, "cancelled");
    try {
      return (this->*found->second)(params);
    } catch (const std::exception& problem) {  // of a library: memory that is not there, say
      return failed(kInternalError, problem.what());
    }
  }

  /// Whether a later message that came already takes this request back.
  [[nodiscard]] bool cancelled(const Json& id) const {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const Json& later) {
      const auto* of = member(later, {"params", "id"});
      return of && *of == id && text_of(later, {"method"}) == "$/cancelRequest";
    });
  }

  void notified(const std::string& method, const Json& params) {
    if (method == "exit") exit_ = true;
    const auto found = tells().find(method);
    if (found == tells().end() || !initialized_ || shut_down_) return;
    try {
      (this->*found->second)(params);
    } catch (const std::exception&) {
      return;  // nobody waits for an answer
    }
  }

  // ---- the life of a server
  // ----------------------------------------------------------------------------------------------

  Answer initialize(const Json& params) {
    client_ = client_of(params);
    initialized_ = true;
    return {
        {{"capabilities", capabilities(client_)}, {"serverInfo", {{"name", "gexp"}, {"version", options_.version}}}}};
  }
  Answer shut_down(const Json&) {
    shut_down_ = true;
    return {};
  }

  // ---- documents
  // ---------------------------------------------------------------------------------------------------------

  void did_open(const Json& params) {
    const auto uri = text_of(params, {"textDocument", "uri"});
    auto text = text_of(params, {"textDocument", "text"});
    if (!uri || !text || text->size() > kMostText) return;
    auto& document = documents_.open(*uri, std::move(*text), whole_of(params, {"textDocument", "version"}).value_or(0));
    changed(document);
  }

  void did_change(const Json& params) {
    auto* document = document_of(params);
    const auto* changes = member(params, {"contentChanges"});
    if (!document || !changes || !changes->is_array()) return;
    auto text = document->source()->text();
    for (const auto& change : *changes) {
      auto written = text_of(change, {"text"});
      if (!written) continue;
      if (!member(change, {"range"})) {
        text = std::move(*written);
      } else if (const auto range = range_of(member(change, {"range"}));
                 range && text.size() + written->size() <= kMostText) {
        const Lines lines(text);
        const auto begin = lines.offset(range->start, client_.encoding);
        const auto end = std::max(begin, lines.offset(range->end, client_.encoding));
        text.replace(begin, end - begin, *written);
      }
    }
    document->set_text(std::move(text), whole_of(params, {"textDocument", "version"}).value_or(document->version()));
    changed(*document);
  }

  void did_close(const Json& params) {
    auto* document = document_of(params);
    if (!document) return;
    const auto uri = document->uri(), path = document->path();
    documents_.close(uri);
    tell("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
    check_users_of(path);  // the file counts again
  }

  void files_changed(const Json&) {
    for (auto& [uri, document] : documents_.all()) {
      if (document.used_paths().empty()) continue;
      document.forget();
      publish(document);
    }
  }

  void changed(Document& document) {
    publish(document);
    check_users_of(document.path());
  }

  void check_users_of(const std::string& path) {
    for (auto& [uri, other] : documents_.all()) {
      if (other.path() == path || !other.used_paths().contains(path)) continue;
      other.forget();
      publish(other);
    }
  }

  void publish(Document& document) {
    // A later text of it has come: nobody will see what is said of this one.
    const bool outdated = std::any_of(waiting_.begin(), waiting_.end(), [&](const Json& later) {
      const auto method = text_of(later, {"method"});
      const bool changes = method == "textDocument/didChange" || method == "textDocument/didClose";
      return changes && text_of(later, {"params", "textDocument", "uri"}) == document.uri();
    });
    if (!outdated) tell("textDocument/publishDiagnostics", diagnostics_json(document, client_, options_));
  }

  // ---- questions
  // ---------------------------------------------------------------------------------------------------------

  Document* document_of(const Json& params) {
    const auto uri = text_of(params, {"textDocument", "uri"});
    return uri ? documents_.find(*uri) : nullptr;
  }

  /// Answers a question about a place in an open document.
  template <class Question>
  Answer at_place(const Json& params, Question question) {
    auto* document = document_of(params);
    const auto place = place_of(member(params, {"position"}));
    if (!document) return failed(kInvalidParams, "the document is not open");
    if (!place) return failed(kInvalidParams, "`position` is {line, character}");
    return question(*document, document->lines().offset(*place, client_.encoding));
  }

  Json range(const Document& document, Span span) const {
    return to_json(document.lines().range(span, client_.encoding));
  }

  Answer hover(const Json& params) {
    return at_place(params, [&](Document& document, std::uint32_t offset) -> Answer {
      const auto hover = hover_at(document.view(), offset);
      return {hover ? to_json(*hover, document, client_) : Json()};
    });
  }
  Answer complete(const Json& params) {
    return at_place(params, [&](Document& document, std::uint32_t offset) -> Answer {
      return {to_json(complete_at(document.view(), offset, options_.models), document, client_)};
    });
  }
  Answer define(const Json& params) {
    return at_place(params, [&](Document& document, std::uint32_t offset) -> Answer {
      const auto location = definition_at(document.view(), offset);
      return {location ? to_json(*location, document, client_, options_) : Json()};
    });
  }
  Answer references(const Json& params) {
    return at_place(params, [&](Document& document, std::uint32_t offset) -> Answer {
      auto list = Json::array();
      for (const auto span : references_at(document.view(), offset))
        list.push_back({{"uri", document.uri()}, {"range", range(document, span)}});
      return {list};
    });
  }
  Answer highlight(const Json& params) {
    return at_place(params, [&](Document& document, std::uint32_t offset) -> Answer {
      auto list = Json::array();
      for (const auto span : references_at(document.view(), offset))
        list.push_back({{"range", range(document, span)}, {"kind", kWritten}});
      return {list};
    });
  }
  Answer prepare_rename(const Json& params) {
    return at_place(params, [&](Document& document, std::uint32_t offset) -> Answer {
      const auto piece =
          references_at(document.view(), offset).empty() ? std::nullopt : piece_at(document.view(), offset);
      return {piece ? range(document, document.view().pieces[*piece].piece.span) : Json()};
    });
  }
  Answer rename(const Json& params) {
    const auto name = text_of(params, {"newName"});
    if (!name) return failed(kInvalidParams, "`newName` is missing");
    return at_place(params, [&](Document& document, std::uint32_t offset) -> Answer {
      if (auto why = refused_name(document.view(), offset, *name); !why.empty()) return failed(kRequestFailed, why);
      auto edits = Json::array();
      for (const auto span : references_at(document.view(), offset))
        edits.push_back({{"range", range(document, span)}, {"newText", *name}});
      return {{{"changes", {{document.uri(), edits}}}}};
    });
  }
  Answer outline(const Json& params) {
    auto* document = document_of(params);
    if (!document) return failed(kInvalidParams, "the document is not open");
    return {to_json(outline_of(document->view()), *document, client_)};
  }
  Answer format(const Json& params) {
    auto* document = document_of(params);
    if (!document) return failed(kInvalidParams, "the document is not open");
    auto edits = Json::array();
    if (const auto edit = format_edit(*document->source()))
      edits.push_back({{"range", range(*document, edit->span)}, {"newText", edit->text}});
    return {edits};
  }

  const Stream& stream_;
  const Options& options_;
  FrameReader frames_;
  Documents documents_;
  Client client_;
  std::deque<Json> waiting_;
  bool initialized_ = false, shut_down_ = false, exit_ = false, reachable_ = true;
};

}  // namespace

int serve(const Stream& stream, const Options& options) { return Server(stream, options).run(); }

}  // namespace gexp::lsp
