// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/model_table.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "lang/base/units.h"

namespace gexp::sim {
namespace {

/// "16 KiB" as 16 and the unit; nothing when it is no number with a known unit.
std::optional<std::pair<double, Unit>> quantity(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto unit = find_unit(text);
  if (!unit) return std::nullopt;
  return std::pair(value, *unit);
}

/// A number, or "1/6": TOML has no exact thirds.
std::optional<double> number_of(const TomlValue& value) {
  if (value.kind == TomlValue::Kind::Integer || value.kind == TomlValue::Kind::Float) return value.number;
  if (value.kind != TomlValue::Kind::String) return std::nullopt;
  double above = 0, below = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto first = std::from_chars(value.text.data(), end, above);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '/') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, below);
  if (second.ec != std::errc() || second.ptr != end || below == 0) return std::nullopt;
  return above / below;
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& words) {
  const auto near = nearest(word, words);
  return near ? fmt::format("did you mean '{}'?", *near) : std::string();
}

const TomlValue* ModelTable::get(std::string_view key) {
  known_.emplace(key);
  const auto* entry = table_.find(key);
  return entry ? &entry->value : nullptr;
}

Span ModelTable::place(std::string_view key) const {
  const auto* entry = table_.find(key);
  return entry ? entry->value.span : place_;
}

const TomlValue* ModelTable::optional(std::string_view key, TomlValue::Kind kind) {
  const TomlValue* value = get(key);
  if (!value || value->kind == kind) return value;
  // A whole number serves as a fraction.
  if (kind == TomlValue::Kind::Float && value->kind == TomlValue::Kind::Integer) return value;
  error("E0604", value->span, fmt::format("'{}' of {} is {}, not {}", key, name_, describe(value->kind), describe(kind)));
  return nullptr;
}

const TomlValue* ModelTable::required(std::string_view key, TomlValue::Kind kind) {
  if (!get(key)) {
    missing(key);
    return nullptr;
  }
  return optional(key, kind);
}

void ModelTable::missing(std::string_view key) {
  ++errors_;
  missing_.emplace_back(key);
}

bool ModelTable::inside(const TomlValue& value, std::string_view key, double number, double least, double most) {
  if (number >= least && number <= most) return true;
  error("E0605", value.span, fmt::format("'{}' of {} is {:.15g}; it must be between {:.15g} and {:.15g}", key, name_, number, least, most));
  return false;
}

std::uint64_t ModelTable::whole(std::string_view key, std::uint64_t least, std::uint64_t most) {
  const TomlValue* value = required(key, TomlValue::Kind::Integer);
  if (!value || !inside(*value, key, value->number, static_cast<double>(least), static_cast<double>(most))) return least;
  return static_cast<std::uint64_t>(value->integer);
}

std::uint64_t ModelTable::whole_or(std::string_view key, std::uint64_t fallback, std::uint64_t least, std::uint64_t most) {
  return has(key) ? whole(key, least, most) : fallback;
}

double ModelTable::number(std::string_view key, double least, double most) {
  const TomlValue* value = get(key);
  if (!value) return missing(key), least;
  const auto number = number_of(*value);
  if (!number) return error("E0604", value->span, fmt::format("'{}' of {} is {}, not a number", key, name_, describe(value->kind))), least;
  return inside(*value, key, *number, least, most) ? *number : least;
}

double ModelTable::number_or(std::string_view key, double fallback, double least, double most) {
  return has(key) ? number(key, least, most) : fallback;
}

std::uint64_t ModelTable::size(std::string_view key, std::uint64_t most) {
  const TomlValue* value = get(key);
  if (!value) return missing(key), 0;
  return size_of(*value, key, 1, most);
}

std::uint64_t ModelTable::size_or(std::string_view key, std::uint64_t fallback, std::uint64_t most) {
  return has(key) ? size(key, most) : fallback;
}

std::vector<std::uint64_t> ModelTable::sizes(std::string_view key, std::uint64_t most) {
  std::vector<std::uint64_t> list;
  const TomlValue* value = required(key, TomlValue::Kind::Array);
  if (!value) return list;
  for (const TomlValue& item : value->items) list.push_back(size_of(item, key, 0, most));
  if (list.empty()) error("E0605", value->span, fmt::format("'{}' of {} is empty", key, name_));
  return list;
}

std::uint64_t ModelTable::size_of(const TomlValue& value, std::string_view key, std::uint64_t least, std::uint64_t most) {
  const char* const form = "write bytes as 128 or \"16 KiB\"";
  double bytes = value.number;
  if (value.kind == TomlValue::Kind::String) {
    const auto q = quantity(value.text);
    if (!q || q->second.dimension != kBytes || q->second.scale <= 0) return error("E0604", value.span, fmt::format("'{}' of {} is no size", key, name_), form), 0;
    bytes = q->first * q->second.scale;
  } else if (value.kind != TomlValue::Kind::Integer) {
    return error("E0604", value.span, fmt::format("'{}' of {} is {}, not a size", key, name_, describe(value.kind)), form), 0;
  }
  if (!inside(value, key, bytes, static_cast<double>(least), static_cast<double>(most))) return 0;
  if (bytes != std::floor(bytes)) return error("E0605", value.span, fmt::format("'{}' of {} is no whole number of bytes", key, name_)), 0;
  return static_cast<std::uint64_t>(bytes);
}

