// SPDX-License-Identifier: Apache-2.0
#include "runtime/lsp/json.h"

#include <fmt/format.h>

namespace gexp::lsp {
namespace {

// Numbers of the protocol.
constexpr int kIncremental = 2, kMarkedError = 1, kMarkedWarning = 2;

bool lists(const Json* list, const char* word) {
  if (!list || !list->is_array()) return false;
  return std::any_of(list->begin(), list->end(),
                     [&](const Json& each) { return each.is_string() && each.get<std::string>() == word; });
}

bool is_true(const Json* flag) { return flag && flag->is_boolean() && flag->get<bool>(); }

int item_kind(Completion::Kind kind) {
  switch (kind) {
    case Completion::Kind::Statement:
    case Completion::Kind::Word:
      return 14;  // Keyword
    case Completion::Kind::Function:
      return 3;
    case Completion::Kind::Analysis:
      return 2;  // Method
    case Completion::Kind::Name:
      return 6;  // Variable
    case Completion::Kind::Memory:
      return 22;  // Struct
    case Completion::Kind::Pattern:
      return 12;  // Value
    case Completion::Kind::Stage:
      return 7;  // Class
    case Completion::Kind::Module:
      return 9;
    case Completion::Kind::Field:
      return 5;
    case Completion::Kind::Unit:
      return 11;
    case Completion::Kind::Type:
      return 25;  // TypeParameter
    case Completion::Kind::Label:
      return 10;  // Property
  }
  return 14;
}

int symbol_kind(Outline::Kind kind) {
  switch (kind) {
    case Outline::Kind::Parameter:
      return 14;  // Constant
    case Outline::Kind::Value:
    case Outline::Kind::Sweep:
    case Outline::Kind::Derived:
      return 13;  // Variable
    case Outline::Kind::Memory:
      return 23;  // Struct
    case Outline::Kind::Pattern:
      return 18;  // Array
    case Outline::Kind::Stage:
      return 5;  // Class
    case Outline::Kind::Module:
      return 2;
    case Outline::Kind::Record:
      return 8;  // Field
    case Outline::Kind::Finding:
      return 7;  // Property
    case Outline::Kind::Analysis:
      return 12;  // Function
  }
  return 13;
}

std::string without_backquotes(std::string text) {
  std::erase(text, '`');
  return text;
}

void flatten(const std::vector<Outline>& outline, const std::string& inside, const Document& document,
             const Client& client, Json& into) {
  for (const auto& each : outline) {
    Json symbol{{"name", each.name},
                {"kind", symbol_kind(each.kind)},
                {"location",
                 {{"uri", document.uri()}, {"range", to_json(document.lines().range(each.whole, client.encoding))}}}};
    if (!inside.empty()) symbol["containerName"] = inside;
    into.push_back(std::move(symbol));
    flatten(each.children, each.name, document, client, into);
  }
}

}  // namespace

Client client_of(const Json& initialize) {
  Client client;
  const auto* encodings = member(initialize, {"capabilities", "general", "positionEncodings"});
  if (encodings && encodings->is_array()) {
    for (const auto& each : *encodings) {  // the client's favourite comes first
      if (each == "utf-8")
        client.encoding = Encoding::Utf8;
      else if (each == "utf-32")
        client.encoding = Encoding::Utf32;
      else if (each != "utf-16")
        continue;
      break;
    }
  }
  client.markdown = lists(member(initialize, {"capabilities", "textDocument", "hover", "contentFormat"}), "markdown");
  client.related_information =
      is_true(member(initialize, {"capabilities", "textDocument", "publishDiagnostics", "relatedInformation"}));
  client.nested_symbols = is_true(
      member(initialize, {"capabilities", "textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport"}));
  return client;
}

Json capabilities(const Client& client) {
  const char* encoding = client.encoding == Encoding::Utf8    ? "utf-8"
                         : client.encoding == Encoding::Utf32 ? "utf-32"
                                                              : "utf-16";
  return {{"positionEncoding", encoding},
          {"textDocumentSync", {{"openClose", true}, {"change", kIncremental}, {"save", true}}},
          {"hoverProvider", true},
          {"completionProvider", {{"triggerCharacters", {"."}}}},
          {"definitionProvider", true},
          {"referencesProvider", true},
          {"documentHighlightProvider", true},
          {"renameProvider", {{"prepareProvider", true}}},
          {"documentSymbolProvider", true},
          {"documentFormattingProvider", true}};
}

const Json* member(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = &json;
  for (const char* key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

std::optional<std::string> text_of(const Json& json, std::initializer_list<const char*> path) {
  const auto* found = member(json, path);
  return found && found->is_string() ? std::optional(found->get<std::string>()) : std::nullopt;
}

std::optional<std::int64_t> whole_of(const Json& json, std::initializer_list<const char*> path) {
  const auto* found = member(json, path);
  return found && found->is_number_integer() ? std::optional(found->get<std::int64_t>()) : std::nullopt;
}

std::optional<Place> place_of(const Json* json) {
  if (!json) return std::nullopt;
  const auto line = whole_of(*json, {"line"}), character = whole_of(*json, {"character"});
  constexpr std::int64_t kMost = 0x7fffffff;  // of an unsigned integer of the protocol
  if (!line || !character || *line < 0 || *character < 0) return std::nullopt;
  return Place{static_cast<std::uint32_t>(std::min(*line, kMost)),
               static_cast<std::uint32_t>(std::min(*character, kMost))};
}

std::optional<Range> range_of(const Json* json) {
  if (!json) return std::nullopt;
  const auto start = place_of(member(*json, {"start"})), end = place_of(member(*json, {"end"}));
  if (!start || !end) return std::nullopt;
  return Range{*start, *end};
}

Json to_json(Place place) { return {{"line", place.line}, {"character", place.character}}; }
Json to_json(const Range& range) { return {{"start", to_json(range.start)}, {"end", to_json(range.end)}}; }

Json to_json(const Hover& hover, const Document& document, const Client& client) {
  std::string text = client.markdown ? fmt::format("```gexp\n{}\n```", hover.code) : hover.code;
  for (const auto& paragraph : hover.paragraphs)
    text += "\n\n" + (client.markdown ? paragraph : without_backquotes(paragraph));
  return {{"contents", {{"kind", client.markdown ? "markdown" : "plaintext"}, {"value", text}}},
          {"range", to_json(document.lines().range(hover.span, client.encoding))}};
}

Json to_json(const Completions& completions, const Document& document, const Client& client) {
  const auto range = to_json(document.lines().range(completions.replace, client.encoding));
  auto items = Json::array();
  for (std::size_t i = 0; i < completions.items.size(); ++i) {
    const auto& each = completions.items[i];
    // What is likeliest comes first, and the editor would sort by name.
    Json item{{"label", each.label},
              {"kind", item_kind(each.kind)},
              {"sortText", fmt::format("{:04}", i)},
              {"textEdit", {{"range", range}, {"newText", each.insert.empty() ? each.label : each.insert}}}};
    if (!each.detail.empty()) item["detail"] = each.detail;
    if (!each.documentation.empty()) item["documentation"] = without_backquotes(each.documentation);
    items.push_back(std::move(item));
  }
  return {{"isIncomplete", !completions.complete}, {"items", std::move(items)}};
}

Json to_json(const std::vector<Outline>& outline, const Document& document, const Client& client) {
  auto list = Json::array();
  if (!client.nested_symbols) {
    flatten(outline, "", document, client, list);
    return list;
  }
  for (const auto& each : outline) {
    Json symbol{{"name", each.name},
                {"kind", symbol_kind(each.kind)},
                {"range", to_json(document.lines().range(each.whole, client.encoding))},
                {"selectionRange", to_json(document.lines().range(each.name_span, client.encoding))}};
    if (!each.detail.empty()) symbol["detail"] = each.detail;
    if (!each.children.empty()) symbol["children"] = to_json(each.children, document, client);
    list.push_back(std::move(symbol));
  }
  return list;
}

Json to_json(const Location& location, const Document& document, const Client& client, const Options& options) {
  if (!location.in)
    return {{"uri", document.uri()}, {"range", to_json(document.lines().range(location.span, client.encoding))}};
  const auto file = options.file_of ? options.file_of(location.in->path()) : location.in->path();
  if (file.empty()) return nullptr;
  return {{"uri", uri_of(file)}, {"range", to_json(Lines(location.in->text()).range(location.span, client.encoding))}};
}

Json diagnostics_json(Document& document, const Client& client, const Options& options) {
  auto list = Json::array();
  for (const auto& problem : document.checked().diagnostics) {
    auto message = problem.message;
    auto span = problem.span;
    auto related = Json::array();
    const auto relate = [&](const std::shared_ptr<const Source>& in, Span where, const std::string& text) {
      const bool place = !where.empty() || where.begin != 0 || in;
      auto at = client.related_information && place ? to_json(Location{in, where}, document, client, options) : Json();
      if (at.is_null())
        message += "\nnote: " + text;
      else
        related.push_back({{"location", std::move(at)}, {"message", text}});
    };
    if (!problem.hint.empty()) message += "\nhint: " + problem.hint;
    if (problem.in) {  // a mistake in a used file is shown at the statement that uses it, and leads there
      const auto use =
          std::find_if(problem.notes.begin(), problem.notes.end(), [](const Note& note) { return !note.in; });
      span = use == problem.notes.end() ? Span{} : use->span;
      const auto at = problem.in->position(problem.span.begin);
      message = fmt::format("in {}:{}:{}: {}", problem.in->path(), at.line, at.column, message);
      relate(problem.in, problem.span, problem.message);
    }
    for (const auto& note : problem.notes) {
      if (!problem.in || note.in) relate(note.in, note.span, note.message);
    }
    Json made{{"range", to_json(document.lines().range(span, client.encoding))},
              {"message", message},
              {"source", "gexp"},
              {"severity", problem.severity == Severity::Error ? kMarkedError : kMarkedWarning},
              {"code", problem.code}};
    if (!options.codes_page.empty()) made["codeDescription"] = {{"href", options.codes_page}};
    if (!related.empty()) made["relatedInformation"] = std::move(related);
    list.push_back(std::move(made));
  }
  return {{"uri", document.uri()}, {"version", document.version()}, {"diagnostics", std::move(list)}};
}

}  // namespace gexp::lsp
