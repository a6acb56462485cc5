// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace gexp::ptx {

/// A word keeps its dots ("ld.global.u32", "%tid.x", ".reg"); numbers keep their spelling; the rest is one character each.
struct Token {
  enum class Kind : std::uint8_t { Word, Number, String, Mark, End };
  Kind kind = Kind::End;
  std::string_view text;
  std::uint32_t line = 0;
  std::string_view note = {};  ///< of a comment "/*note*/" right before it
  [[nodiscard]] bool is(std::string_view t) const { return text == t && kind != Kind::String; }
  /// Wherever they stand, and whatever was noted.
  friend bool operator==(const Token& a, const Token& b) { return a.kind == b.kind && a.text == b.text; }
};

/// Tokens of a PTX text, comments dropped, an End at the end. They point into `text`. Never fails: what is no PTX becomes marks.
std::vector<Token> lex(std::string_view text);

}  // namespace gexp::ptx
