// SPDX-License-Identifier: Apache-2.0
#include "lang/base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace gexp {
namespace {

constexpr std::size_t kTab = 4;

/// A source line as shown: tabs widened, control bytes as '?', and where each byte column lands.
struct ShownLine {
  std::string text;
  std::vector<std::size_t> column;  ///< of byte i; one more at the end
};

ShownLine show_line(std::string_view line) {
  ShownLine shown;
  std::size_t width = 0;
  for (const char c : line) {
    shown.column.push_back(width);
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\t') {
      shown.text.append(kTab, ' ');
      width += kTab;
    } else if (byte < 0x20 || byte == 0x7f) {
      shown.text += '?';
      ++width;
    } else {
      shown.text += c;
      if ((byte & 0xc0) != 0x80) ++width;  // a UTF-8 continuation byte takes no column of its own
    }
  }
  shown.column.push_back(width);
  return shown;
}

std::string excerpt(const Source& source, Span span, const char* colour, const char* reset) {
  const auto begin = source.position(span.begin);
  const auto end = source.position(span.end);
  const auto line = source.line(begin.line);
  const auto shown = show_line(line);
  const auto first = std::min<std::size_t>(begin.column - 1, line.size());
  const auto last = end.line == begin.line ? std::min<std::size_t>(end.column - 1, line.size()) : line.size();
  const auto from = shown.column[first];
  const auto width = std::max<std::size_t>(1, shown.column[std::max(first, last)] - from);
  const auto gutter = fmt::format("{:>5}", begin.line);
  return fmt::format("{} | {}\n{:>5} | {}{}{}{}{}\n", gutter, shown.text, "", std::string(from, ' '), colour, '^',
                     std::string(width - 1, '~'), reset);
}

std::string place(const Source* source, Span span) {
  if (!source) return "";
  if (span.empty() && span.begin == 0) return source->path() + ": ";
  const auto at = source->position(span.begin);
  return fmt::format("{}:{}:{}: ", source->path(), at.line, at.column);
}

bool has_place(Span span) { return !span.empty() || span.begin != 0; }

}  // namespace

Diagnostic& Diagnostics::error(std::string code, Span span, std::string message, std::string hint) {
  list_.push_back({std::move(code), span, std::move(message), {}, std::move(hint), Severity::Error});
  return list_.back();
}

Diagnostic& Diagnostics::warning(std::string code, Span span, std::string message, std::string hint) {
  list_.push_back({std::move(code), span, std::move(message), {}, std::move(hint), Severity::Warning});
  return list_.back();
}

void Diagnostics::add(Diagnostic diagnostic) { list_.push_back(std::move(diagnostic)); }

bool Diagnostics::has_errors() const {
  return std::any_of(list_.begin(), list_.end(), [](const Diagnostic& d) { return d.severity == Severity::Error; });
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  auto list = list_;
  const auto key = [](const Diagnostic& d) { return std::tie(d.span.begin, d.span.end, d.code, d.message); };
  std::stable_sort(list.begin(), list.end(), [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
  list.erase(std::unique(list.begin(), list.end(), [&](const Diagnostic& a, const Diagnostic& b) { return key(a) == key(b); }), list.end());
  return list;
}

std::string render(const Diagnostic& diagnostic, const Source* source, bool colour) {
  const bool error = diagnostic.severity == Severity::Error;
  const char* mark = !colour ? "" : error ? "\033[1;31m" : "\033[1;33m";
  const char* bold = colour ? "\033[1m" : "";
  const char* reset = colour ? "\033[0m" : "";
  std::string text = fmt::format("{}{}{}[{}]{}: {}{}{}\n", place(source, diagnostic.span), mark, error ? "error" : "warning",
                                 diagnostic.code, reset, bold, diagnostic.message, reset);
  if (source && has_place(diagnostic.span)) text += excerpt(*source, diagnostic.span, mark, reset);
  for (const auto& note : diagnostic.notes) {
    text += fmt::format("{}note: {}\n", place(source, note.span), note.message);
    if (source && has_place(note.span)) text += excerpt(*source, note.span, colour ? "\033[1;36m" : "", reset);
  }
  if (!diagnostic.hint.empty()) text += fmt::format("  hint: {}\n", diagnostic.hint);
  return text;
}

}  // namespace gexp
