// SPDX-License-Identifier: Apache-2.0
#include "lang/base/visible.h"

#include <fmt/format.h>

namespace gexp {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// The character at `at`, as RFC 3629 has it: no overlong form, no surrogate.
Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const auto first = byte(0);
  Character c{first, 1, first < 0x80};
  if (c.valid) return c;
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + bytes > text.size()) return c;
  std::uint32_t code = first & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return c;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return c;
  return {code, bytes, true};
}

bool is_control(std::uint32_t code) {
  if (code < 0x20) return code != '\t' && code != '\n';
  return (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::size_t find_control(std::string_view text, std::size_t from) {
  const auto plain = [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t'; };
  for (auto at = from; at < text.size();) {
    if (plain(text[at])) {
      ++at;
      continue;
    }
    const auto c = character_at(text, at);
    if (!c.valid || is_control(c.code)) return at;
    at += c.bytes;
  }
  return text.size();
}

Control control_at(std::string_view text, std::size_t at) {
  const auto c = character_at(text, at);
  return {c.bytes, fmt::format("\\u{:04x}", c.code)};
}

std::string visible(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const auto plain = find_control(text, at);
    shown.append(text, at, plain - at);
    if (plain == text.size()) break;
    const auto control = control_at(text, plain);
    shown += control.shown;
    at = plain + control.bytes;
  }
  return shown;
}

}  // namespace gexp
