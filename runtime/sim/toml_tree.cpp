// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/toml_tree.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>

namespace gexp::sim {
namespace {

Span span_of(const toml::source_region& region, const Source& source) {
  const std::uint32_t begin = source.offset({region.begin.line, region.begin.column});
  const std::uint32_t end = source.offset({region.end.line, region.end.column});
  return {begin, std::max(end, begin + 1)};
}

TomlValue convert(const toml::node& node, const Source& source) {
  TomlValue value;
  value.span = span_of(node.source(), source);
  if (const auto* table = node.as_table()) {
    value.kind = TomlValue::Kind::Table;
    for (const auto& [key, child] : *table) {
      value.entries.push_back({std::string(key.str()), span_of(key.source(), source), convert(child, source)});
    }
    std::stable_sort(value.entries.begin(), value.entries.end(),
                     [](const TomlValue::Entry& a, const TomlValue::Entry& b) { return a.key_span.begin < b.key_span.begin; });
  } else if (const auto* array = node.as_array()) {
    value.kind = TomlValue::Kind::Array;
    for (const toml::node& item : *array) value.items.push_back(convert(item, source));
  } else if (const auto* string = node.as_string()) {
    value.kind = TomlValue::Kind::String;
    value.text = string->get();
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
  const toml::parse_result result = toml::parse(std::string_view(source.text()));
  if (!result) {
    diagnostics.error("E0601", span_of(result.error().source(), source), std::string(result.error().description()));
    return std::nullopt;
  }
  return convert(result.table(), source);
}

}  // namespace gexp::sim
