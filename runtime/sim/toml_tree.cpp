// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/toml_tree.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>

#include "lang/base/visible.h"

namespace gexp::sim {
namespace {

Span span_of(const toml::source_region& region, const Source& source) {
  const std::uint32_t begin = source.offset({region.begin.line, region.begin.column});
  const std::uint32_t end = source.offset({region.end.line, region.end.column});
  return {begin, std::max(end, begin + 1)};
}

/// A text names things, and is shown.
void check_text(std::string_view text, Span span, Diagnostics& diagnostics) {
  if (find_control(text) != text.size()) diagnostics.error("E0605", span, "a text holds a character that controls a terminal", "take it out");
}

/// Where the text has a byte beyond ASCII that is in no string and no comment; nullopt: nowhere. TOML allows none there, and what the
/// library of Debian 12 does with some of them is undefined.
std::optional<std::uint32_t> bare_beyond_ascii(std::string_view text) {
  const auto is_at = [&](std::size_t at, char quote, std::size_t count) { return text.substr(at, count) == std::string(count, quote); };
  constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
  for (std::size_t i = text.starts_with(kUtf8Mark) ? kUtf8Mark.size() : 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x80) return static_cast<std::uint32_t>(i);
    if (c == '#') i = std::min(text.find('\n', i), text.size());
    if (c != '"' && c != '\'') continue;
    const std::size_t quotes = is_at(i, c, 3) ? 3 : 1;
    for (i += quotes; i < text.size() && !is_at(i, c, quotes); ++i) {
      if (quotes == 1 && text[i] == '\n') break;  // it does not end; the parser says so
      if (c == '"' && text[i] == '\\') ++i;
    }
    if (quotes == 3) i += 2;
  }
  return std::nullopt;
}

TomlValue convert(const toml::node& node, const Source& source, Diagnostics& diagnostics) {
  TomlValue value;
  value.span = span_of(node.source(), source);
  if (const auto* table = node.as_table()) {
    value.kind = TomlValue::Kind::Table;
    for (const auto& [key, child] : *table) {
      const auto place = span_of(key.source(), source);
      check_text(key.str(), place, diagnostics);
      value.entries.push_back({std::string(key.str()), place, convert(child, source, diagnostics)});
    }
    std::stable_sort(value.entries.begin(), value.entries.end(),
                     [](const TomlValue::Entry& a, const TomlValue::Entry& b) { return a.key_span.begin < b.key_span.begin; });
  } else if (const auto* array = node.as_array()) {
    value.kind = TomlValue::Kind::Array;
    for (const toml::node& item : *array) value.items.push_back(convert(item, source, diagnostics));
  } else if (const auto* string = node.as_string()) {
    value.kind = TomlValue::Kind::String;
    value.text = string->get();
    check_text(value.text, value.span, diagnostics);
  } else if (const auto* integer = node.as_integer()) {
    value.kind = TomlValue::Kind::Integer;
    value.integer = integer->get();
    value.number = static_cast<double>(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    value.kind = TomlValue::Kind::Float;
    value.number = number->get();
  } else {
    value.kind = node.is_boolean() ? TomlValue::Kind::Boolean : TomlValue::Kind::Other;
  }
  return value;
}

}  // namespace

const TomlValue::Entry* TomlValue::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

const char* describe(TomlValue::Kind kind) {
  switch (kind) {
    case TomlValue::Kind::Table: return "a table";
    case TomlValue::Kind::Array: return "a list";
    case TomlValue::Kind::String: return "a text";
    case TomlValue::Kind::Integer: return "a whole number";
    case TomlValue::Kind::Float: return "a fraction";
    case TomlValue::Kind::Boolean: return "true or false";
    case TomlValue::Kind::Other: break;
  }
  return "a date or time";
}

std::optional<TomlValue> parse_toml(const Source& source, Diagnostics& diagnostics) {
  if (const auto bare = bare_beyond_ascii(source.text())) {
    diagnostics.error("E0601", {*bare, *bare + 1}, "a character beyond ASCII stands outside of texts and comments", "write a text in quotation marks");
    return std::nullopt;
  }
  const toml::parse_result result = toml::parse(std::string_view(source.text()));
  if (!result) {
    diagnostics.error("E0601", span_of(result.error().source(), source), std::string(result.error().description()));
    return std::nullopt;
  }
  return convert(result.table(), source, diagnostics);
}

}  // namespace gexp::sim
