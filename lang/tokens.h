// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lang/base/diagnostic.h"

/// A text as its tokens, comments included: all of it but the space between.
namespace gexp::lang {

struct Token {
  enum class Role : std::uint8_t {
    Plain,
    Comment,    ///< from `#` to its line's last visible character
    Statement,  ///< the first word of a statement or operation
    Callee,     ///< of a call; its `(` follows
    Element,    ///< of a memory; its `[` follows
    Operator,   ///< a sign between two operands
  };
  Role role = Role::Plain;
  std::string_view text;          ///< into the source: a number with its unit, a quoted text, a word, a mark
  std::uint32_t lines_above = 0;  ///< line ends between the token before and this one

  [[nodiscard]] bool comment() const { return role == Role::Comment; }
  [[nodiscard]] bool is(std::string_view what) const { return text == what; }
};

/// A stretch of any text, parsed or not: what stands there by its first letter alone.
struct Piece {
  enum class Kind : std::uint8_t { Word, Number, Text, Comment, Mark };  ///< a number has its unit, a text its quotes
  Kind kind = Kind::Mark;
  Span span;
};
/// Any text as its pieces, in order. A text in quotes that is not closed ends with its line.
std::vector<Piece> read_pieces(std::string_view text);

/// Nothing where the text does not parse; the diagnostics then say why. The tokens live as long as the source.
std::optional<std::vector<Token>> read_tokens(const Source& source, Diagnostics& diagnostics);

}  // namespace gexp::lang
