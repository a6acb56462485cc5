// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/toml_tree.h"

// The library asserts that a key begins where its own code then looks whether one does, and says so if none does. An assertion that ends the
// program, or that a compiler takes for granted (NDEBUG with Clang), has no place in front of a stranger's file.
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
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

/// The text with a sign in place of each character beyond ASCII that TOML allows where it allows those, in texts and comments, and nowhere
/// else. What the library of Debian 12 does with some letters elsewhere is undefined, so it reads them only where this text has shown that
/// there are none.
std::string in_ascii(std::string_view text) {
  constexpr char kSign = '%';
  constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
  std::string plain;
  if (text.starts_with(kUtf8Mark)) text.remove_prefix(kUtf8Mark.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) plain += c;
    else if (byte >= 0xc0) plain += kSign;  // the bytes that follow it are of the same character
  }
  return plain;
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
  const auto text = std::string_view(source.text());
  const std::string plain = in_ascii(text);
  toml::parse_result result = toml::parse(plain);
  if (result && plain != text) result = toml::parse(text);
  if (!result) {
    const auto place = span_of(result.error().source(), source);
    const bool beyond = place.begin < text.size() && static_cast<unsigned char>(text[place.begin]) >= 0x80;
    if (beyond) diagnostics.error("E0601", place, "a character beyond ASCII stands outside of texts and comments", "write a text in quotation marks");
    else diagnostics.error("E0601", place, std::string(result.error().description()));
    return std::nullopt;
  }
  return convert(result.table(), source, diagnostics);
}

}  // namespace gexp::sim
