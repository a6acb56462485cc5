// SPDX-License-Identifier: Apache-2.0
#include "lang/tokens.h"

#include <algorithm>
#include <array>

#include "lang/base/result.h"
#include "lang/parse.h"
#include "lang/words.h"

// The grammar works on characters and has no tokens of its own. In a text that it has accepted they can be told without it, save
// for what the landmarks say.
namespace gexp::lang {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  /// The length of the token that begins there. A version is digits alone: the grammar lets `experiment` touch it.
  std::size_t length(std::size_t begin, bool version) {
    at_ = begin;
    const char first = text_[at_];
    if (first == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      while (is_space(text_[at_ - 1])) --at_;
    } else if (first == '"') {
      at_ = std::min(text_.find_first_of("\"\n", at_ + 1), text_.size());
      if (at_ < text_.size() && text_[at_] == '"') ++at_;
    } else if (is_word_start(first)) {
      skip_word();
    } else if (is_digit(first)) {
      skip_digits();
      if (!version) skip_rest_of_quantity();
    } else {
      static constexpr auto kPairs = std::to_array<std::string_view>({"..", "==", "!=", "<=", ">=", "??", "->"});
      at_ += std::find(kPairs.begin(), kPairs.end(), text_.substr(at_, 2)) != kPairs.end() ? 2 : 1;
    }
    return at_ - begin;
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_word() { while (is_word(peek())) ++at_; }
  void skip_digits() { while (is_digit(peek())) ++at_; }

  void skip_rest_of_quantity() {
    if (peek() == '.' && is_digit(peek(1))) ++at_, skip_digits();
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_digit(peek(1 + sign))) at_ += 1 + sign, skip_digits();
    }
    if (peek() == '%') {
      ++at_;
    } else if (is_word_start(peek())) {
      skip_word();
      if (peek() != '/') return;
      const auto slash = at_++;
      skip_word();
      const auto per = text_.substr(slash + 1, at_ - slash - 1);
      if (per != "s" && per != "cycle") at_ = slash;  // a division
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Token::Role role_of(Landmark::Kind kind) {
  switch (kind) {
    case Landmark::Kind::Statement: return Token::Role::Statement;
    case Landmark::Kind::Callee: return Token::Role::Callee;
    case Landmark::Kind::Element: return Token::Role::Element;
    case Landmark::Kind::Operator: return Token::Role::Operator;
  }
  return Token::Role::Plain;
}

}  // namespace

std::vector<Piece> read_pieces(std::string_view text) {
  std::vector<Piece> pieces;
  Lexer lexer(text);
  for (std::size_t i = text.starts_with("\xef\xbb\xbf") ? 3 : 0; i < text.size();) {
    if (is_space(text[i])) {
      ++i;
      continue;
    }
    const char first = text[i];
    const bool version = pieces.size() == 1 && is_digit(first);
    const auto end = i + lexer.length(i, version);
    const auto kind = first == '#' ? Piece::Kind::Comment : first == '"' ? Piece::Kind::Text : is_word_start(first) ? Piece::Kind::Word
                      : is_digit(first) ? Piece::Kind::Number : Piece::Kind::Mark;
    pieces.push_back({kind, {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(end)}});
    i = end;
  }
  return pieces;
}

std::optional<std::vector<Token>> read_tokens(const Source& source, Diagnostics& diagnostics) {
  std::vector<Landmark> landmarks;
  parse(source, diagnostics, &landmarks);
  if (diagnostics.has_errors()) return std::nullopt;

  const std::string_view text = source.text();
  std::vector<Token> tokens;
  Lexer lexer(text);
  auto landmark = landmarks.begin();
  std::uint32_t lines = 0;
  std::size_t words = 0;  // tokens that are no comments
  for (std::size_t i = text.starts_with("\xef\xbb\xbf") ? 3 : 0; i < text.size();) {
    if (is_space(text[i])) {
      lines += text[i++] == '\n';
      continue;
    }
    Token token{.text = text.substr(i, lexer.length(i, words == 1)), .lines_above = lines};
    if (token.text[0] == '#') token.role = Token::Role::Comment;
    else if (words == 0 || words == 2) token.role = Token::Role::Statement;  // `gexp 1` and `experiment NAME`
    if (landmark != landmarks.end() && landmark->at == i) token.role = role_of(landmark++->kind);
    if (!token.comment()) ++words;
    i += token.text.size();
    lines = 0;
    tokens.push_back(token);
  }
  GEXP_CHECK(landmark == landmarks.end());  // each begins a token
  return tokens;
}

}  // namespace gexp::lang
