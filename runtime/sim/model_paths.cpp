// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "runtime/sim/model_parts.h"

namespace gexp::sim {
namespace {


struct PathName {
  std::string_view word;
  LoadPath path;
};
constexpr PathName kPaths[] = {{"ca", LoadPath::Ca}, {"cg", LoadPath::Cg}, {"cv", LoadPath::Cv}, {"nc", LoadPath::Nc}, {"texture", LoadPath::Texture},
                               {"constant", LoadPath::Constant}, {"local", LoadPath::Local}, {"instruction", LoadPath::Instruction}, {"host", LoadPath::Host}, {"peer", LoadPath::Peer}};

PathModel& slot(DeviceModel& model, LoadPath path) { return model.paths[static_cast<std::size_t>(path)]; }

/// One row: the latency of data found in one place, by where the translation is found.
std::vector<double> read_row(ModelTable& rows, const std::string& place, double least, bool translated, const std::vector<std::string>& columns) {
  if (!translated) return std::vector<double>(columns.size(), rows.number(place, least, kMostCycles));
  std::vector<double> row(columns.size(), 1);
  const TomlValue* value = rows.required(place, TomlValue::Kind::Table);
  if (!value) return row;
  ModelTable t(*value, rows.table().find(place)->key_span, fmt::format("latency '{}' of {}", place, rows.name()), rows.diagnostics());
  for (std::size_t i = 0; i < columns.size(); ++i) row[i] = t.number(columns[i], least, kMostCycles);
  t.finish();
  return row;
}

void read_path(ModelTable& t, const DeviceModel& model, LoadPath which, PathModel& path) {
  path.present = true;
  path.caches = references(t, "caches", model.caches);
  for (std::size_t i = 1; i < path.caches.size(); ++i) {
    const CacheModel &nearer = model.caches[static_cast<std::size_t>(path.caches[i - 1])], &cache = model.caches[static_cast<std::size_t>(path.caches[i])];
    if (cache.victims && (nearer.scope != cache.scope || nearer.line != cache.line || nearer.sector != nearer.line || nearer.victims))
      t.error("E0606", t.place("caches"), fmt::format("'{}' holds what '{}' evicts: both must have lines of one size, whole, and one scope", cache.name, nearer.name));
    if (cache.victims && nearer.late) t.error("E0606", t.place("caches"), fmt::format("'{}' evicts late, when nobody takes a line over", nearer.name));
    if (cache.scope < nearer.scope) t.error("E0606", t.place("caches"), fmt::format("'{}' lies behind '{}', which more SMs share", cache.name, nearer.name));
  }
  if (!path.caches.empty() && model.caches[static_cast<std::size_t>(path.caches.front())].victims)
    t.error("E0606", t.place("caches"), "the first cache of a path has none before it whose victims it could hold");
  path.tlbs = references(t, "tlbs", model.tlbs);
  if (which == LoadPath::Instruction && !path.tlbs.empty()) t.error("E0606", t.place("tlbs"), "instructions are fetched without translation");
  if (which == LoadPath::Instruction && !path.caches.empty()) {
    const std::uint64_t sector = model.caches[static_cast<std::size_t>(path.caches.front())].sector;
    path.fetch = t.whole_or("fetch", sector, 1, sector);
    if (!std::has_single_bit(path.fetch)) t.error("E0606", t.place("fetch"), "a fetch takes a power of two of bytes");
  }
  if (t.has("virtual")) {
    const std::vector<int> untranslated = references(t, "virtual", model.caches);
    if (untranslated.size() > path.caches.size() || !std::equal(untranslated.begin(), untranslated.end(), path.caches.begin()))
      t.error("E0606", t.place("virtual"), fmt::format("only the first caches of {} can be looked up before translation", t.name()));
    path.translate_at = untranslated.size();
    if (path.translate_at < path.caches.size() && model.caches[static_cast<std::size_t>(path.caches[path.translate_at])].victims)
      t.error("E0606", t.place("virtual"), "a cache of victims is looked up with the addresses of the one before it");
  }
  path.has_window = model.window_bytes > 0 && !path.tlbs.empty();
  std::vector<std::string> columns;
  for (const int tlb : path.tlbs) columns.push_back(model.tlbs[static_cast<std::size_t>(tlb)].name);
  // Without TLBs a path still has its one latency a place.
  columns.push_back("walk");
  if (path.has_window) columns.push_back("switch");
  const bool translates = !path.tlbs.empty();

  const TomlValue* latency = t.required("latency", TomlValue::Kind::Table);
  if (!latency) return;
  ModelTable rows(*latency, t.table().find("latency")->key_span, t.name(), t.diagnostics());
  for (std::size_t i = 0; i < path.caches.size(); ++i) {
    // What the first instruction cache has costs nothing beyond the issue.
    const double least = which == LoadPath::Instruction && i == 0 ? 0 : 1;
    path.latency.push_back(read_row(rows, model.caches[static_cast<std::size_t>(path.caches[i])].name, least, translates && i >= path.translate_at, columns));
  }
  path.latency.push_back(read_row(rows, "memory", 1, translates, columns));
  rows.finish();
}

}  // namespace

std::optional<LoadPath> path_named(std::string_view word) {
  const auto at = std::find_if(std::begin(kPaths), std::end(kPaths), [&](const PathName& name) { return name.word == word; });
  return at == std::end(kPaths) ? std::nullopt : std::optional(at->path);
}

std::optional<LoadPath> load_path(std::string_view via) {
  if (via.empty()) return LoadPath::Default;
  for (const PathName& name : kPaths) {
    if (name.path <= LoadPath::Texture && name.word.starts_with(via)) return name.path;  // "tex"
  }
  return std::nullopt;
}

std::string missing_table(const DeviceModel& model, std::string_view space) {
  const auto has = [&](LoadPath path) { return model.paths[static_cast<std::size_t>(path)].present; };
  if (space == "host" && !has(LoadPath::Host)) return "[paths.host]";
  if (space == "peer" && !has(LoadPath::Peer)) return "[paths.peer]";
  return space == "managed" && model.managed.page == 0 ? "[managed]" : "";
}

void read_paths(ModelTable& table, const std::string& default_path, DeviceModel& model) {
  for (const PathName& name : kPaths) {
    const TomlValue* value = table.optional(name.word, TomlValue::Kind::Table);
    if (!value) continue;
    ModelTable t(*value, table.table().find(name.word)->key_span, fmt::format("path '{}'", name.word), table.diagnostics());
    if (t.has("same_as")) {
      std::vector<std::string_view> words;
      for (const PathName& path : kPaths) words.push_back(path.word);
      const std::string other = t.choice("same_as", words);
      const auto* target = table.table().find(other);
      if (other == "instruction") t.error("E0606", t.place("same_as"), fmt::format("{} loads data, which no instruction cache holds", t.name()));
      if (!target || target->value.find("same_as")) t.error("E0602", t.place("same_as"), fmt::format("{} is the same as '{}', which has no table of its own", t.name(), other));
    } else {
      read_path(t, model, name.path, slot(model, name.path));
    }
    t.finish();
  }
  for (const PathName& name : kPaths) {
    const auto* entry = table.table().find(name.word);
    const auto* alias = entry ? entry->value.find("same_as") : nullptr;
    if (!alias) continue;
    for (const PathName& other : kPaths) {
      if (other.word == alias->value.text) slot(model, name.path) = slot(model, other.path);
    }
  }
  for (const PathName& name : kPaths) {
    if (name.word == default_path) slot(model, LoadPath::Default) = slot(model, name.path);
  }
  if (!slot(model, LoadPath::Default).present) table.error("E0606", table.place(), fmt::format("the default path '{}' is not described", default_path));
}

}  // namespace gexp::sim
