// SPDX-License-Identifier: Apache-2.0
#include "lang/base/source.h"

#include <algorithm>

namespace gexp {

Span cover(Span a, Span b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

Source::Source(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  line_starts_.push_back(0);
  for (std::uint32_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
}

std::string_view Source::slice(Span span) const {
  const auto begin = std::min<std::size_t>(span.begin, text_.size());
  const auto end = std::clamp<std::size_t>(span.end, begin, text_.size());
  return std::string_view(text_).substr(begin, end - begin);
}

Position Source::position(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<std::uint32_t>(next - line_starts_.begin());
  return {line, offset - line_starts_[line - 1] + 1};
}

std::string_view Source::line(std::uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const auto begin = line_starts_[number - 1];
  auto end = number < line_starts_.size() ? line_starts_[number] - 1 : static_cast<std::uint32_t>(text_.size());
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

std::uint32_t Source::offset(Position position) const {
  if (position.line == 0) return 0;
  if (position.line > line_starts_.size()) return static_cast<std::uint32_t>(text_.size());
  const auto begin = line_starts_[position.line - 1];
  const auto length = static_cast<std::uint32_t>(line(position.line).size());
  return begin + std::min(position.column > 0 ? position.column - 1 : 0, length);
}

}  // namespace gexp
