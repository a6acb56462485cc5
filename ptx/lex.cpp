// SPDX-License-Identifier: Apache-2.0
#include "ptx/lex.h"

namespace gexp::ptx {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.'; }
bool word_part(char c) { return word_start(c) || digit(c); }

}  // namespace

std::vector<Token> lex(std::string_view text) {
  std::vector<Token> tokens;
  tokens.reserve(text.size() / 5);
  std::uint32_t line = 1;
  std::string_view note;
  std::size_t at = 0;
  const auto count_lines = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) line += text[i] == '\n';
  };
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n') { ++line; ++at; continue; }
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\0') { ++at; continue; }
    if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (text.substr(at, 2) == "/*") {
      const std::size_t close = text.find("*/", at + 2);
      const std::size_t end = close == std::string_view::npos ? text.size() : close + 2;
      note = close == std::string_view::npos ? std::string_view{} : text.substr(at + 2, close - at - 2);
      count_lines(at, end);
      at = end;
      continue;
    }
    std::size_t end = at + 1;
    Token::Kind kind = Token::Kind::Mark;
    if (c == '"') {
      kind = Token::Kind::String;
      while (end < text.size() && text[end] != '"') ++end;
      end = std::min(end + 1, text.size());
    } else if (digit(c)) {
      // "7.8" of .version, "0f3F800000", "0x1fU": everything that can hang on to a number.
      kind = Token::Kind::Number;
      while (end < text.size() && word_part(text[end]) && text[end] != '%' && text[end] != '$') ++end;
    } else if (word_start(c)) {
      kind = Token::Kind::Word;
      // Directives may stand close: ".reg.u64".
      while (end < text.size() && word_part(text[end]) && text[end] != '%' && !(c == '.' && text[end] == '.')) ++end;
      // "barrier.cta::sync" style names join with "::".
      while (text.substr(end, 2) == "::") {
        end += 2;
        while (end < text.size() && word_part(text[end])) ++end;
      }
    }
    tokens.push_back({kind, text.substr(at, end - at), line, note});
    note = {};
    count_lines(at, end);
    at = end;
  }
  tokens.push_back({Token::Kind::End, "end of text", line, {}});
  return tokens;
}

}  // namespace gexp::ptx
