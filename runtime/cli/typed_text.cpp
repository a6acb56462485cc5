// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/typed_text.h"

#include <algorithm>

#include "lang/words.h"

namespace gexp::cli {

Words::Words(std::string_view text, std::uint32_t from) {
  std::vector<Span> open;
  for (std::uint32_t i = from; i < text.size();) {
    const char c = text[i];
    if (c == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (c == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n';) ++i;
      ++i;
    } else if (lang::is_word(c)) {
      const auto begin = i;
      while (i < text.size() && lang::is_word(text[i])) ++i;
      if (!lang::is_word_start(c)) continue;
      all.push_back({begin, i});
      if (open.empty()) outside.push_back({begin, i});
    } else {
      if (c == '(' || c == '[' || c == '{') open.push_back({i, i + 1});
      if ((c == ')' || c == ']' || c == '}') && !open.empty()) open.pop_back();
      ++i;
    }
  }
  if (!open.empty()) unclosed = open.back();
}

Made& Made::operator<<(std::string_view literal) {
  text_ += literal;
  return *this;
}

void Made::typed(std::string_view whole, Span span) {
  origins_.emplace_back(static_cast<std::uint32_t>(text_.size()), span);
  text_ += whole.substr(span.begin, span.end - span.begin);
}

void Made::stands_for(std::size_t begin, Span span) {
  made_.push_back({{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(text_.size())}, span});
}

std::optional<Span> Made::origin(Span span) const {
  for (const auto& [at, from] : origins_) {
    const auto length = from.end - from.begin;
    if (span.begin < at || span.begin > at + length || (span.begin == at + length && span.end > span.begin)) continue;
    return Span{from.begin + (span.begin - at), std::min(from.begin + (std::max(span.end, span.begin) - at), from.end)};
  }
  for (const auto& [made, from] : made_) {
    if (span.begin >= made.begin && span.end <= made.end) return from;
  }
  return std::nullopt;
}

}  // namespace gexp::cli
