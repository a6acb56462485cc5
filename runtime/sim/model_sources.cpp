// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "runtime/sim/model_table.h"

namespace gexp::sim {
namespace {

/// Tables that give reasons for values of a table by their keys: `assumed` and `found`, its own and what those around it say of it.
struct Reasons {
  std::string_view word;
  const TomlValue* by_key;
};

void check_reasons(const TomlValue& table, const Reasons& reasons, Diagnostics& diagnostics) {
  std::vector<std::string_view> words;
  for (const auto& entry : table.entries) words.push_back(entry.key);
  for (const auto& reason : reasons.by_key->entries) {
    if (!table.find(reason.key))
      diagnostics.error("E0602", reason.key_span, fmt::format("'{}' names '{}', which the table does not have", reasons.word, reason.key), did_you_mean(reason.key, words));
    if (reason.value.kind == TomlValue::Kind::String && reason.value.text.empty())
      diagnostics.error("E0607", reason.value.span, fmt::format("'{}.{}' gives no reason", reasons.word, reason.key));
  }
}

void check_table(const TomlValue& table, bool covered, std::vector<Reasons> reasons, Diagnostics& diagnostics) {
  const auto* source = table.find("source");
  const auto* assumed = table.find("assumed");
  const auto filled = [&](const TomlValue::Entry* entry) {
    if (!entry || entry->value.kind != TomlValue::Kind::String) return false;
    if (entry->value.text.empty()) diagnostics.error("E0607", entry->value.span, fmt::format("'{}' says nothing", entry->key));
    return true;
  };
  const auto wrong_kind = [&](const TomlValue::Entry& entry, const char* wanted) {
    diagnostics.error("E0604", entry.value.span, fmt::format("'{}' is {}, not {}", entry.key, describe(entry.value.kind), wanted));
  };
  if (source && source->value.kind != TomlValue::Kind::String) wrong_kind(*source, "a text");
  const bool all_assumed = filled(assumed);
  if (filled(source)) covered = true;
  if (source && all_assumed)
    diagnostics.error("E0607", assumed->value.span, "a table is either from a source or assumed", "assumed.KEY = \"why\" exempts single keys from the source");
  if (all_assumed) covered = true;
  if (assumed && !all_assumed && assumed->value.kind != TomlValue::Kind::Table) wrong_kind(*assumed, "a text");
  for (const char* word : {"assumed", "found"}) {
    const auto* own = table.find(word);
    if (own && own->value.kind == TomlValue::Kind::Table) reasons.push_back({word, &own->value});
    else if (own && own != assumed) wrong_kind(*own, "a list of keys, each with the finding that its value is");
  }
  for (const auto& each : reasons) check_reasons(table, each, diagnostics);
  for (const auto& entry : table.entries) {
    if (tells_source(entry.key)) continue;
    std::vector<Reasons> of_entry;
    bool excused = false;
    for (const auto& each : reasons) {
      const auto* found = each.by_key->find(entry.key);
      if (found && found->value.kind == TomlValue::Kind::String) excused = true;
      if (found && found->value.kind == TomlValue::Kind::Table) of_entry.push_back({each.word, &found->value});
    }
    if (entry.value.kind == TomlValue::Kind::Table) check_table(entry.value, covered || excused, std::move(of_entry), diagnostics);
    else if (!covered && !excused)
      diagnostics.error("E0607", entry.key_span, fmt::format("nothing says where '{}' is from", entry.key),
                        fmt::format("give the table a source = \"paper, table\", or say assumed.{} = \"why\"", entry.key));
  }
}

}  // namespace

bool tells_source(std::string_view key) { return std::find(std::begin(kSourceKeys), std::end(kSourceKeys), key) != std::end(kSourceKeys); }

void check_sources(const TomlValue& root, Diagnostics& diagnostics) {
  // The root's own values name the model; only its tables state facts.
  for (const auto& entry : root.entries) {
    if (entry.value.kind == TomlValue::Kind::Table) check_table(entry.value, false, {}, diagnostics);
  }
}

}  // namespace gexp::sim
