// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "lang/base/source.h"

namespace gexp::test {

/// The places of a text's tokens: words, quantities with their units, texts, operators, braces. Space and comments are none.
inline std::vector<Span> token_places(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : '\0'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::vector<Span> places;
  for (std::size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    if (text[i] == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
      continue;
    }
    std::size_t end = i + 1;
    if (text[i] == '"') {
      while (end < text.size() && at(end) != '"' && at(end) != '\n') ++end;
      if (at(end) == '"') ++end;
    } else if (digit(text[i])) {
      while (digit(at(end)) || (at(end) == '.' && digit(at(end + 1)))) ++end;
      while (word(at(end)) || at(end) == '%') ++end;
      if (at(end) == '/' && std::isalpha(static_cast<unsigned char>(at(end + 1)))) {  // ops/cycle, GB/s
        ++end;
        while (word(at(end))) ++end;
      }
    } else if (word(text[i])) {
      while (word(at(end))) ++end;
    } else {
      static constexpr std::string_view kPairs[] = {"..", "==", "!=", "<=", ">=", "??"};
      for (const auto pair : kPairs) {
        if (text.substr(i, 2) == pair) end = i + 2;
      }
    }
    places.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(end)});
    i = end;
  }
  return places;
}

}  // namespace gexp::test
