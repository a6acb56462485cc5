// SPDX-License-Identifier: Apache-2.0
#include "lang/base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "lang/base/visible.h"

namespace gexp {

Diagnostic::Diagnostic() = default;
Diagnostic::Diagnostic(std::string its_code, Span where, std::string says, std::string hints, Severity how)
    : code(std::move(its_code)), span(where), message(std::move(says)), hint(std::move(hints)), severity(how) {}
Diagnostic::Diagnostic(const Diagnostic&) = default;
Diagnostic::Diagnostic(Diagnostic&&) noexcept = default;
Diagnostic& Diagnostic::operator=(const Diagnostic&) = default;
Diagnostic& Diagnostic::operator=(Diagnostic&&) noexcept = default;
Diagnostic::~Diagnostic() = default;
namespace {

constexpr std::size_t kTab = 4;
constexpr std::size_t kLongestLine = 400, kBefore = 100;  // bytes

/// A source line as shown: tabs widened, what a terminal would obey as escapes, and where each byte column lands.
struct ShownLine {
  std::string text;
  std::vector<std::size_t> column;  ///< of byte i; one more at the end
};

ShownLine show_line(std::string_view line) {
  ShownLine shown;
  std::size_t width = 0, control = find_control(line);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    shown.column.push_back(width);
    if (i == control) {
      const auto found = control_at(line, i);
      for (std::size_t k = 1; k < found.bytes; ++k) shown.column.push_back(width);
      shown.text += found.shown;
      width += found.shown.size();
      i += found.bytes - 1;
      control = find_control(line, i + 1);
    } else if (line[i] == '\t') {
      shown.text.append(kTab, ' ');
      width += kTab;
    } else {
      shown.text += line[i];
      if ((byte & 0xc0) != 0x80) ++width;  // a UTF-8 continuation byte takes no column of its own
    }
  }
  shown.column.push_back(width);
  return shown;
}

std::string excerpt_line(std::uint32_t number, const ShownLine& shown, std::size_t first, std::size_t last, const char* colour, const char* reset) {
  const auto at = [&](std::size_t byte) { return shown.column[std::min(byte, shown.column.size() - 1)]; };
  const auto width = std::max<std::size_t>(1, at(std::max(first, last)) - at(first));
  return fmt::format("{:>5} | {}\n{:>5} | {}{}^{}{}\n", number, shown.text, "", std::string(at(first), ' '), colour, std::string(width - 1, '~'), reset);
}

std::string excerpt(const Source& source, Span span, const char* colour, const char* reset) {
  const auto begin = source.position(span.begin);
  const auto end = source.position(span.end);
  const auto line = source.line(begin.line);
  const auto shown = show_line(line);
  const auto first = std::min<std::size_t>(begin.column - 1, line.size());
  const auto last = end.line == begin.line ? std::min<std::size_t>(end.column - 1, line.size()) : line.size();
  // Of a very long line only the part around the place is shown.
  if (shown.text.size() > kLongestLine) {
    const auto boundary = [&](std::size_t byte) {
      while (byte > 0 && byte < line.size() && (static_cast<unsigned char>(line[byte]) & 0xc0) == 0x80) --byte;
      return byte;
    };
    const auto cut = boundary(first > kBefore ? first - kBefore : 0);
    return excerpt_line(begin.line, show_line(line.substr(cut, boundary(std::min(cut + kLongestLine, line.size())) - cut)), first - cut, std::min(last - cut, kLongestLine), colour, reset);
  }
  return excerpt_line(begin.line, shown, first, last, colour, reset);
}

std::string place(const Source* source, Span span) {
  if (!source) return "";
  const auto path = visible(source->path());
  if (span.empty() && span.begin == 0) return path + ": ";
  const auto at = source->position(span.begin);
  return fmt::format("{}:{}:{}: ", path, at.line, at.column);
}

bool has_place(Span span) { return !span.empty() || span.begin != 0; }

}  // namespace

Diagnostic& Diagnostics::error(std::string code, Span span, std::string message, std::string hint) {
  return keep({std::move(code), span, std::move(message), std::move(hint), Severity::Error});
}

Diagnostic& Diagnostics::warning(std::string code, Span span, std::string message, std::string hint) {
  return keep({std::move(code), span, std::move(message), std::move(hint), Severity::Warning});
}

void Diagnostics::add(Diagnostic diagnostic) { keep(std::move(diagnostic)); }

Diagnostic& Diagnostics::keep(Diagnostic diagnostic) {
  auto& number = diagnostic.severity == Severity::Error ? errors_ : warnings_;
  if (++number > kMost) return counted_ = std::move(diagnostic);
  return list_.emplace_back(std::move(diagnostic));
}

bool Diagnostics::has_errors() const { return errors_ > 0; }

std::vector<Diagnostic> Diagnostics::sorted() const {
  auto list = list_;
  static const std::string kHere;
  const auto key = [](const Diagnostic& d) { return std::tie(d.in ? d.in->path() : kHere, d.span.begin, d.span.end, d.code, d.message); };
  std::stable_sort(list.begin(), list.end(), [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
  list.erase(std::unique(list.begin(), list.end(), [&](const Diagnostic& a, const Diagnostic& b) { return key(a) == key(b); }), list.end());
  if (full()) list.emplace_back("E0112", Span{}, fmt::format("after {} mistakes no more are looked for", kMost), "", Severity::Error);
  return list;
}

std::string render(const Diagnostic& diagnostic, const Source* whole, bool colour) {
  const auto* source = diagnostic.in ? diagnostic.in.get() : whole;
  const bool error = diagnostic.severity == Severity::Error;
  const char* mark = !colour ? "" : error ? "\033[1;31m" : "\033[1;33m";
  const char* bold = colour ? "\033[1m" : "";
  const char* reset = colour ? "\033[0m" : "";
  std::string text = fmt::format("{}{}{}[{}]{}: {}{}{}\n", place(source, diagnostic.span), mark, error ? "error" : "warning",
                                 diagnostic.code, reset, bold, visible(diagnostic.message), reset);
  if (source && has_place(diagnostic.span)) text += excerpt(*source, diagnostic.span, mark, reset);
  for (const auto& note : diagnostic.notes) {
    const auto* in = note.in ? note.in.get() : whole;
    text += fmt::format("{}note: {}\n", place(in, note.span), visible(note.message));
    if (in && has_place(note.span)) text += excerpt(*in, note.span, colour ? "\033[1;36m" : "", reset);
  }
  if (!diagnostic.hint.empty()) text += fmt::format("  hint: {}\n", visible(diagnostic.hint));
  return text;
}

}  // namespace gexp
