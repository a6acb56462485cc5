// SPDX-License-Identifier: Apache-2.0
#include "runtime/lsp/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace gexp::lsp {
namespace {

/// Bytes of the character that begins with this byte; a byte that begins none counts as one.
std::uint32_t bytes_of(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

std::uint32_t units_of(std::uint32_t bytes, Encoding encoding) {
  switch (encoding) {
    case Encoding::Utf8:
      return bytes;
    case Encoding::Utf16:
      return bytes == 4 ? 2 : 1;
    case Encoding::Utf32:
      return 1;
  }
  return 1;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

Lines::Lines(std::string_view text) : text_(text), starts_{0} {
  for (std::uint32_t i = 0; i < text.size(); ++i) {
    const bool ends = text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
    if (ends) starts_.push_back(i + 1);
  }
}

std::uint32_t Lines::end_of(std::size_t line) const {
  auto end = line + 1 < starts_.size() ? starts_[line + 1] : static_cast<std::uint32_t>(text_.size());
  while (end > starts_[line] && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return end;
}

std::uint32_t Lines::offset(Place place, Encoding encoding) const {
  if (place.line >= starts_.size()) return static_cast<std::uint32_t>(text_.size());
  const auto end = end_of(place.line);
  std::uint32_t at = starts_[place.line], units = 0;
  while (at < end && units < place.character) {
    const auto bytes = std::min(bytes_of(text_[at]), end - at);
    units += units_of(bytes, encoding);
    if (units > place.character) break;  // inside this character
    at += bytes;
  }
  return at;
}

Place Lines::place(std::uint32_t offset, Encoding encoding) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto line = static_cast<std::size_t>(next - starts_.begin()) - 1;
  offset = std::min(offset, end_of(line));
  Place place{static_cast<std::uint32_t>(line), 0};
  for (auto at = starts_[line]; at < offset;) {
    const auto bytes = std::min(bytes_of(text_[at]), offset - at);
    place.character += units_of(bytes, encoding);
    at += bytes;
  }
  return place;
}

std::string path_of(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme)) return "";
  uri.remove_prefix(kScheme.size());
  if (uri.starts_with("localhost/")) uri.remove_prefix(std::string_view("localhost").size());
  if (!uri.starts_with('/')) return "";
  std::string path;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    const int high = uri[i] == '%' && i + 2 < uri.size() ? hex_digit(uri[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(uri[i + 2]) : -1;
    if (low < 0) {
      path += uri[i];
      continue;
    }
    path += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return path.find('\0') == std::string::npos ? path : "";
}

std::string uri_of(std::string_view path) {
  std::string uri = "file://";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-_.~").find(c) != std::string_view::npos;
    if (plain)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace gexp::lsp