double ModelTable::rate_or_none(std::string_view key, double clock_hz) {
  const TomlValue* value = get(key);
  if (!value) return 0;
  double rate = value->number;
  if (value->kind == TomlValue::Kind::String) {
    const auto q = quantity(value->text);
    if (!q || q->second.dimension != kBytes / kSeconds || q->second.scale <= 0)
      return error("E0604", value->span, fmt::format("'{}' of {} is no bandwidth", key, name_), "write bytes a cycle as 32, or \"109.38 GB/s\""), 0;
    rate = q->first * q->second.scale / clock_hz;
  } else if (value->kind != TomlValue::Kind::Integer && value->kind != TomlValue::Kind::Float) {
    return error("E0604", value->span, fmt::format("'{}' of {} is {}, not a bandwidth", key, name_, describe(value->kind)), "write bytes a cycle as 32, or \"109.38 GB/s\""), 0;
  }
  return inside(*value, key, rate, 1e-3, 1e6) ? rate : 0;
}

double ModelTable::frequency(std::string_view key) {
  const TomlValue* value = required(key, TomlValue::Kind::String);
  if (!value) return 1e9;
  const auto q = quantity(value->text);
  if (!q || q->second.dimension.seconds != -1 || q->second.dimension.bytes != 0)
    return error("E0604", value->span, fmt::format("'{}' of {} is no frequency", key, name_), "write \"1006 MHz\""), 1e9;
  const double hertz = q->first * q->second.scale;
  return inside(*value, key, hertz, 1e6, 1e11) ? hertz : 1e9;
}

std::string ModelTable::text(std::string_view key) {
  const TomlValue* value = required(key, TomlValue::Kind::String);
  if (!value) return {};
  if (value->text.empty()) error("E0605", value->span, fmt::format("'{}' of {} is empty", key, name_));
  return value->text;
}

std::string ModelTable::choice(std::string_view key, const std::vector<std::string_view>& words) {
  const TomlValue* value = required(key, TomlValue::Kind::String);
  if (!value) return std::string(words.front());
  for (const std::string_view word : words) {
    if (word == value->text) return value->text;
  }
  std::string hint = did_you_mean(value->text, words);
  if (hint.empty()) hint = fmt::format("one of: {}", fmt::join(words, ", "));
  error("E0602", value->span, fmt::format("'{}' of {} cannot be '{}'", key, name_, value->text), std::move(hint));
  return std::string(words.front());
}

std::vector<std::uint64_t> ModelTable::wholes(std::string_view key, std::uint64_t least, std::uint64_t most) {
  std::vector<std::uint64_t> list;
  const TomlValue* value = required(key, TomlValue::Kind::Array);
  if (!value) return list;
  for (const TomlValue& item : value->items) {
    if (item.kind != TomlValue::Kind::Integer) error("E0604", item.span, fmt::format("'{}' of {} lists {}, not a whole number", key, name_, describe(item.kind)));
    else if (inside(item, key, item.number, static_cast<double>(least), static_cast<double>(most))) list.push_back(static_cast<std::uint64_t>(item.integer));
  }
  if (value->items.empty()) error("E0605", value->span, fmt::format("'{}' of {} is empty", key, name_));
  return list;
}

std::vector<double> ModelTable::numbers(std::string_view key, double least, double most) {
  std::vector<double> list;
  const TomlValue* value = required(key, TomlValue::Kind::Array);
  if (!value) return list;
  for (const TomlValue& item : value->items) {
    const auto number = number_of(item);
    if (!number) error("E0604", item.span, fmt::format("'{}' of {} lists {}, not a number", key, name_, describe(item.kind)));
    else if (inside(item, key, *number, least, most)) list.push_back(*number);
  }
  if (value->items.empty()) error("E0605", value->span, fmt::format("'{}' of {} is empty", key, name_));
  return list;
}

void ModelTable::finish() {
  for (const auto key : kSourceKeys) known_.emplace(key);
  const std::vector<std::string_view> words(known_.begin(), known_.end());
  std::vector<std::string_view> strangers;
  for (const auto& entry : table_.entries) {
    if (known_.contains(entry.key)) continue;
    strangers.push_back(entry.key);
    error("E0602", entry.key_span, fmt::format("{} has no key '{}'", name_, entry.key), did_you_mean(entry.key, words));
  }
  for (const std::string& key : missing_) {
    if (!nearest(key, strangers)) error("E0603", place_, fmt::format("{} has no '{}'", name_, key));
  }
}

}  // namespace gexp::sim
