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
  const TomlValue* value = required(key, TomlValue::Kind::Float);
  if (!value || !inside(*value, key, value->number, least, most)) return least;
  return value->number;
}

std::uint64_t ModelTable::size(std::string_view key, std::uint64_t most) {
  const TomlValue* value = get(key);
  if (!value) return missing(key), 0;
  double bytes = value->number;
  if (value->kind == TomlValue::Kind::String) {
    const auto q = quantity(value->text);
    if (!q || q->second.dimension != kBytes || q->second.scale <= 0)
      return error("E0604", value->span, fmt::format("'{}' of {} is no size", key, name_), "write bytes as 128 or \"16 KiB\""), 0;
    bytes = q->first * q->second.scale;
  } else if (value->kind != TomlValue::Kind::Integer) {
    return error("E0604", value->span, fmt::format("'{}' of {} is {}, not a size", key, name_, describe(value->kind)), "write bytes as 128 or \"16 KiB\""), 0;
  }
  if (!inside(*value, key, bytes, 1, static_cast<double>(most))) return 0;
  if (bytes != std::floor(bytes)) return error("E0605", value->span, fmt::format("'{}' of {} is no whole number of bytes", key, name_)), 0;
  return static_cast<std::uint64_t>(bytes);
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
    double number = item.number;
    bool good = item.kind == TomlValue::Kind::Integer || item.kind == TomlValue::Kind::Float;
    if (item.kind == TomlValue::Kind::String) {  // "1/6": TOML has no exact thirds
      double above = 0, below = 0;
      const char* const end = item.text.data() + item.text.size();
      const auto first = std::from_chars(item.text.data(), end, above);
      good = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
      if (good) {
        const auto second = std::from_chars(first.ptr + 1, end, below);
        good = second.ec == std::errc() && second.ptr == end && below != 0;
        number = above / below;
      }
    }
    if (!good) error("E0604", item.span, fmt::format("'{}' of {} lists {}, not a number", key, name_, describe(item.kind)));
    else if (inside(item, key, number, least, most)) list.push_back(number);
  }
  if (value->items.empty()) error("E0605", value->span, fmt::format("'{}' of {} is empty", key, name_));
  return list;
}

void ModelTable::finish() {
  known_.insert("source");
  known_.insert("assumed");
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

namespace {

void check_table(const TomlValue& table, bool covered, const TomlValue* reasons, Diagnostics& diagnostics) {
  const auto* source = table.find("source");
  const auto* assumed = table.find("assumed");
  const auto filled = [&](const TomlValue::Entry* entry) {
    if (!entry || entry->value.kind != TomlValue::Kind::String) return false;
    if (entry->value.text.empty()) diagnostics.error("E0607", entry->value.span, fmt::format("'{}' says nothing", entry->key));
    return true;
  };
  if (source && source->value.kind != TomlValue::Kind::String)
    diagnostics.error("E0604", source->value.span, fmt::format("'source' is {}, not a text", describe(source->value.kind)));
  const bool all_assumed = filled(assumed);
  if (filled(source)) covered = true;
  if (source && all_assumed)
    diagnostics.error("E0607", assumed->value.span, "a table is either from a source or assumed", "assumed.KEY = \"why\" exempts single keys from the source");
  if (all_assumed) covered = true;
  if (assumed && !all_assumed && assumed->value.kind != TomlValue::Kind::Table)
    diagnostics.error("E0604", assumed->value.span, fmt::format("'assumed' is {}, not a text", describe(assumed->value.kind)));
  const TomlValue* own = assumed && assumed->value.kind == TomlValue::Kind::Table ? &assumed->value : nullptr;

  for (const TomlValue* list : {own, reasons}) {
    if (!list || list->kind != TomlValue::Kind::Table) continue;
    std::vector<std::string_view> words;
    for (const auto& entry : table.entries) words.push_back(entry.key);
    for (const auto& reason : list->entries) {
      if (!table.find(reason.key))
        diagnostics.error("E0602", reason.key_span, fmt::format("'assumed' names '{}', which the table does not have", reason.key), did_you_mean(reason.key, words));
      if (reason.value.kind == TomlValue::Kind::String && reason.value.text.empty())
        diagnostics.error("E0607", reason.value.span, fmt::format("'assumed.{}' gives no reason", reason.key));
    }
  }
  for (const auto& entry : table.entries) {
    if (entry.key == "source" || entry.key == "assumed") continue;
    const TomlValue* reason = nullptr;
    for (const TomlValue* list : {reasons, own}) {
      if (!list || list->kind != TomlValue::Kind::Table) continue;
      if (const auto* found = list->find(entry.key)) reason = &found->value;
    }
    const bool excused = reason && reason->kind == TomlValue::Kind::String;
    if (entry.value.kind == TomlValue::Kind::Table) check_table(entry.value, covered || excused, reason, diagnostics);
    else if (!covered && !excused)
      diagnostics.error("E0607", entry.key_span, fmt::format("nothing says where '{}' is from", entry.key),
                        fmt::format("give the table a source = \"paper, table\", or say assumed.{} = \"why\"", entry.key));
  }
}

}  // namespace

void check_sources(const TomlValue& root, Diagnostics& diagnostics) {
  // The root's own values name the model; only its tables state facts.
  for (const auto& entry : root.entries) {
    if (entry.value.kind == TomlValue::Kind::Table) check_table(entry.value, false, nullptr, diagnostics);
  }
}

}  // namespace gexp::sim
