// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/model_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gexp::sim {
namespace {

/// A `[table]` of the text: its lines without the header, up to the next header.
struct TableText {
  ModelText::Path path;
  std::size_t begin = 0, end = 0;  ///< end: behind its last line that says something
};

std::vector<TableText> sections(const std::string& text) {
  std::vector<TableText> all;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const auto line = std::string_view(text).substr(at, end - at);
    if (line.starts_with('[')) {
      TableText section{{}, end, end};
      auto name = line.substr(1, line.find(']') - 1);
      for (std::size_t dot = 0; dot != std::string_view::npos; name.remove_prefix(dot == std::string_view::npos ? 0 : dot + 1)) {
        dot = name.find('.');
        section.path.emplace_back(name.substr(0, dot));
      }
      all.push_back(std::move(section));
    } else if (!all.empty() && !line.starts_with('#') && line.find_first_not_of(" \t\r\n") != std::string_view::npos) {
      all.back().end = end;
    }
    at = end;
  }
  return all;
}

/// The deepest table with a header of its own that a value lies in.
std::optional<TableText> section_of(const std::string& text, const ModelText::Path& path) {
  std::optional<TableText> deepest;
  for (const auto& section : sections(text)) {
    const bool around = section.path.size() < path.size() && std::equal(section.path.begin(), section.path.end(), path.begin());
    if (around && (!deepest || deepest->path.size() < section.path.size())) deepest = section;
  }
  return deepest;
}

std::string key_in(const TableText& section, const ModelText::Path& path) {
  return fmt::format("{}", fmt::join(path.begin() + static_cast<std::ptrdiff_t>(section.path.size()), path.end(), "."));
}

/// Takes the line out of a section that begins with a key.
void drop_line(std::string& text, const TableText& section, const std::string& key) {
  for (std::size_t at = section.begin; at < section.end;) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (text.compare(at, key.size() + 2, key + " =") == 0) {
      text.erase(at, end - at);
      return;
    }
    at = end;
  }
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string written = "\"";
  for (const char c : text) written += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return written + "\"";
}

std::string number_text(double value) { return fmt::format("{:.7g}", value); }

std::string size_text(double bytes) {
  const auto whole = static_cast<std::uint64_t>(bytes);
  return whole >= 2048 && whole % 1024 == 0 ? fmt::format("\"{} KiB\"", whole / 1024) : fmt::format("{}", whole);
}

std::string list_text(const Value& value) {
  const auto* list = value.get<List>();
  const auto* number = value.get<Number>();
  if (!list) return number_text(number ? number->number : 0);
  std::vector<std::string> items;
  for (const auto& item : *list) items.push_back(list_text(item));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::optional<Span> ModelText::span_of(const Path& path) const {
  Diagnostics diagnostics;
  const auto root = parse_toml(source(), diagnostics);
  const TomlValue* value = root ? &*root : nullptr;
  for (const auto& key : path) {
    const auto* entry = value ? value->find(key) : nullptr;
    value = entry ? &entry->value : nullptr;
  }
  return value ? std::optional(value->span) : std::nullopt;
}

std::optional<std::string> ModelText::value(const Path& path) const {
  const auto span = span_of(path);
  return span ? std::optional(text_.substr(span->begin, span->end - span->begin)) : std::nullopt;
}

bool ModelText::set(const Path& path, const std::string& value, const std::string& word, const std::string& from) {
  auto section = section_of(text_, path);
  if (!section) return false;
  const auto key = key_in(*section, path);
  for (const char* before : {"assumed.", "found."}) {
    drop_line(text_, *section, before + key);
    section = section_of(text_, path);
  }
  if (span_of(path))
    replace(path, value);
  else
    text_.insert(section->begin, fmt::format("{} = {}\n", key, value));
  text_.insert(section_of(text_, path)->end, fmt::format("{}.{} = {}\n", word, key, quoted(from)));
  return true;
}

void ModelText::replace(const Path& path, const std::string& value) {
  if (const auto span = span_of(path)) text_.replace(span->begin, span->end - span->begin, value);
}

void ModelText::remove(const Path& path) {
  for (const char* word : {"", "assumed.", "found."}) {
    if (const auto section = section_of(text_, path)) drop_line(text_, *section, word + key_in(*section, path));
  }
}

void ModelText::head(const std::vector<std::string>& lines) {
  std::size_t at = 0;
  while (at < text_.size() && text_[at] == '#') at = std::min(text_.find('\n', at), text_.size() - 1) + 1;
  std::string comment;
  for (const auto& line : lines) comment += fmt::format("# {}\n", line);
  text_.replace(0, at, comment);
}

}  // namespace gexp::sim
