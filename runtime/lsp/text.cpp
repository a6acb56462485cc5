// SPDX-License-Identifier: Apache-2.0
#include "runtime/lsp/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace gexp::lsp {
namespace {

constexpr std::uint32_t kBlock = 1024;  // bytes

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Units of the character that begins with this byte; none for a byte that goes on with one.
std::uint32_t units_of(char c, Encoding encoding) {
  if (encoding == Encoding::Utf8) return 1;
  if (continues(c)) return 0;
  return encoding == Encoding::Utf16 && static_cast<unsigned char>(c) >= 0xf0 ? 2 : 1;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

Lines::Lines(std::string_view text) : text_(text), starts_{0} {
  Units units;
  for (std::uint32_t i = 0; i < text.size(); ++i) {
    if (i % kBlock == 0) blocks_.push_back(units);
    units.utf16 += units_of(text[i], Encoding::Utf16);
    units.utf32 += units_of(text[i], Encoding::Utf32);
    const bool ends = text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
    if (ends) starts_.push_back(i + 1);
  }
  blocks_.push_back(units);
}

std::uint32_t Lines::units(std::uint32_t offset, Encoding encoding) const {
  if (encoding == Encoding::Utf8) return offset;
  const auto block = offset / kBlock;
  auto count = encoding == Encoding::Utf16 ? blocks_[block].utf16 : blocks_[block].utf32;
  for (auto i = block * kBlock; i < offset; ++i) count += units_of(text_[i], encoding);
  return count;
}

std::uint32_t Lines::end_of(std::size_t line) const {
  auto end = line + 1 < starts_.size() ? starts_[line + 1] : static_cast<std::uint32_t>(text_.size());
  while (end > starts_[line] && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return end;
}

std::uint32_t Lines::offset(Place place, Encoding encoding) const {
  if (place.line >= starts_.size()) return static_cast<std::uint32_t>(text_.size());
  const auto start = starts_[place.line], end = end_of(place.line);
  const auto before = units(start, encoding);
  // The last offset that has no more units before it; then back to where its character begins.
  std::uint32_t low = start, high = end;
  while (low < high) {
    const auto middle = low + (high - low + 1) / 2;
    if (units(middle, encoding) - before <= place.character)
      low = middle;
    else
      high = middle - 1;
  }
  while (low > start && low < end && continues(text_[low])) --low;
  return low;
}

Place Lines::place(std::uint32_t offset, Encoding encoding) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto line = static_cast<std::size_t>(next - starts_.begin()) - 1;
  offset = std::min(offset, end_of(line));
  return {static_cast<std::uint32_t>(line), units(offset, encoding) - units(starts_[line], encoding)};
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
