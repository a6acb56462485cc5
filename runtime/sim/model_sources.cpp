// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "runtime/sim/model_table.h"

namespace gexp::sim {
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
