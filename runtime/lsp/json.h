// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime/lsp/document.h"
#include "runtime/lsp/features.h"

/// Between the protocol's JSON and our terms. Included by the files that speak it alone: the header takes seconds to
/// compile.
namespace gexp::lsp {

using Json = nlohmann::json;

/// What the client can do, of what matters here.
struct Client {
  Encoding encoding = Encoding::Utf16;
  bool markdown = false;             ///< in hovers
  bool related_information = false;  ///< of diagnostics
  bool nested_symbols = false;       ///< in outlines
};
Client client_of(const Json& initialize);
Json capabilities(const Client& client);

/// A member by its path, such as {"textDocument", "uri"}; null where there is none.
const Json* member(const Json& json, std::initializer_list<const char*> path);
std::optional<std::string> text_of(const Json& json, std::initializer_list<const char*> path);
std::optional<std::int64_t> whole_of(const Json& json, std::initializer_list<const char*> path);
/// {"line": 3, "character": 4}; nothing for what is no place.
std::optional<Place> place_of(const Json* json);
std::optional<Range> range_of(const Json* json);

Json to_json(Place place);
Json to_json(const Range& range);
Json to_json(const Hover& hover, const Document& document, const Client& client);
Json to_json(const Completions& completions, const Document& document, const Client& client);
Json to_json(const std::vector<Outline>& outline, const Document& document, const Client& client);
Json to_json(const Location& location, const Document& document, const Client& client, const Options& options);
/// All that is said of a document.
Json diagnostics_json(Document& document, const Client& client, const Options& options);

}  // namespace gexp::lsp
