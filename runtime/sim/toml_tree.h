// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/base/diagnostic.h"

namespace gexp::sim {

/// A TOML value with its place. Our own form, so that only one file pays for the TOML library and no exception leaves it.
struct TomlValue {
  enum class Kind : std::uint8_t { Table, Array, String, Integer, Float, Boolean, Other };
  struct Entry;
  Kind kind = Kind::Table;
  Span span;
  std::string text;           ///< String
  std::int64_t integer = 0;   ///< Integer
  double number = 0;          ///< Integer, Float
  std::vector<TomlValue> items;
  std::vector<Entry> entries;  ///< Table, in the order of the text

  [[nodiscard]] const Entry* find(std::string_view key) const;
};

struct TomlValue::Entry {
  std::string key;
  Span key_span;
  TomlValue value;
};

/// "a table", "a whole number", … for messages.
const char* describe(TomlValue::Kind kind);

/// The text as a table; nothing, and E0601 at the place, when it is no TOML.
std::optional<TomlValue> parse_toml(const Source& source, Diagnostics& diagnostics);

}  // namespace gexp::sim
